"""Calibrators: from held-out rows and their two uncertainties to the factors of the interval.

They work on arrays alone, whatever models the center and the widths came from:

    [center - gamma1 * aleatoric - gamma2 * epistemic, center + the same above]
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearbands.bands import check_vector, check_widths, make_interval
from clearbands.conformal import (
    CalibrationWarning,
    order_statistic,
    rank,
    rows_needed,
    signed_scores,
)
from clearbands.lambda_search import CalibrationRows, search_exactly, search_grid
from clearbands.levels import alpha, check_levels


class Factors(NamedTuple):
    """What calibration at one level finds."""

    lambda_: float
    gamma1: float
    gamma2: float


class _Calibrator(BaseEstimator, ABC):
    """Fit level by level, then scale and add; subclasses choose the factors of one level."""

    confidence_level: float | Sequence[float]
    _rows_type: type[CalibrationRows] = CalibrationRows

    @abstractmethod
    def _factors(
        self, rows: CalibrationRows, validation: CalibrationRows | None, level: float
    ) -> Factors:
        """The factors at one level; `validation` rows, where given, choose lambda alone."""

    def fit(
        self,
        y: Any,
        center: Any,
        aleatoric: Any,
        epistemic: Any,
        *,
        validation: tuple[Any, Any, Any, Any] | None = None,
    ) -> _Calibrator:
        """Choose the factors on rows that trained neither center nor widths.

        Parameters
        ----------
        y, center : (n,)
        aleatoric, epistemic : (n, 2) or, with k levels, (n, 2, k)
            Non-negative distances from the center, below and above.
        validation : (y, center, aleatoric, epistemic), optional
            Rows that choose lambda; the rows given first then only choose gamma1, and the
            interval has finite-sample marginal coverage.
        """
        levels = check_levels(self.confidence_level)
        self._check_parameters()
        rows = self._rows_per_level((y, center, aleatoric, epistemic), len(levels), "")
        if validation is None:
            validation_rows: list[Any] = [None] * len(levels)
        else:
            validation_rows = self._rows_per_level(validation, len(levels), "validation ")
        found = [
            self._factors(part, chooser, level)
            for part, chooser, level in zip(rows, validation_rows, levels, strict=True)
        ]
        scored = rows if validation is None else validation_rows
        losses = [
            part.quantile_loss(factors.gamma1, factors.gamma2, alpha(level))
            for part, factors, level in zip(scored, found, levels, strict=True)
        ]
        self.levels_ = np.array(levels)
        self.factors_ = np.array(found)
        self.losses_ = np.array(losses)
        self.n_calibration_ = len(rows[0])
        return self

    def _check_parameters(self) -> None:
        """Raise for parameters that make no sense."""

    def _rows_per_level(
        self, arrays: tuple[Any, ...], n_levels: int, prefix: str
    ) -> list[CalibrationRows]:
        y, center, aleatoric, epistemic = arrays
        y = check_vector(y, f"{prefix}y")
        center = check_vector(center, f"{prefix}center", len(y))
        aleatoric = check_widths(aleatoric, f"{prefix}aleatoric", len(y), n_levels)
        epistemic = check_widths(epistemic, f"{prefix}epistemic", len(y), n_levels)
        return [
            self._rows_type.from_widths(y, center, aleatoric[:, :, j], epistemic[:, :, j])
            for j in range(n_levels)
        ]

    @property
    def lambda_(self) -> Any:
        """gamma2 / gamma1: a number, or one per level when several levels were asked for."""
        return self._per_level("factors_", 0)

    @property
    def gamma1_(self) -> Any:
        """The factor of the aleatoric widths."""
        return self._per_level("factors_", 1)

    @property
    def gamma2_(self) -> Any:
        """The factor of the epistemic widths."""
        return self._per_level("factors_", 2)

    @property
    def loss_(self) -> Any:
        """The quantile loss of the calibrated intervals on the rows that chose lambda."""
        return self._per_level("losses_", ...)

    def _per_level(self, name: str, column: Any) -> Any:
        check_is_fitted(self, name)
        values = np.atleast_2d(getattr(self, name).T)[column].reshape(-1)
        return float(values[0]) if isinstance(self.confidence_level, Real) else values.copy()

    def scale(self, aleatoric: Any, epistemic: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both widths in calibrated units, (n, 2, k): they add up to the distance of the bounds.

        Levels are nested: where a higher level would give a shorter distance than a lower one,
        it takes over both parts of the lower one.
        """
        check_is_fitted(self, "factors_")
        n, k = len(np.asarray(aleatoric)), len(self.levels_)
        aleatoric = _times(self.factors_[:, 1], check_widths(aleatoric, "aleatoric", n, k))
        epistemic = _times(self.factors_[:, 2], check_widths(epistemic, "epistemic", n, k))
        order = np.argsort(self.levels_)
        for lower, higher in pairwise(order):
            total = aleatoric + epistemic
            shorter = total[:, :, higher] < total[:, :, lower]
            for part in (aleatoric, epistemic):
                part[:, :, higher] = np.where(shorter, part[:, :, lower], part[:, :, higher])
        return aleatoric, epistemic

    def predict_interval(self, center: Any, aleatoric: Any, epistemic: Any) -> np.ndarray:
        """(n, 2): lower and upper bounds; (n, 2, k) when several levels were asked for."""
        center = check_vector(center, "center")
        if len(center) != len(np.asarray(aleatoric)) or len(center) != len(np.asarray(epistemic)):
            raise ValueError(
                f"center, aleatoric and epistemic must have equally many rows, got {len(center)}, "
                f"{len(np.asarray(aleatoric))} and {len(np.asarray(epistemic))}."
            )
        interval = make_interval(center, np.add(*self.scale(aleatoric, epistemic)))
        return interval[:, :, 0] if isinstance(self.confidence_level, Real) else interval


