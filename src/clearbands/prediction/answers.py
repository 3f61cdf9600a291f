"""All that a fitted model says about the targets of some rows, from one pass over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearbands.calibration.distribution import AnyLevel, Distribution
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.bands import Components, make_interval
from clearbands.rows.checks import (
    check_levels,
    check_one_level,
    check_quantiles,
    check_tails,
    check_threshold,
)
from clearbands.rows.levels import same_level
from clearbands.rows.messages import row_name
from clearbands.rows.targets import Targets
from clearbands.tables.native import FrameKind


@dataclass(frozen=True)
class Answers:
    """Made by `ClearRegressor.answers`; every method asks another question about the same rows."""

    levels: np.ndarray  # (k,) of the fit
    calibrated: Components  # of the model: center (n,), both parts of the distances (n, 2, k)
    targets: Targets  # how these become targets
    kind: FrameKind  # of the rows that were predicted
    bands: Callable[[], AnyLevel]  # says why, where a model cannot answer at other levels
    unfamiliar: Callable[[], np.ndarray]
    """(n,) booleans: whether a row is unlike those the model has learned from."""
    is_updated: bool = False  # then the bands answer at the levels of the fit, too
    can_tell_unfamiliar: bool = True
    noise: np.ndarray | None = None  # (3, n, 2): noise over distance; None as in the paper

    @property
    def center(self) -> np.ndarray:
        """(n,)"""
        return self.targets.center(self.calibrated.center)

    def interval(
        self,
        confidence_level: float | Sequence[float] | None = None,
        side: str = "both",
        tails: Any = None,
    ) -> np.ndarray:
        """(n, 2, q): the bounds at any levels, by default those of the fit; or between tails."""
        if tails is not None:
            return self._between(tails, confidence_level, side)
        other_levels = None if confidence_level is None else check_levels(confidence_level)
        center = self.calibrated.center
        levels = self.levels.tolist() if other_levels is None else other_levels
        places = (same_level(self.levels, level) for level in levels)
        columns = [j for j in places if j is not None]
        if side == "both" and len(columns) == len(levels) and not self.is_updated:
            bounds = make_interval(center, self._distances)[:, :, columns]
            return self.targets.points(bounds, center)
        bounds = self._other_levels().intervals(center, self._distances, levels, side=side)
        return self.targets.points(bounds, center)

    def _between(self, tails: Any, confidence_level: Any, side: str) -> np.ndarray:
        if confidence_level is not None or side != "both":
            raise ValueError(
                "tails say the level and the side: leave out confidence_level and side, or tails."
            )
        center = self.calibrated.center
        bounds = self._other_levels().between(center, self._distances, check_tails(tails))
        return self.targets.points(bounds, center)

    def quantiles(self, levels: float | Sequence[float]) -> np.ndarray:
        """(n, q): the values that shares `levels` (q,), rising, of the targets do not exceed."""
        shares = check_quantiles(np.atleast_1d(np.asarray(levels, float)).tolist()).tolist()
        center = self.calibrated.center
        points = self._other_levels().quantiles(center, self._distances, shares)
        return self.targets.points(points, center)

    def probability(self, *, above: Any = None, below: Any = None) -> np.ndarray:
        """(n,): the chance that the target is above, or below, a value: a number or one per row."""
        if (above is None) == (below is None):
            raise ValueError("Ask for above=t or for below=t, one of them.")
        n, distribution = len(self.calibrated.center), self.distribution()
        if above is None:
            t = check_threshold(below, "below", n)
            return distribution.cdf(np.ceil(t) - 1 if self.targets.whole else t)
        return 1 - distribution.cdf(check_threshold(above, "above", n))

    def distribution(self) -> Distribution:
        """The distribution of the target of every row."""
        of_model = self._other_levels().distribution(self.calibrated.center, self._distances)
        return replace(of_model, targets=self.targets, center=self.calibrated.center)

    def uncertainty(self, confidence_level: float | None = None) -> Uncertainty:
        """Both parts of the interval at one level, by default the first of the fit."""
        level = self.levels[0] if confidence_level is None else check_one_level(confidence_level)
        j = same_level(self.levels, level)
        center, aleatoric, epistemic = self.calibrated
        level = level if j is None else float(self.levels[j])
        if j is not None and not self.is_updated:
            parts = aleatoric[:, :, j], epistemic[:, :, j]
        else:
            parts = self._other_levels().parts(aleatoric, epistemic, level)
        support = self.targets.support
        if self.targets.are_plain:
            limited = support.limit(center, *parts)
            uncertainty = Uncertainty(center, *limited, level, self.kind, support)
        else:
            bounds = self.targets.points(make_interval(center, np.add(*parts)), center)
            split = self.targets.split(self.center, bounds, *parts)
            uncertainty = Uncertainty(self.center, *split, level, self.kind, support, bounds)
        return uncertainty if self.noise is None else uncertainty.split_by(self.noise)

    def uncertainties(self) -> tuple[Uncertainty, ...]:
        """The same at every level of the fit, in its order."""
        return tuple(self.uncertainty(level) for level in self.levels.tolist())

    def _other_levels(self) -> AnyLevel:
        bands = self.bands()
        check_finite(bands, self._distances)
        return bands

    @property
    def _distances(self) -> np.ndarray:
        """(n, 2, k): both parts together."""
        return np.add(self.calibrated.aleatoric, self.calibrated.epistemic)


def check_finite(bands: AnyLevel, distances: np.ndarray) -> None:
    """Raise for rows (n, 2, k) whose bounds are infinite where those of other rows are not."""
    is_finite = np.isfinite(distances[:, :, bands.columns]).all(axis=(1, 2))
    if not is_finite.all():
        raise ValueError(
            f"The bounds of {row_name(int(np.argmin(is_finite)))} are infinite at a "
            "level of the fit, as in groups of too few calibration rows, so nothing is known of it "
            "at others: leave such rows out, or calibrate on more rows of their group."
        )
