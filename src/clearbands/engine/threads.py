"""Work on threads that Ctrl-C stops and that do not compete with the threads inside BLAS."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from threading import Lock, current_thread, main_thread
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

from clearbands.engine.progress import report


def run_threads(
    task: Callable[[int, np.ndarray], None], count: int, *, n_jobs: int | None, stage: str
) -> None:
    """Call `task(i, stop)` for i in range(count).

    Tasks write their results in place, so the order in which they end changes nothing. `stop` is
    an array of one byte: a kernel looks at it now and then and returns early once it is not zero.
    The kernels release the GIL and the calling thread only waits, also when there is one worker:
    an interrupt reaches it at once and stops them all. Interrupts reach the main thread alone, so
    any other does the work of a single worker itself.
    """
    stop = np.zeros(1, np.uint8)
    n_workers = max(1, min(effective_n_jobs(n_jobs), count))
    if n_workers == 1 and current_thread() is not main_thread():
        for i in range(count):
            task(i, stop)
            report(stage, i + 1, count)
        return
    with ThreadPoolExecutor(max_workers=n_workers) as pool:
        try:
            futures = [pool.submit(task, i, stop) for i in range(count)]
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                report(stage, done, count)
        except BaseException:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
            raise


class _Libraries:
    """The thread pools of loaded libraries. Looking for them takes milliseconds.

    They are looked for again only after a module was imported that may have loaded another.
    """

    def __init__(self) -> None:
        self._controller: ThreadpoolController | None = None
        self._n_modules = self._n_others = 0

    def one_thread(self, user_api: str) -> Any:
        """Return a limit to one thread, which is lifted when its block ends."""
        n_modules = len(sys.modules)
        if self._controller is None or n_modules != self._n_modules:
            n_others = sum(not name.startswith("clearbands.") for name in [*sys.modules])
            if self._controller is None or n_others != self._n_others:
                self._controller, self._n_others = ThreadpoolController(), n_others
            self._n_modules = n_modules
        return self._controller.select(user_api=user_api).limit(limits=1)


_libraries = _Libraries()


class _SharedLimit:
    """A limit for the whole process, which its first holder sets and its last holder lifts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._limits: Any = None

    def take(self) -> None:
        with self._lock:
            if self._holders == 0:
                _take_control()
                self._limits = _libraries.one_thread("blas")
            self._holders += 1

    def give_back(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._limits is not None:
                _take_control()
                self._limits.restore_original_limits()
                self._limits = None
                _take_control()  # so that no thread keeps it


def _take_control() -> None:
    """Let the next thread control threadpoolctl, which from 3.8 on obeys one thread alone."""
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


_limit = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute products of matrices on the thread that asks for them.

    Where we share out the work ourselves, a second layer of threads inside BLAS would only compete
    with ours, and their number could change the last digits. That number belongs to the whole
    process: if every fit set it and restored what it had found, then of two fits at once the first
    to end would lift the limit of the other, and the last would restore the other's 1 for good. The
    number of threads of OpenMP, which torch and some builds of BLAS use, belongs to each thread.
    """
    _limit.take()
    try:
        with _libraries.one_thread("openmp"):
            yield
    finally:
        _limit.give_back()