class ClearCalibrator(_Calibrator):
    """CLEAR's calibration: lambda minimises the quantile loss, gamma1 gives the coverage.

    Parameters
    ----------
    confidence_level : float or list of float
    lambdas : "exact" or array
        "exact" finds the minimum over all of [0, inf]; an array searches that grid.

    Attributes
    ----------
    lambda_, gamma1_, gamma2_, loss_ : float, or one value per level for a list of levels
        `lambda_` may be infinite: then the interval is purely epistemic, `gamma1_` is 0.
    """

    def __init__(
        self, confidence_level: float | Sequence[float] = 0.9, *, lambdas: Any = "exact"
    ) -> None:
        self.confidence_level = confidence_level
        self.lambdas = lambdas

    def _check_parameters(self) -> None:
        if isinstance(self.lambdas, str):
            if self.lambdas != "exact":
                raise ValueError(f'lambdas must be "exact" or an array, got {self.lambdas!r}.')
            return
        grid = np.asarray(self.lambdas, float)
        if grid.ndim != 1 or len(grid) == 0 or np.isnan(grid).any() or (grid < 0).any():
            raise ValueError(
                f"lambdas must be a list of numbers from 0 to infinity, got {self.lambdas!r}."
            )

    def _factors(
        self, rows: CalibrationRows, validation: CalibrationRows | None, level: float
    ) -> Factors:
        chooser = rows if validation is None else validation
        k = min(rank(len(chooser), level), len(chooser))
        if isinstance(self.lambdas, str):
            lambda_ = search_exactly(chooser, k, alpha(level))
        else:
            lambda_ = search_grid(chooser, k, alpha(level), np.asarray(self.lambdas, float))
        return _calibrate_ratio(rows, lambda_, level, split=validation is not None)


class FixedRatioCalibrator(_Calibrator):
    """lambda is given, gamma1 is calibrated; with ratio 1 the paper's baseline "lambda = 1"."""

    def __init__(
        self, confidence_level: float | Sequence[float] = 0.9, *, ratio: float = 1.0
    ) -> None:
        self.confidence_level = confidence_level
        self.ratio = ratio

    def _check_parameters(self) -> None:
        if not self.ratio >= 0:
            raise ValueError(f"ratio must be a number from 0 to infinity, got {self.ratio!r}.")

    def _factors(
        self, rows: CalibrationRows, validation: CalibrationRows | None, level: float
    ) -> Factors:
        return _calibrate_ratio(rows, float(self.ratio), level, split=validation is not None)


class FixedAleatoricCalibrator(_Calibrator):
    """gamma1 is given, lambda is calibrated; with gamma1 = 1 the paper's baseline "gamma1 = 1".

    lambda is at least 0: where the aleatoric widths alone cover more rows than needed, the
    interval stays as wide as they make it.
    """

    def __init__(
        self, confidence_level: float | Sequence[float] = 0.9, *, gamma1: float = 1.0
    ) -> None:
        self.confidence_level = confidence_level
        self.gamma1 = gamma1

    def _check_parameters(self) -> None:
        if not 0 < self.gamma1 < math.inf:
            raise ValueError(f"gamma1 must be a positive finite number, got {self.gamma1!r}.")

    def _factors(
        self, rows: CalibrationRows, validation: CalibrationRows | None, level: float
    ) -> Factors:
        k = _affordable_rank(len(rows), level, split=validation is not None)
        gamma2 = rows.gamma2_beside(self.gamma1, k)
        _warn_if_infinite(gamma2, len(rows), level, k)
        return Factors(gamma2 / self.gamma1, self.gamma1, gamma2)


