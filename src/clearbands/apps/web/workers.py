"""Several processes that serve one app on one port, and share the memory of what was loaded.

The first process loads, forks and watches; it never answers requests itself, and runs no threads
that a fork could break. On SIGHUP it loads again and starts new processes; when these answer, the
old ones finish their requests and leave, and no request is lost.

Uvicorn's own `workers=` starts processes that share nothing. Four of them, with a model of 10,000
rows, took 1,456 MB of memory and 22.7 s of CPU until all answered; these take 662 MB and 7.8 s
(`python -m benchmarks.workers`). On SIGHUP a single process of uvicorn ends; here it loads again.
"""

from __future__ import annotations

import gc
import logging
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from clearbands.apps.web import server
from clearbands.apps.web.limits import Patience

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MakeApp: TypeAlias = Callable[[], "ASGIApp"]
Load: TypeAlias = Callable[[], MakeApp]

STOP = (signal.SIGTERM, signal.SIGINT)
READY = b"ready"
COUNTING_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the variable that prometheus_client reads
PAUSE = 1.0  # seconds before a process that died is replaced
READY_WITHIN = 120.0  # seconds; loading, which takes long, is done before processes start
log = logging.getLogger("clearbands.apps.web.workers")


def can_fork() -> bool:
    """Whether this system can have several processes share what was loaded."""
    return hasattr(os, "fork")


@dataclass(frozen=True)
class ServerSettings:
    """The number of processes, and the time and connections that they grant to clients."""

    workers: int = 1
    grace: float = 30.0  # seconds to finish requests under way at the end
    patience: Patience = field(default_factory=Patience)


class StartError(ValueError):
    """An error that says why a process ended before it could answer."""


