"""What a fitted model says about y: intervals at any level, quantiles, chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearbands.bands import Components, make_interval
from clearbands.calibration.distribution import SIDES, AnyLevel, Distribution
from clearbands.calibration.groups import GroupCalibrator
from clearbands.checks import (
    check_groups,
    check_levels,
    check_one_level,
    check_quantiles,
    check_threshold,
    is_frame,
)
from clearbands.interval_regressor import WidthRegressor
from clearbands.levels import same_level
from clearbands.support import Support, check_support
from clearbands.tables.native import FrameKind, kind_of
from clearbands.uncertainty import Uncertainty


class AnsweringRegressor(WidthRegressor):
    """Subclasses keep `levels_`, a `calibrator_`, and `any_level_` made from the same rows.

    `groups` are labels (n,) of the rows, or the name of a column of X; they are needed where the
    model was fitted with labels, and found by themselves where it was fitted with a column's name.
    """

    levels_: np.ndarray
    any_level_: AnyLevel | None
    group_column_: str | None
    support: Any

    def predict_interval(
        self,
        X: Any,
        *,
        groups: Any = None,
        confidence_level: float | Sequence[float] | None = None,
        side: str = "both",
    ) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the bounds (n, 2, k): lower and upper at each of the k levels.

        Parameters
        ----------
        groups : labels (n,) or the name of a column, optional
            Where the model was fitted with groups: each row gets the bounds of its own.
        confidence_level : float or list of float, optional
            Any levels; by default those of the fit. Others are calibrated on the same rows, of all
            groups together.
        side : "both", "lower" or "upper"
            With "lower" a share `confidence_level` of the targets lies above the lower bound, and
            the upper one is infinite; with "upper" the other way round.
        """
        if side not in SIDES:
            raise ValueError(f'side must be "both", "lower" or "upper", got {side!r}.')
        asked = None if confidence_level is None else check_levels(confidence_level)
        center, *parts = self._calibrated(X, groups)
        if asked is None and side == "both":
            return center, self._support.clip(make_interval(center, np.add(*parts)))
        levels = self.levels_.tolist() if asked is None else asked
        bounds = self._bands().intervals(center, np.add(*parts), levels, side=side)
        return center, self._support.clip(bounds)

    def predict_quantiles(
        self, X: Any, levels: float | Sequence[float], *, groups: Any = None
    ) -> np.ndarray:
        """(n, q): the values that the shares `levels` (q,), rising, of the targets do not exceed.

        Those at 0.05 and 0.95 are the bounds of the interval at 0.9, to the last digit; that at 0.5
        is the center.
        """
        asked = check_quantiles(np.atleast_1d(np.asarray(levels, float)).tolist()).tolist()
        center, *parts = self._calibrated(X, groups)
        return self._support.clip(self._bands().quantiles(center, np.add(*parts), asked))

    def predict_probability(
        self, X: Any, *, above: Any = None, below: Any = None, groups: Any = None
    ) -> np.ndarray:
        """(n,): the chance that the target is above, or below, a value: a number or one per row."""
        if (above is None) == (below is None):
            raise ValueError("Ask for above=t or for below=t, one of them.")
        distribution = self.predict_distribution(X, groups=groups)
        n = len(distribution.center)
        if above is None:
            return distribution.cdf(check_threshold(below, "below", n))
        return 1 - distribution.cdf(check_threshold(above, "above", n))

    def predict_distribution(self, X: Any, *, groups: Any = None) -> Distribution:
        """The distribution of the target of every row: `cdf`, `ppf`, `mean` and `sample`."""
        center, *parts = self._calibrated(X, groups)
        found = self._bands().distribution(center, np.add(*parts))
        return replace(found, support=self._support)

    def predict_uncertainty(
        self, X: Any, *, groups: Any = None, confidence_level: float | None = None
    ) -> Uncertainty:
        """The calibrated aleatoric and epistemic distances at one level, by default the first."""
        check_is_fitted(self, "calibrator_")
        level = self.levels_[0] if confidence_level is None else check_one_level(confidence_level)
        j = same_level(self.levels_, level)
        if j is not None:
            return self.predict_uncertainties(X, groups=groups)[j]
        center, aleatoric, epistemic = self._calibrated(X, groups)
        parts = self._bands().parts(aleatoric, epistemic, level)
        return self._uncertainty(center, *parts, level, kind_of(X))

    def predict_uncertainties(self, X: Any, *, groups: Any = None) -> tuple[Uncertainty, ...]:
        """The same at every level of the fit, in the order of `levels_`, from one pass over X."""
        center, aleatoric, epistemic = self._calibrated(X, groups)
        kind = kind_of(X)
        return tuple(
            self._uncertainty(center, aleatoric[:, :, j], epistemic[:, :, j], level, kind)
            for j, level in enumerate(self.levels_.tolist())
        )

    def _uncertainty(
        self,
        center: np.ndarray,
        aleatoric: np.ndarray,
        epistemic: np.ndarray,
        level: float,
        kind: FrameKind,
    ) -> Uncertainty:
        parts = self._support.limit(center, aleatoric, epistemic)
        return Uncertainty(center, *parts, level, kind, self._support)

    @property
    def _support(self) -> Support:
        return check_support(self.support)

    def _calibrated(self, X: Any, groups: Any) -> Components:
        """The center and both calibrated parts of the distances."""
        components = self.components(X)
        labels = self._labels(X, groups, len(components.center))
        return self._scaled(components, labels)

    def _scaled(self, components: Components, labels: np.ndarray | None) -> Components:
        center, *widths = components
        of_groups = {} if labels is None else {"groups": labels}
        return Components(center, *self.calibrator_.scale(*widths, **of_groups))

    def _labels(self, X: Any, groups: Any, n: int) -> np.ndarray | None:
        """The labels of new rows; None where the model has no groups."""
        if not isinstance(self.calibrator_, GroupCalibrator):
            if groups is not None:
                raise ValueError(
                    "groups were given, but the model was fitted without: fit it with groups."
                )
            return None
        groups = self.group_column_ if groups is None else groups
        if groups is None:
            raise ValueError(
                "The model was calibrated by group: give groups, a label for every row of X."
            )
        return read_groups(groups, X, n)

    def _bands(self) -> AnyLevel:
        if not hasattr(self, "any_level_"):
            raise ValueError(
                "This model was saved by a version that kept no calibration rows, so it answers at "
                f"the levels of its fit alone ({_named(self.levels_)}): fit it again."
            )
        if self.any_level_ is None:
            raise ValueError(
                "No level of the fit has finite bounds, so there are none at others: calibrate on "
                "more rows."
            )
        return self.any_level_


def read_groups(groups: Any, X: Any, n: int) -> np.ndarray:
    """(n,): labels that were given, or those in the column of X that was named."""
    if not isinstance(groups, str):
        return check_groups(groups, n)
    if not is_frame(X):
        raise ValueError(
            f"groups={groups!r} names a column, but X is an array: give a table, or the labels."
        )
    frame = nw.from_native(X, eager_only=True)
    if groups not in frame.columns:
        known = ", ".join(frame.columns)
        raise ValueError(f"groups={groups!r} is no column of X, which has {known}.")
    return check_groups(frame.get_column(groups).to_list(), n)


def _named(levels: np.ndarray) -> str:
    return ", ".join(f"{level:g}" for level in levels)
