"""A process that receives one task after another through a pipe of its own.

The processes of a pool share queues. A killed process may leave the lock of a queue closed, so that
all processes are lost with it; and Python's own pool waits forever for a process that it starts
while it notices the death of another (`python -m benchmarks.killed_processes`). One pipe for each
process needs no lock and no thread, and its end is seen wherever the process was killed.
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

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows SIGTERM ends a process at once


class WorkerDied(Exception):
    """The process ended before it answered."""


class Worker:
    """A process that starts as joblib's do, without running the user's script again."""

    def __init__(self) -> None:
        self.pipe, its_end = Pipe()
        # A daemon ends with the process that started it; that process need not wait for it.
        self.process = get_context("loky").Process(target=_run_tasks, args=(its_end,), daemon=True)
        self.process.start()
        its_end.close()

    def begin(self, task: Callable[[], Any]) -> None:
        """Send a task to the process. If the process is gone, `answer` raises `WorkerDied`."""
        with suppress(ConnectionError):
            self.pipe.send_bytes(pickle.dumps(task))

    def answer(self) -> Any:
        """Return what the task returned, or raise what it raised.

        `WorkerDied` is raised if the process ended without an answer.
        """
        try:
            result, error = self.pipe.recv()
        except (EOFError, ConnectionError) as ended:
            raise WorkerDied from ended
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """End the process at once, even in the middle of a task."""
        self.pipe.close()
        if self.process.is_alive():
            os.kill(self.process.pid, KILL)
        self.process.join()


def _run_tasks(pipe: Connection) -> None:
    """Do tasks until the other end of the pipe is closed or the process there is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits handles Ctrl-C
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(_run_task(pipe.recv_bytes()))


def _run_task(task: bytes) -> tuple[Any, Exception | None]:
    """Load and run the task; return its result, or the error that prevented one."""
    try:
        return pickle.loads(task)(), None
    except Exception as error:  # noqa: BLE001
        portable = _picklable(error)
        portable.add_note("".join(traceback.format_exception(error)))
        return None, portable


def _picklable(error: Exception) -> Exception:
    """Return the error, or a RuntimeError with its message if it cannot be pickled."""
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001
        return RuntimeError(f"{type(error).__name__}: {error}")