def serve(
    make_app: MakeApp,
    load: Load,
    listener: socket.socket,
    settings: ServerSettings,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    `make_app` is called in each of the processes. `load`, called on SIGHUP, loads again what takes
    much memory, and returns a new `make_app` that uses it. `on_ready` is called once, when the
    first processes answer.
    """
    with tempfile.TemporaryDirectory() as folder, Signals() as signals:
        supervisor = Supervisor(listener, settings, Path(folder), signals)
        try:
            supervisor.start(make_app)
            on_ready()
            while (number := signals.wait()) not in STOP:
                if number == signal.SIGHUP:
                    supervisor.reload(load)
                supervisor.replace_the_dead()
        finally:
            supervisor.stop()


class Signals:
    """Signals that wait to be read one by one instead of interrupting or ending the process.

    They are caught, not blocked: libraries start threads that block nothing, and a signal that
    meets one of these would end the process.
    """

    def __init__(self) -> None:
        self.numbers = (*STOP, signal.SIGHUP, signal.SIGCHLD)
        self.is_told_to_stop = False

    def __enter__(self) -> Signals:
        self._pipe = os.pipe()  # Python writes the number of each signal into it
        os.set_blocking(self._pipe[1], False)
        self._fd_before = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, self._note_stop) for number in self.numbers}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._close_pipe(self._fd_before)

    def wait(self) -> int:
        """Wait for the next signal and return its number."""
        return os.read(self._pipe[0], 1)[0]

    def forget(self) -> None:
        """Let go of the signals in a process that was forked, which has handlers of its own."""
        self._close_pipe(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def _close_pipe(self, wakeup_fd: int) -> None:
        signal.set_wakeup_fd(wakeup_fd)
        for end in self._pipe:
            os.close(end)

    def _note_stop(self, number: int, _: object) -> None:
        self.is_told_to_stop |= number in STOP


class Supervisor:
    """The supervisor of the processes that answer and of those that are about to leave."""

    def __init__(
        self, listener: socket.socket, settings: ServerSettings, folder: Path, signals: Signals
    ) -> None:
        self.listener = listener
        self.settings = settings
        self.folder = folder  # where all processes write their counts
        self.signals = signals
        self.make_app: MakeApp | None = None
        self.current: set[int] = set()
        self.leaving: set[int] = set()

    def start(self, make_app: MakeApp) -> None:
        """Start processes, and let them take over when all of them answer."""
        started: list[tuple[int, int]] = []
        try:
            for _ in range(self.settings.workers):
                started.append(self._fork(make_app))
            for _, pipe in started:
                _wait_until_ready(pipe, self.signals)
        except BaseException:
            self.leaving |= {pid for pid, _ in started}
            _signal({pid for pid, _ in started}, signal.SIGTERM)
            raise
        finally:
            for _, pipe in started:
                os.close(pipe)
        _signal(self.current, signal.SIGUSR1)
        self.leaving |= self.current
        self.current = {pid for pid, _ in started}
        self.make_app = make_app

    def reload(self, load: Load) -> None:
        """Load again; whatever goes wrong, the present processes go on."""
        try:
            self.start(load())
        except Exception as error:  # noqa: BLE001
            log.error("reload failed", extra={"fields": {"error": str(error)}})
        else:
            log.info("reloaded")

    def replace_the_dead(self) -> None:
        """Start a process for each that died without being told to leave."""
        dead = self._reap()
        for pid in dead & self.current:
            log.error("worker died", extra={"fields": {"pid": pid}})
            time.sleep(PAUSE)  # a process that dies at once must not take the machine with it
            self.current.discard(pid)
            if self.make_app is not None:
                new, pipe = self._fork(self.make_app)
                os.close(pipe)
                self.current.add(new)
        self.leaving -= dead

    def stop(self) -> None:
        """End all processes, after at most `grace` seconds for the requests under way."""
        left = self.current | self.leaving
        _signal(left, signal.SIGTERM)
        until = time.monotonic() + self.settings.grace + 5
        while left and time.monotonic() < until:
            time.sleep(0.02)
            left -= self._reap()
        _signal(left, signal.SIGKILL)

    def _fork(self, make_app: MakeApp) -> tuple[int, int]:
        """Start a process that serves, and return its id and a pipe that tells when it answers."""
        to_read, to_write = os.pipe()
        gc.freeze()  # else the collector would touch, and so copy, shared memory
        with warnings.catch_warnings(), _blocked(self.signals.numbers):
            # BLAS keeps threads and knows how to fork; nothing else has run any so far.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
            if pid == 0:
                os.close(to_read)
                self.signals.forget()
                _serve_and_exit(make_app, self.listener, self.settings, self.folder, to_write)
        os.close(to_write)
        return pid, to_read

    def _reap(self) -> set[int]:
        """Return the processes that have ended."""
        dead = set()
        for pid in self.current | self.leaving:
            try:
                ended, _ = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                ended = pid
            if ended:
                dead.add(pid)
                for gauges in self.folder.glob(f"gauge_live*_{pid}.db"):
                    gauges.unlink()
        return dead


def _serve_and_exit(
    make_app: MakeApp,
    listener: socket.socket,
    settings: ServerSettings,
    folder: Path,
    pipe: int,
) -> NoReturn:
    """Run a forked process to its end."""
    code = 1
    try:
        server.exit_on_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # comes when a terminal is closed
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.environ.setdefault(COUNTING_FOLDER, str(folder))
        _serve(make_app(), listener, settings, pipe)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException as error:  # noqa: BLE001
        os.write(pipe, _in_words(error).encode()[:4000])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # skips what the first process has registered for its end


def _in_words(error: BaseException) -> str:
    """Return the message of an error, with its type if it was not meant for people."""
    is_meant = isinstance(error, ValueError | TypeError | OSError | ImportError) and str(error)
    return str(error) if is_meant else f"The service cannot start: {error!r}."


def _serve(app: ASGIApp, listener: socket.socket, settings: ServerSettings, pipe: int) -> None:
    import uvicorn

    from clearbands.apps.web.connections import limited_protocol

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            os.write(pipe, READY)

    protocol = limited_protocol(settings.patience)
    running = Server(server.configure(app, settings.grace, protocol))

    def leave(*_: object) -> None:
        protocol.is_leaving = True
        running.should_exit = True

    def leave_with(first: int) -> None:
        """End when the first process is gone, as nobody else can tell this one to end."""
        while os.getppid() == first:
            time.sleep(PAUSE)
        leave()

    signal.signal(signal.SIGUSR1, leave)
    threading.Thread(target=leave_with, args=[os.getppid()], daemon=True).start()
    running.run(sockets=[listener])


def _wait_until_ready(pipe: int, signals: Signals) -> None:
    """Return when a process answers; raise if it cannot, or if all processes are to stop."""
    until = time.monotonic() + READY_WITHIN
    while not select.select([pipe], [], [], 0.2)[0]:
        if signals.is_told_to_stop:
            raise StartError("The service was told to stop before it was ready.")
        if time.monotonic() > until:
            raise StartError(
                f"A process of the service did not answer within {READY_WITHIN:.0f} s of its "
                "start. The machine may be overloaded; try again, or with fewer --workers."
            )
    message = os.read(pipe, 4096)
    if message != READY:
        raise StartError(message.decode(errors="replace") or "A process ended before it was ready.")


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:  # it has ended by itself
            continue


@contextmanager
def _blocked(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Keep signals waiting until the block is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
