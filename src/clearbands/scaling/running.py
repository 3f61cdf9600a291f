"""All files of a stage, by whatever engine, whoever dies meanwhile."""

from __future__ import annotations

from clearbands.engine.progress import report
from clearbands.scaling.engines import Engine, LostWorkers
from clearbands.scaling.tasks import Stage, batches

MOST_LOSSES = 3  # in a row, without a file made in between


def make_all(stage: Stage, engine: Engine, called: str) -> None:
    """Make what is not there yet; progress is reported under the name `called`."""
    left, losses = stage.left(), 0
    report(called, stage.count - len(left), stage.count)
    while left:
        done, reason = stage.count - len(left), "Files were not there after they had been written."
        try:
            for finished in engine.run(list(batches(stage, left, engine.n_workers))):
                done += finished
                report(called, done, stage.count)
        except LostWorkers as error:
            reason = str(error)
        before, left = len(left), stage.left()
        losses = losses + 1 if len(left) == before else 0
        if losses == MOST_LOSSES:
            raise RuntimeError(
                f"{reason} It happened {MOST_LOSSES} times in a row; what is finished is kept in "
                f"{stage.store.folder}, and another run with the same work folder goes on from "
                "there."
            )
