"""Predictions as a table: one row per prediction, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from clearbands.prediction.questions import Questions, name_of
from clearbands.rows.levels import exact
from clearbands.rows.typed import TableLike

if TYPE_CHECKING:
    import polars as pl

    from clearbands.prediction.answers import Answers
    from clearbands.prediction.uncertainty import Uncertainty
    from clearbands.regressor import ClearRegressor

NAMES = ("lower", "upper")


@dataclass(frozen=True)
class Predictions:
    """The answers to some questions about n rows."""

    bands: tuple[Uncertainty, ...]  # one for each level
    side: str = "both"
    asked: np.ndarray | None = None  # (n, 2, levels): bounds of other levels, or of one side
    quantiles: Mapping[float, np.ndarray] = field(default_factory=dict)  # (n,) of each
    above: Mapping[str, np.ndarray] = field(default_factory=dict)  # (n,): chances
    below: Mapping[str, np.ndarray] = field(default_factory=dict)
    unfamiliar: np.ndarray | None = None  # (n,) booleans, if asked for

    def columns(self) -> dict[str, np.ndarray]:
        """Point, bounds at every level, the two parts of the width at the first, all else."""
        return {
            "point": self.bands[0].center,
            **dict(self._bound_columns()),
            **part_widths(self.bands[0]),
            **{f"quantile_{name_of(level)}": values for level, values in self.quantiles.items()},
            **{f"above_{name}": chance for name, chance in self.above.items()},
            **{f"below_{name}": chance for name, chance in self.below.items()},
            **({} if self.unfamiliar is None else {"unfamiliar": self.unfamiliar}),
        }

    def table(self) -> pl.DataFrame:
        """These columns as a table."""
        import polars as pl

        return pl.DataFrame(self.columns())

    def bounds(self, j: int) -> np.ndarray:
        """(n, 2): at the level j; infinite on a side that was not asked for."""
        return self.bands[j].interval if self.asked is None else self.asked[:, :, j]

    def _bound_columns(self) -> Iterator[tuple[str, np.ndarray]]:
        for j, parts in enumerate(self.bands):
            ending = f"_{parts.confidence_level}" if len(self.bands) > 1 else ""
            for name, bound in zip(NAMES, self.bounds(j).T, strict=True):
                if self.side in ("both", name):
                    yield f"{name}{ending}", bound


def predict(
    model: ClearRegressor,
    X: TableLike,
    questions: Questions | None = None,
    calibration_groups: ArrayLike | None = None,
) -> Predictions:
    """The answers to the questions, by default the intervals at the levels of the fit."""
    return answer(model.answers(X, calibration_groups=calibration_groups), questions or Questions())


def answer(answers: Answers, questions: Questions) -> Predictions:
    """The same of rows that were passed over already."""
    levels, tails = questions.levels or answers.levels.tolist(), questions.tails
    asked = None
    if tails is not None:
        levels = [float(1 - exact(tails[0]) - exact(tails[1]))]
        asked = answers.interval(tails=tails)
    elif questions.levels or questions.side != "both":
        asked = answers.interval(levels, questions.side)
    quantiles: dict[float, np.ndarray] = {}
    if questions.quantiles:
        found = answers.quantiles(questions.quantiles)
        quantiles = dict(zip(questions.quantiles, found.T, strict=True))
    return Predictions(
        tuple(answers.uncertainty(level) for level in levels),
        questions.side,
        asked,
        quantiles,
        {name: answers.probability(above=value) for name, value in questions.above.items()},
        {name: answers.probability(below=value) for name, value in questions.below.items()},
        answers.unfamiliar() if questions.unfamiliar else None,
    )


def part_widths(parts: Uncertainty) -> dict[str, np.ndarray]:
    """How wide each part is, both sides together, and the epistemic share of the whole."""
    return {
        "aleatoric": parts.widths[:, 0],
        "epistemic": parts.widths[:, 1],
        "epistemic_share": parts.epistemic_share,
    }
