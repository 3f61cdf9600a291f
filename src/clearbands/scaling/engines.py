"""The engines that run tasks: threads, processes, or the workers of a Dask cluster.

All engines run the same tasks. A task loads its input from the work folder and writes its output
there. No worker holds anything that is not in the folder, so nothing is lost with a worker.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import wait
from pkgutil import resolve_name
from typing import Any, get_args

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from clearbands._compat import require
from clearbands.rows.settings import EngineName
from clearbands.scaling.worker import Worker, WorkerDied

PATIENCE = 300.0  # the seconds that a cluster may take to come back
LOOK_EVERY = 10.0  # after so many seconds without a result, it is checked that workers are there
Work = Callable[..., Any]
ENGINES = get_args(EngineName)


class LostWorkers(Exception):
    """Workers or their scheduler are gone, and their unfinished tasks must be run again."""


class Engine(ABC):
    """Runs tasks, which are picklable and take no arguments."""

    @abstractmethod
    def run(self, tasks: Sequence[Work]) -> Iterator[Any]:
        """Yield the results of the tasks as they finish.

        `LostWorkers` is raised if some tasks could not be finished.
        """

    @property
    def n_workers(self) -> int:
        """The number of tasks that can run at once."""
        return 1

    def check(self, folder: str) -> None:
        """Raise unless the workers have this package and see this folder."""
        return

    def close(self) -> None:
        """Close what was opened for the work."""
        return


class Threads(Engine):
    """Run tasks on threads of this process, which share its memory.

    >>> sorted(Threads(2).run([lambda stop=None: 1, lambda stop=None: 2]))
    [1, 2]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @property
    def n_workers(self) -> int:
        return max(1, effective_n_jobs(self.n_jobs))

    def run(self, tasks: Sequence[Work]) -> Iterator[Any]:
        stop = np.zeros(1, np.uint8)
        with ThreadPoolExecutor(self.n_workers) as pool:
            try:
                for future in as_completed([pool.submit(task, stop) for task in tasks]):
                    yield future.result()
            except BaseException:
                stop[0] = 1
                pool.shutdown(cancel_futures=True)
                raise


class Processes(Engine):
    """Run tasks on processes of this machine. A process that dies takes no other with it.

    >>> from functools import partial
    >>> engine = Processes(2)
    >>> sorted(engine.run([partial(abs, -1), partial(abs, -2)]))
    [1, 2]
    >>> engine.close()
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs
        self._idle: list[Worker] = []

    @property
    def n_workers(self) -> int:
        return max(1, effective_n_jobs(self.n_jobs))

    def run(self, tasks: Sequence[Work]) -> Iterator[Any]:
        waiting, lost = deque(tasks), False
        busy: dict[Any, Worker] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self.n_workers:
                    worker = self._idle.pop() if self._idle else Worker()
                    busy[worker.pipe] = worker
                    worker.begin(waiting.popleft())
                for pipe in wait(list(busy)):
                    try:
                        result = busy[pipe].answer()
                    except WorkerDied:
                        busy.pop(pipe).end()
                        lost = True
                        continue
                    self._idle.append(busy.pop(pipe))
                    yield result
        finally:
            for worker in busy.values():
                worker.end()
        if lost:
            raise LostWorkers("A worker process died, perhaps for want of memory.")

    def close(self) -> None:
        while self._idle:
            self._idle.pop().end()


LOST = (
    "The Dask client has lost its scheduler: make another, and fit again with the same work "
    "folder; what is finished is kept."
)


class DaskCluster(Engine):
    """Run tasks on the workers of a Dask cluster.

    The workers must see the work folder and have this package installed.

    Parameters
    ----------
    scheduler : str, optional
        The address of a scheduler, such as "tcp://10.0.0.5:8786". If the scheduler is gone, the
        engine waits for it, and tasks that were not finished are run again. Without an address,
        the client of this process is used.
    client : distributed.Client, optional
        A client that exists already. It is not closed.
    patience : float
        The seconds to wait for a scheduler, for a first worker, or for a result.
    """

    def __init__(
        self, scheduler: str | None = None, *, client: Any = None, patience: float = PATIENCE
    ) -> None:
        require("distributed", what="A Dask cluster", extra="dask")
        self.scheduler = scheduler
        self.client = client
        self.patience = patience
        self._own: Any = None

    @property
    def n_workers(self) -> int:
        with self._connected() as client:
            return max(1, sum(client.nthreads().values()))

    def check(self, folder: str) -> None:
        with self._connected() as client:
            _check_workers(client, folder)

    def run(self, tasks: Sequence[Work]) -> Iterator[Any]:
        with self._connected() as client:
            futures = [client.submit(task, pure=False) for task in tasks]
            try:
                for future in self._as_completed(futures, client):
                    yield _result(future, self.patience)
            finally:
                if client.status == "running":
                    client.cancel(futures)

    def close(self) -> None:
        if self._own is not None:
            self._own.close(timeout=5)
        self._own = None

    def _as_completed(self, futures: Sequence[Any], client: Any) -> Iterator[Any]:
        """Yield futures as they finish; raise if all workers are gone and none comes back."""
        from distributed import as_completed

        left = set(futures)
        while left:
            try:
                for future in as_completed(left, loop=client.loop, timeout=LOOK_EVERY):
                    left.discard(future)
                    yield future
            except TimeoutError:
                _wait_for_workers(client, self.patience)

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Yield a client with at least one worker.

        `LostWorkers` is raised if the scheduler or workers disappear meanwhile.
        """
        from distributed.comm import CommClosedError

        known = self._known_client() if self.scheduler is None else None
        try:
            if known is not None:
                _wait_for_workers(known, self.patience)
            yield self._own_client() if known is None else known
        except CommClosedError as error:
            self.close()
            raise LostWorkers("The Dask scheduler is gone.") from error
        except LostWorkers:
            self.close()
            raise
        except OSError as error:
            # Either the client tried in vain to find its scheduler again, or a task failed.
            if known is not None and known.status != "running":
                raise OSError(LOST) from error
            raise

    def _own_client(self) -> Any:
        if self._own is None or self._own.status != "running":
            self.close()
            self._own = self._connect(self.scheduler or "")
        return self._own

    def _known_client(self) -> Any:
        """Return the client that was made elsewhere. If it is lost, it cannot be made again."""
        from distributed import get_client

        try:
            client = get_client() if self.client is None else self.client
        except ValueError as error:
            raise ValueError(
                "There is no Dask client: give the address of a scheduler, or make a client first."
            ) from error
        if client.status != "running":
            raise OSError(LOST)
        return client

    def _connect(self, address: str) -> Any:
        from distributed import Client

        until = time.monotonic() + self.patience
        while True:
            left = until - time.monotonic()
            try:
                client = Client(address, timeout=max(1.0, min(5.0, left)), set_as_default=False)
            except (OSError, ValueError) as error:
                if isinstance(error, ValueError) or time.monotonic() >= until:
                    raise OSError(
                        f"The Dask scheduler at {address} cannot be reached: {_first_line(error)}."
                    ) from error
                time.sleep(0.5)
                continue
            try:
                _wait_for_workers(client, max(1.0, until - time.monotonic()))
            except BaseException:
                client.close(timeout=5)
                raise
            return client


