"""Predictions as a table: one line for each row, in the order of the input.

`predict_frame`, the command, the service and MLflow give these columns, under these names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands._compat import require
from clearbands.prediction.questions import Questions, name_of
from clearbands.rows.levels import exact, level_name
from clearbands.rows.typed import TableLike
from clearbands.tables.native import FrameKind, make_frame

if TYPE_CHECKING:
    from clearbands.prediction.predictor import Answers
    from clearbands.prediction.uncertainty import Uncertainty


SIDES = ("lower", "upper")


@dataclass(frozen=True)
class Predictions:
    """The answers to some questions about n rows."""

    bands: tuple[Uncertainty, ...]  # one for each level
    side: str = "both"
    other_bounds: np.ndarray | None = None  # (n, 2, levels): bounds of other levels, or of one side
    quantiles: Mapping[float, np.ndarray] = field(default_factory=dict)  # (n,) for each level
    above: Mapping[str, np.ndarray] = field(default_factory=dict)  # (n,): chances
    below: Mapping[str, np.ndarray] = field(default_factory=dict)
    unfamiliar: np.ndarray | None = None  # (n,) booleans; None if the model cannot tell

    def columns(self) -> dict[str, Any]:
        """Return columns: prediction, bounds at all levels, parts at the first level, the rest."""
        first = self.bands[0]
        return {
            "prediction": first.center,
            **dict(self._bound_columns()),
            **reasons(first),
            "unfamiliar": flags(self.unfamiliar, len(first)),
            **{f"quantile_{name_of(level)}": values for level, values in self.quantiles.items()},
            **{f"above_{name}": chance for name, chance in self.above.items()},
            **{f"below_{name}": chance for name, chance in self.below.items()},
        }

    def frame(self) -> Any:
        """Return these columns as a frame of the kind of the rows that were predicted."""
        return make_frame(self.columns(), self.kind)

    @property
    def kind(self) -> FrameKind:
        """The kind of the rows that were predicted."""
        return self.bands[0].kind

    def bounds(self, j: int) -> np.ndarray:
        """Return bounds (n, 2) at the level j; infinite on a side that was not asked for."""
        return self.bands[j].interval if self.other_bounds is None else self.other_bounds[:, :, j]

    def _bound_columns(self) -> Iterator[tuple[str, np.ndarray]]:
        for j, parts in enumerate(self.bands):
            for side, bound in zip(SIDES, self.bounds(j).T, strict=True):
                if self.side in ("both", side):
                    yield bound_name(side, parts.confidence_level), bound


def predict(
    model: Any,
    X: TableLike,
    questions: Questions | None = None,
    calibration_groups: ArrayLike | None = None,
) -> Predictions:
    """Return the answers to the questions, by default the intervals at the levels of the fit."""
    return answer(model.answers(X, calibration_groups=calibration_groups), questions or Questions())


def answer(answers: Answers, questions: Questions) -> Predictions:
    """Return the same for rows that the model has predicted already."""
    levels, tails = questions.levels or answers.levels.tolist(), questions.tails
    bounds = None
    if tails is not None:
        levels = [float(1 - exact(tails[0]) - exact(tails[1]))]
        bounds = answers.interval(tails=tails)
    elif questions.levels or questions.side != "both":
        bounds = answers.interval(levels, questions.side)
    quantiles: dict[float, np.ndarray] = {}
    if questions.quantiles:
        values = answers.quantiles(questions.quantiles)
        quantiles = dict(zip(questions.quantiles, values.T, strict=True))
    return Predictions(
        tuple(answers.uncertainty(level) for level in levels),
        questions.side,
        bounds,
        quantiles,
        {name: answers.probability(above=value) for name, value in questions.above.items()},
        {name: answers.probability(below=value) for name, value in questions.below.items()},
        answers.unfamiliar() if answers.can_tell_unfamiliar else None,
    )


def bound_name(side: str, level: float) -> str:
    """Return the name of a bound's column.

    >>> bound_name("lower", 0.9), bound_name("upper", 0.995)
    ('lower_90', 'upper_99.5')
    """
    return f"{side}_{level_name(level)}"


def reasons(parts: Uncertainty) -> dict[str, np.ndarray]:
    """Return why each row is as wide as it is: both widths, their share, the larger part."""
    return {
        "aleatoric": parts.widths[:, 0],
        "epistemic": parts.widths[:, 1],
        "epistemic_share": parts.epistemic_share,
        "dominant": parts.dominant,
    }


def flags(unfamiliar: np.ndarray | None, n: int) -> Any:
    """Return the booleans (n,), or None n times if the model cannot tell."""
    return [None] * n if unfamiliar is None else unfamiliar


def interval_names(levels: list[float]) -> list[str]:
    """Return the names of the columns: prediction, and two bounds for every level.

    >>> interval_names([0.5, 0.9])
    ['prediction', 'lower_50', 'upper_50', 'lower_90', 'upper_90']
    """
    return ["prediction", *(bound_name(side, level) for level in levels for side in SIDES)]


def predict_partitions(
    model: Any,
    X: Any,
    levels: Sequence[float] | None,
    calibration_groups: ArrayLike | None,
    side: str,
) -> Any:
    """Return a Dask DataFrame with the index of X: intervals that are not computed yet.

    The model is part of the graph, so that nothing is lost if a worker dies. By default the levels
    are those of the fit.
    """
    dask, pandas = _libraries()
    names, options = _names_and_options(model, levels, calibration_groups)
    meta = pandas.DataFrame({name: pandas.Series(dtype=float) for name in names})
    options["side"] = side
    return X.map_partitions(_predict, dask.delayed(model), names, options, meta=meta)


def frame_partitions(
    model: Any,
    X: Any,
    levels: Sequence[float] | None,
    calibration_groups: ArrayLike | None,
) -> Any:
    """Return the same for all columns of `predict_frame`."""
    dask, _ = _libraries()
    names, options = _names_and_options(model, levels, calibration_groups)
    numbers = [*names, "aleatoric", "epistemic", "epistemic_share"]
    row: dict[str, list[Any]] = {name: [0.0] for name in numbers}
    row |= {"dominant": ["noise"], "unfamiliar": [None if model.familiar_ is None else False]}
    meta = make_frame(row, FrameKind("pandas")).iloc[:0]
    return X.map_partitions(_predict_frame, dask.delayed(model), meta, options, meta=meta)


def _names_and_options(
    model: Any, levels: Sequence[float] | None, calibration_groups: ArrayLike | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the columns of intervals, and the options with which each partition is predicted."""
    if not isinstance(calibration_groups, str | None):
        raise ValueError("For a Dask DataFrame, calibration_groups must be the name of a column.")
    names = interval_names(model.levels_.tolist() if levels is None else list(levels))
    other_levels = None if levels is None else list(levels)
    return names, {"calibration_groups": calibration_groups, "confidence_level": other_levels}


def _libraries() -> tuple[Any, Any]:
    names = ("dask", "pandas")
    dask, pandas = (require(name, what="A Dask DataFrame", extra="dask") for name in names)
    return dask, pandas


def _predict(rows: Any, model: Any, names: list[str], options: dict[str, Any]) -> Any:
    import pandas as pd

    if len(rows) == 0:
        return pd.DataFrame({name: pd.Series(dtype=float) for name in names}, index=rows.index)
    center, intervals = model.predict_interval(rows, **options)
    bounds = intervals.transpose(0, 2, 1).reshape(len(center), -1)
    columns = dict(zip(names, [center, *bounds.T], strict=True))
    return pd.DataFrame(columns, index=rows.index)


def _predict_frame(rows: Any, model: Any, empty: Any, options: dict[str, Any]) -> Any:
    return empty if len(rows) == 0 else model.predict_frame(rows, **options)