@dataclass(frozen=True)
class TwoSidedRows(CalibrationRows):
    """Rows that also know the widths on the side where y does not lie."""

    other_aleatoric: np.ndarray  # (n,)
    other_epistemic: np.ndarray  # (n,)

    @classmethod
    def from_widths(
        cls, y: np.ndarray, center: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray
    ) -> TwoSidedRows:
        near = CalibrationRows.from_widths(y, center, aleatoric, epistemic)
        far = CalibrationRows.from_widths(y, center, aleatoric[:, ::-1], epistemic[:, ::-1])
        return cls(**vars(near), other_aleatoric=far.aleatoric, other_epistemic=far.epistemic)

    def scores(self) -> np.ndarray:
        """The multiple of the epistemic widths at which the further of the two bounds is met."""
        near = signed_scores(self.distance - self.aleatoric, self.epistemic)
        far = signed_scores(-self.distance - self.other_aleatoric, self.other_epistemic)
        return np.maximum(near, far)

    def quantile_loss(self, gamma1: float, gamma2: float, alpha: float) -> float:
        if math.isinf(gamma2):
            return math.inf
        near = np.maximum(gamma1 * self.aleatoric + gamma2 * self.epistemic, 0)
        far = np.maximum(gamma1 * self.other_aleatoric + gamma2 * self.other_epistemic, 0)
        missed = np.maximum(self.distance - near, 0).sum()
        return float(alpha / 2 * (near + far).sum() + missed) / (2 * len(self))


class AdditiveCalibrator(_Calibrator):
    """Conformalized quantile regression: both bounds move outwards by gamma2, or inwards.

    The bounds `center - aleatoric` and `center + aleatoric` move by `gamma2_ * epistemic`; without
    epistemic widths by the same distance everywhere, which is CQR as Romano et al. define it. The
    score is that of CQR, the larger of lower - y and y - upper. `gamma1_` is 1. `gamma2_` is
    negative where the bounds cover more rows than needed; a bound that would then cross the center
    stops there, which only makes the interval longer and leaves its coverage guaranteed.

    Nothing but gamma2 is chosen on the rows, so with too few of them the bounds are infinite.
    """

    _rows_type = TwoSidedRows

    def __init__(self, confidence_level: float | Sequence[float] = 0.9) -> None:
        self.confidence_level = confidence_level

    def fit(
        self,
        y: Any,
        center: Any,
        aleatoric: Any,
        epistemic: Any = None,
        *,
        validation: tuple[Any, Any, Any, Any] | None = None,
    ) -> AdditiveCalibrator:
        """As for the siblings; `epistemic` None stands for ones, and `validation` is not used."""
        super().fit(y, center, aleatoric, _or_ones(epistemic, aleatoric))
        return self

    def _factors(
        self, rows: CalibrationRows, validation: CalibrationRows | None, level: float
    ) -> Factors:
        assert isinstance(rows, TwoSidedRows)
        k = rank(len(rows), level)
        gamma2 = order_statistic(rows.scores(), k)
        gamma2 = 0.0 if gamma2 == -math.inf else gamma2  # any multiple does
        _warn_if_infinite(gamma2, len(rows), level, k)
        return Factors(gamma2, 1.0, gamma2)

    def scale(self, aleatoric: Any, epistemic: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """As for the siblings; what gamma2 < 0 takes away is taken from the aleatoric part."""
        aleatoric, added = super().scale(aleatoric, _or_ones(epistemic, aleatoric))
        return np.maximum(aleatoric + np.minimum(added, 0), 0), np.maximum(added, 0)

    def predict_interval(self, center: Any, aleatoric: Any, epistemic: Any = None) -> np.ndarray:
        return super().predict_interval(center, aleatoric, _or_ones(epistemic, aleatoric))


def _or_ones(widths: Any, like: Any) -> Any:
    return np.ones((len(np.asarray(like)), 2)) if widths is None else widths


def _calibrate_ratio(
    rows: CalibrationRows, lambda_: float, level: float, *, split: bool
) -> Factors:
    k = _affordable_rank(len(rows), level, split=split)
    gamma1, gamma2 = rows.factors(lambda_, k)
    _warn_if_infinite(max(gamma1, gamma2), len(rows), level, k)
    return Factors(lambda_, gamma1, gamma2)


def _affordable_rank(n: int, level: float, *, split: bool) -> int:
    """The rank the level asks for. On the rows that chose lambda the paper takes the largest
    score when there are too few; rows kept apart for the guarantee must not."""
    k = rank(n, level)
    if k <= n or split:
        return k
    warnings.warn(
        f"{n} calibration rows are too few for level {level:g}: at least {rows_needed(level)} are "
        "needed. The interval covers all of them, which may be less than the level asks for.",
        CalibrationWarning,
        stacklevel=4,
    )
    return n


def _warn_if_infinite(gamma: float, n: int, level: float, k: int) -> None:
    if math.isfinite(gamma):
        return
    if k > n:
        reason = f"{n} calibration rows are too few, at least {rows_needed(level)} are needed"
    else:
        reason = "too many calibration rows lie off the center where both widths are zero"
    warnings.warn(
        f"No finite interval is valid at level {level:g}: {reason}. The bounds are infinite.",
        CalibrationWarning,
        stacklevel=4,
    )


def _times(factors: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """An infinite factor makes every distance infinite, also that of a width of zero."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(factors), np.inf, factors * widths)
