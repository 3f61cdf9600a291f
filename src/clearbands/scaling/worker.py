"""A process that does one task after another, at the end of a pipe of its own.

Pools share queues, with locks that a killed process may leave closed, so that all processes go with
one; and Python's own waits without end for a process that is started while the death of another is
noticed (`python -m benchmarks.killed_processes`). With a pipe for each there is no lock and no
thread, and its end is seen wherever the process was killed.
"""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from joblib.externals.loky.backend import get_context

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows the latter is final


class WorkerDied(Exception):
    """The process ended before it answered."""


class Worker:
    """A process that starts like joblib's: without running the user's script once more."""

    def __init__(self) -> None:
        self.pipe, its_end = Pipe()
        # A daemon is ended with the process that started it, which need not wait for it.
        self.process = get_context("loky").Process(target=_work, args=(its_end,), daemon=True)
        self.process.start()
        its_end.close()

    def begin(self, task: Callable[[], Any]) -> None:
        """Hand over a task; where the process is gone, `answer` will tell."""
        with suppress(ConnectionError):
            self.pipe.send_bytes(pickle.dumps(task))

    def answer(self) -> Any:
        """What the task returned; what it raised is raised, and `WorkerDied` if nothing came."""
        try:
            result, error = self.pipe.recv()
        except (EOFError, ConnectionError) as ended:
            raise WorkerDied from ended
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """At once, whatever it does."""
        self.pipe.close()
        if self.process.is_alive():
            os.kill(self.process.pid, KILL)
        self.process.join()


def _work(pipe: Connection) -> None:
    """Until the other end of the pipe is closed, or its process gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(_done(pipe.recv_bytes()))


def _done(task: bytes) -> tuple[Any, Exception | None]:
    """What the task returned, or what kept it from that, be it that it cannot be loaded here."""
    try:
        return pickle.loads(task)(), None
    except Exception as error:  # noqa: BLE001
        portable = _portable(error)
        portable.add_note("".join(traceback.format_exception(error)))
        return None, portable


def _portable(error: Exception) -> Exception:
    """The error, or what it says if it cannot travel."""
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001
        return RuntimeError(f"{type(error).__name__}: {error}")
