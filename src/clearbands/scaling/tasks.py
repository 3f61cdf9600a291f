"""A step of a fit, divided into tasks that any worker can do who sees the work folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearbands.engine.progress import report
from clearbands.scaling.engines import Engine, LostWorkers
from clearbands.scaling.store import Store

SECONDS = 2.0  # a task should take at least this long; beside that, handing it out costs nothing


@dataclass(frozen=True)
class Stage(ABC):
    """A step of the fit that makes `count` files, each from files of earlier steps alone.

    A stage is a small object that is sent to the workers; the data it needs lie in the store.
    """

    store: Store

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of files to make."""

    @abstractmethod
    def name(self, number: int) -> str:
        """Return the name of a file in the store."""

    @abstractmethod
    def make(self, number: int, stop: np.ndarray) -> None:
        """Write the file. A kernel looks at `stop` now and then and ends early if it is not 0."""

    @property
    def seconds(self) -> float:
        """The seconds that it takes to make one file, roughly."""
        return SECONDS

    def is_done(self, number: int) -> bool:
        return self.store.is_complete(self.name(number))

    def missing(self) -> list[int]:
        """Return the numbers of the files that are missing or not whole."""
        return [number for number in range(self.count) if not self.is_done(number)]


@dataclass(frozen=True)
class Task:
    """A batch of files of one stage."""

    stage: Stage
    numbers: tuple[int, ...]

    def __call__(self, stop: Any = None) -> int:
        """Make the files that are still missing; return the number of files of the batch."""
        go_on = np.zeros(1, np.uint8) if stop is None else stop
        for number in self.numbers:
            if not self.stage.is_done(number):
                self.stage.make(number, go_on)
            if go_on[0]:
                break
        return len(self.numbers)


def batches(stage: Stage, numbers: Sequence[int], n_workers: int) -> Iterator[Task]:
    """Divide files into tasks of about `SECONDS`, but if possible two or more for every worker."""
    long_enough = max(1, round(SECONDS / max(stage.seconds, 1e-9)))
    size = max(1, min(long_enough, -(-len(numbers) // (2 * max(n_workers, 1)))))
    for start in range(0, len(numbers), size):
        yield Task(stage, tuple(numbers[start : start + size]))


MOST_LOSSES = 3  # rounds in a row that lose workers and make no file; then the fit fails


def make_all(stage: Stage, engine: Engine, stage_name: str) -> None:
    """Make the files that are missing, and report progress under `stage_name`."""
    left, losses = stage.missing(), 0
    report(stage_name, stage.count - len(left), stage.count)
    while left:
        done, reason = stage.count - len(left), "Files were not there after they had been written."
        try:
            for finished in engine.run(list(batches(stage, left, engine.n_workers))):
                done += finished
                report(stage_name, done, stage.count)
        except LostWorkers as error:
            reason = str(error)
        before, left = len(left), stage.missing()
        losses = losses + 1 if len(left) == before else 0
        if losses == MOST_LOSSES:
            raise RuntimeError(
                f"{reason} It happened {MOST_LOSSES} times in a row; what is finished is kept in "
                f"{stage.store.folder}, and another run with the same work folder goes on from "
                "there."
            )
