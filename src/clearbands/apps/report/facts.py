"""The numbers of a report: everything that is predicted, measured or looked up for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.lambda_path import LambdaPath
from clearbands.diagnostics.compared_groups import needed_groups, pooled_bounds
from clearbands.diagnostics.coverage import Cell, coverage
from clearbands.diagnostics.diagnose import FEWEST_ROWS, Predicted, diagnose_predictions
from clearbands.diagnostics.diagnosis import Diagnosis
from clearbands.diagnostics.importance import Importance, feature_importance
from clearbands.prediction.questions import fan_levels
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.bands import covered
from clearbands.rows.checks import check_vector
from clearbands.rows.levels import find_level, same_level
from clearbands.rows.typed import TableLike
from clearbands.tables.columns import Column, columns_of

if TYPE_CHECKING:
    from clearbands.prediction.predictor import Answers
    from clearbands.regressor import ClearRegressor


@dataclass(frozen=True)
class LevelFacts:
    """The promise and the truth at one level."""

    confidence_level: float
    coverage: Cell
    typical_width: float
    factors: tuple[float, float, float] | None  # lambda, gamma1, gamma2, at a level of the fit


@dataclass(frozen=True)
class Facts:
    """The facts about one fitted model on rows that it has not seen, at one level."""

    model: ClearRegressor
    y: np.ndarray
    parts: Uncertainty
    columns: tuple[Column, ...]
    importance: tuple[Importance, ...]  # the most important first
    diagnosis: Diagnosis
    levels: tuple[LevelFacts, ...]
    path: LambdaPath | None
    target: str = "the target"
    unit: str = ""
    fan: Mapping[float, np.ndarray] = field(default_factory=dict)  # intervals (n, 2) by level
    unfamiliar: np.ndarray | None = None  # (n,) booleans, None where the model cannot tell
    n_seen: int = 0  # how many of the rows were in the fit

    @property
    def confidence_level(self) -> float:
        return self.parts.confidence_level

    @cached_property
    def interval(self) -> np.ndarray:
        """The intervals (n, 2)."""
        return self.parts.interval

    @cached_property
    def inside(self) -> np.ndarray:
        """Whether each true value lies in its interval, booleans (n,)."""
        return covered(self.y, self.interval)

    @cached_property
    def widths(self) -> np.ndarray:
        """The aleatoric and the epistemic width of each row, (n, 2), below and above together."""
        return self.parts.widths

    @property
    def is_finite(self) -> bool:
        """Whether all widths are finite."""
        return bool(np.isfinite(self.widths).all())

    @property
    def has_both_parts(self) -> bool:
        """Whether noise and ignorance both have a part in the intervals."""
        return bool((self.widths.sum(axis=0) > 0).all())

    @property
    def typical_width(self) -> float:
        """The median from bound to bound."""
        return typical_width(self.parts)

    @cached_property
    def epistemic_shares(self) -> np.ndarray:
        """The share of ignorance in the width of each row (n,), between 0 and 1."""
        return self.parts.epistemic_share

    @cached_property
    def epistemic_share(self) -> float:
        """The share of ignorance in the mean width."""
        return self.parts.mean_share

    def important_columns(self, most: int) -> list[Column]:
        """Return the columns that matter most, the most important first."""
        by_name = {column.name: column for column in self.columns}
        return [by_name[each.name] for each in self.importance[:most]]

    def in_unit(self, words: str) -> str:
        """Return the name of an axis, with the unit of the target where there is one."""
        unit = f"({self.unit})"
        return f"{words} {unit}" if self.unit and not words.endswith(unit) else words


def gather_facts(
    model: ClearRegressor,
    X: TableLike,
    y: ArrayLike,
    *,
    by: ArrayLike | None = None,
    confidence_level: float | None = None,
    target: str = "the target",
    unit: str = "",
    answers: Answers | None = None,
    n_seen: int = 0,
) -> Facts:
    """Predict every row once and measure, or raise an error that says what is wrong with the rows.

    `answers` are the model's `answers(X)`, if the caller has them already.
    """
    y = check_vector(y, "y")
    if len(y) < FEWEST_ROWS:
        raise ValueError(f"A report needs at least {FEWEST_ROWS} rows, got {len(y)}.")
    chosen = find_level(model.levels_, confidence_level)
    needed = needed_groups(model, by)
    answers = model.answers(X, calibration_groups=needed) if answers is None else answers
    parts = answers.uncertainty(float(model.levels_[chosen]))
    if len(parts) != len(y):
        raise ValueError(f"X has {len(parts)} rows where y has {len(y)}.")
    at = parts.confidence_level
    importance = feature_importance(
        model, X, y, confidence_level=at, calibration_groups=needed, predicted=parts
    )
    judged = Predicted.of(parts, pooled_bounds(model, X, at))
    return Facts(
        model=model,
        y=y,
        parts=parts,
        columns=tuple(columns_of(X)),
        importance=tuple(_most_important_first(importance)),
        diagnosis=diagnose_predictions(model, X, y, judged, by=by, confidence_level=at),
        levels=_levels(model, y, answers),
        path=model.lambda_paths_[chosen] if model.lambda_paths_ else None,
        target=target,
        unit=unit,
        fan={level: answers.interval(level)[:, :, 0] for level in fan_levels(model)},
        unfamiliar=answers.unfamiliar() if getattr(model, "familiar_", None) else None,
        n_seen=n_seen,
    )


def typical_width(parts: Uncertainty) -> float:
    """The median from bound to bound."""
    return float(np.median(parts.widths.sum(axis=1)))


def _levels(model: ClearRegressor, y: np.ndarray, answers: Answers) -> tuple[LevelFacts, ...]:
    """Return the facts at the levels of the fit and the other levels of the fan, highest first."""
    fitted = model.levels_.tolist()
    others = [level for level in fan_levels(model) if same_level(fitted, level) is None]
    return tuple(
        _level_facts(model, y, answers.uncertainty(level))
        for level in sorted([*fitted, *others], reverse=True)
    )


def _level_facts(model: ClearRegressor, y: np.ndarray, parts: Uncertainty) -> LevelFacts:
    j = same_level(model.levels_, parts.confidence_level)
    factors = None
    if j is not None:
        factors = (float(model.lambda_[j]), float(model.gamma1_[j]), float(model.gamma2_[j]))
    covered = coverage(y, parts.interval)
    return LevelFacts(parts.confidence_level, covered, typical_width(parts), factors)


def _most_important_first(importances: list[Importance]) -> list[Importance]:
    """Sort by the effect on the center or on the width, whichever is larger beside the others."""
    center = max((each.center for each in importances), default=0) or 1.0
    width = max((each.width for each in importances), default=0) or 1.0
    return sorted(importances, key=lambda each: -max(each.center / center, each.width / width))
