"""What predict does with rows: the questions it was asked, and the table of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clearbands.apps.cli.class_target import is_classifier
from clearbands.apps.cli.classes import class_table
from clearbands.apps.cli.models import features_in, groups_in, kept_columns
from clearbands.apps.cli.options import names_in
from clearbands.apps.reading.choosing import take_target
from clearbands.apps.reading.reading import Reading

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.prediction.questions import Questions
    from clearbands.regressor import ClearRegressor

ROWS_AT_ONCE = 10_000  # between two steps of the progress bar


@dataclass(frozen=True)
class Wanted:
    """As it was typed; refused when it is made, which is before the work."""

    levels: tuple[float, ...] = ()
    side: str = "both"
    quantiles: tuple[float, ...] = ()
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    row_id: str | None = None
    tails: str | None = None

    def __post_init__(self) -> None:
        self._questions()

    def table(self, model: Any, reading: Reading) -> pl.DataFrame:
        """The answers for all rows, and the columns that are carried along."""
        names = names_in(list(self.keep), reading.frame.columns)
        kept = kept_columns(model, reading, names, self.row_id)
        X = features_in(model, reading)
        if is_classifier(model):
            table = class_table(model, X, list(self.levels))
        else:
            values = _values(self.above, reading), _values(self.below, reading)
            table = _predict(model, X, groups_in(model, reading), self._questions(*values))
        twice = next((column.name for column in kept if column.name in table.columns), None)
        if twice is not None:
            raise ValueError(
                f"The output has a column {twice!r} of its own; rename that of the data."
            )
        return table.select(*kept, *table.columns)

    def _questions(
        self,
        above: dict[str, float | np.ndarray] | None = None,
        below: dict[str, float | np.ndarray] | None = None,
    ) -> Questions:
        from clearbands.prediction.questions import Questions, tails_in

        return Questions(
            self.levels,
            self.side,
            self.quantiles,
            above or {},
            below or {},
            None if self.tails is None else tails_in("--tails", self.tails),
        )


def _values(given: Sequence[str], reading: Reading) -> dict[str, float | np.ndarray]:
    """Each a number, or a column with one for every row."""
    found: dict[str, float | np.ndarray] = {}
    for name in given:
        try:
            found[name] = float(name)
        except ValueError:
            found[name] = take_target(reading, name, what="The column")
    return found


def _predict(
    model: ClearRegressor, X: pl.DataFrame, groups: np.ndarray | None, questions: Questions
) -> pl.DataFrame:
    import polars as pl

    from clearbands.engine.progress import report
    from clearbands.prediction.predictions import predict

    tables = []
    for start in range(0, X.height, ROWS_AT_ONCE):
        report("predicting", start, X.height)
        stop = start + ROWS_AT_ONCE
        labels = None if groups is None else groups[start:stop]
        rows = questions.rows(start, stop)
        tables.append(predict(model, X[start:stop], rows, labels).frame())
    return pl.concat(tables)