def choose_engine(engine: Any, n_jobs: int | None = None) -> Engine:
    """Return the engine of that name.

    For None it is the cluster of joblib's `parallel_config("dask")` if that is set, else threads.

    >>> type(choose_engine(None)).__name__
    'Threads'
    """
    if isinstance(engine, Engine):
        return engine
    if engine is None:
        client = getattr(get_active_backend()[0], "client", None)
        return Threads(n_jobs) if client is None else DaskCluster(client=client)
    engines: dict[str, Callable[[], Engine]] = {
        "threads": lambda: Threads(n_jobs),
        "processes": lambda: Processes(n_jobs),
        "dask": DaskCluster,
    }
    if engine not in engines:
        allowed = ", ".join(f'"{name}"' for name in ENGINES)
        raise ValueError(f"engine must be one of {allowed}, or an engine, got {engine!r}.")
    return engines[engine]()


def _result(future: Any, patience: float) -> Any:
    """Return what a task returned, or raise the reason why it failed."""
    from distributed import KilledWorker

    if future.status == "finished":
        try:
            return future.result(timeout=patience)
        except TimeoutError as late:
            raise LostWorkers("A Dask worker disappeared before it gave its result.") from late
    if future.status != "error":  # cancelled or lost with the scheduler
        raise LostWorkers("The Dask scheduler is gone.")
    error = future.exception()
    if isinstance(error, KilledWorker):
        raise LostWorkers(
            "Several Dask workers died over one task, perhaps for want of memory."
        ) from error
    if isinstance(error, ModuleNotFoundError):
        raise ImportError(_missing_package("A Dask worker", error)) from error
    raise error


def _wait_for_workers(client: Any, patience: float) -> None:
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError as error:
        raise OSError(
            f"The Dask cluster had no worker for {patience:.0f} seconds: start one, and run it "
            "again with the same work folder; what is finished is kept."
        ) from error


def _check_workers(client: Any, folder: str) -> None:
    """Raise unless every worker has this version of the package and sees the folder."""
    from clearbands import __version__

    # These are functions of Python itself, so that a worker can load them without this package.
    versions = client.run(resolve_name, "clearbands:__version__", on_error="return")
    for worker, version in versions.items():
        if isinstance(version, BaseException):
            raise ImportError(_missing_package(f"The Dask worker {worker}", version))
        if version != __version__:
            raise ImportError(
                f"The Dask worker {worker} has clearbands {version}, this process {__version__}: "
                "install the same version on both."
            )
    for worker, is_there in client.run(os.path.isdir, folder).items():
        if not is_there:
            raise ValueError(
                f"The Dask worker {worker} does not see the work folder {folder}: choose one in a "
                "place that all machines share."
            )


def _missing_package(worker: str, error: BaseException) -> str:
    return (
        f"{worker} cannot load this package ({_first_line(error)}): install clearbands with the "
        'extra "dask" there, too.'
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
