"""What a report tells, in numbers: everything that is predicted, measured or looked up for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearbands.bands import check_vector, covered
from clearbands.cells import Cell, coverage
from clearbands.columns import Column, columns_of
from clearbands.diagnosis import Diagnosis, diagnose
from clearbands.importance import Importance, feature_importance
from clearbands.lambda_loss import LambdaPath
from clearbands.levels import find_level
from clearbands.predictions import epistemic_share
from clearbands.uncertainty import Uncertainty

FEWEST_ROWS = 4


@dataclass(frozen=True)
class LevelFacts:
    """The promise and the truth at one level."""

    confidence_level: float
    coverage: Cell
    typical_width: float
    lambda_: float
    gamma1: float
    gamma2: float


@dataclass(frozen=True)
class Facts:
    """One fitted model on rows that it has not seen, at one level."""

    model: Any
    y: np.ndarray
    parts: Uncertainty
    columns: tuple[Column, ...]
    importance: tuple[Importance, ...]  # the most important first
    diagnosis: Diagnosis
    levels: tuple[LevelFacts, ...]
    path: LambdaPath | None

    @property
    def confidence_level(self) -> float:
        return self.parts.confidence_level

    @cached_property
    def interval(self) -> np.ndarray:
        """(n, 2)."""
        return self.parts.interval

    @cached_property
    def inside(self) -> np.ndarray:
        """(n,) booleans."""
        return covered(self.y, self.interval)

    @cached_property
    def widths(self) -> np.ndarray:
        """(n, 2): aleatoric and epistemic, each below and above together."""
        return np.stack([self.parts.aleatoric.sum(1), self.parts.epistemic.sum(1)], axis=1)

    @property
    def is_finite(self) -> bool:
        """Whether there are widths to speak of."""
        return bool(np.isfinite(self.widths).all())

    @cached_property
    def epistemic_shares(self) -> np.ndarray:
        """(n,): between 0 and 1."""
        return epistemic_share(self.parts)

    @property
    def epistemic_share(self) -> float:
        """Of the width of all rows together."""
        aleatoric, epistemic = self.widths.sum(axis=0)
        return float(epistemic / (aleatoric + epistemic)) if aleatoric + epistemic > 0 else 0.5

    @property
    def leaderboard(self) -> list[dict[str, Any]]:
        """The models that competed; empty where there was no competition."""
        entries = getattr(self.model.epistemic_, "leaderboard_", [])
        return [entry for entry in entries if entry["rmse"] is not None]

    def important_columns(self, most: int) -> list[Column]:
        """The columns that matter, the most important first."""
        by_name = {column.name: column for column in self.columns}
        return [by_name[found.name] for found in self.importance[:most]]


def gather(model: Any, X: Any, y: Any, *, groups: Any, confidence_level: float | None) -> Facts:
    """Predict and measure, or say what is wrong with the rows."""
    y = check_vector(y, "y")
    if len(y) < FEWEST_ROWS:
        raise ValueError(f"A report needs at least {FEWEST_ROWS} rows, got {len(y)}.")
    chosen = find_level(model.levels_, confidence_level)
    predicted = model.predict_uncertainties(X)
    parts = predicted[chosen]
    if len(parts.center) != len(y):
        raise ValueError(f"X has {len(parts.center)} rows where y has {len(y)}.")
    at = parts.confidence_level
    importance = feature_importance(model, X, y, confidence_level=at)
    paths = getattr(model, "lambda_paths_", ())  # files of older versions have none
    return Facts(
        model=model,
        y=y,
        parts=parts,
        columns=tuple(columns_of(X)),
        importance=tuple(_most_important_first(importance)),
        diagnosis=diagnose(model, X, y, groups=groups, confidence_level=at),
        levels=tuple(_level_facts(model, y, parts, j) for j, parts in enumerate(predicted)),
        path=paths[chosen] if paths else None,
    )


def _level_facts(model: Any, y: np.ndarray, parts: Uncertainty, j: int) -> LevelFacts:
    width = parts.interval[:, 1] - parts.interval[:, 0]
    factors = (float(values[j]) for values in (model.lambda_, model.gamma1_, model.gamma2_))
    return LevelFacts(
        parts.confidence_level, coverage(y, parts.interval), float(np.median(width)), *factors
    )


def _most_important_first(found: list[Importance]) -> list[Importance]:
    """By what a feature does to the center or to the width, whichever is more remarkable."""
    center = max((each.center for each in found), default=0) or 1.0
    width = max((each.width for each in found), default=0) or 1.0
    return sorted(found, key=lambda each: -max(each.center / center, each.width / width))
