"""Calibrators: they choose the factors of the interval from held-out rows and their two widths.

They work on arrays alone, whatever models the center and the widths came from:

    [center - gamma1 * aleatoric - gamma2 * epistemic, center + the same above]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.calibration_rows import CalibrationRows, times
from clearbands.calibration.conformal import (
    CalibrationWarning,
    equal_rows,
    order_statistic,
    per_heaviest,
    rows_needed,
    weighted_rank,
)
from clearbands.calibration.lambda_path import search_exactly, search_grid
from clearbands.rows.bands import make_interval, nest
from clearbands.rows.checks import check_scale, check_vector, check_weights, check_widths
from clearbands.rows.levels import alpha, check_levels
from clearbands.rows.messages import warn
from clearbands.rows.weighting import check_sample_weight

RAISES = 5  # how many epistemic shares are tried, from the usual one down to the least


class Factors(NamedTuple):
    """The factors that calibration at one level chooses."""

    lambda_: float
    gamma1: float
    gamma2: float


class Ray(NamedTuple):
    """The pairs of factors that a calibrator may choose: start + score * direction, for any score.

    The score of a row is the smallest one with which the interval reaches it.
    """

    start: tuple[float, float]  # gamma1 and gamma2
    direction: tuple[float, float]
    scores: np.ndarray  # (n,)
    lambda_: float | None = None  # gamma2 / gamma1, where it is the same along the whole ray

    def at(self, score: float) -> Factors:
        score = 0.0 if score == -math.inf else score  # any score reaches the rows
        gamma1, gamma2 = (
            first + times(step, score)
            for first, step in zip(self.start, self.direction, strict=True)
        )
        return Factors(gamma2 / gamma1 if self.lambda_ is None else self.lambda_, gamma1, gamma2)


class _Calibrator(BaseEstimator, ABC):
    """The base of calibrators, which fit level by level; subclasses choose the ray of a level."""

    confidence_level: float | Sequence[float]
    _rows_type: type[CalibrationRows] = CalibrationRows
    _may_fall_short = True  # whether too few rows give bounds of the outermost row

    @abstractmethod
    def _ray(self, rows: Any, chooser: Any, level: float) -> Ray:
        """Return the ray of the factors for `rows` at one level, as chosen on `chooser`."""

    def fit(
        self,
        y: ArrayLike,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike,
        *,
        validation: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
        validation_weight: ArrayLike | None = None,
    ) -> _Calibrator:
        """Choose the factors on rows that trained neither center nor widths.

        Parameters
        ----------
        y, center : (n,)
        aleatoric, epistemic : (n, 2) or, with k levels, (n, 2, k)
            Non-negative distances from the center, below and above.
        validation : (y, center, aleatoric, epistemic), optional
            Rows that choose lambda. The other rows then choose only gamma1, and the interval has
            finite-sample marginal coverage.
        sample_weight : (n,), optional
            How many rows each row counts as, in the loss and in the rank. A new row counts as one;
            with `validation` it counts as much as the heaviest row, because copies of a row are no
            further rows for the guarantee.
        calibration_weight : (n,), optional
            How many times more often such a row occurs among new rows than here, up to a common
            factor. The coverage then holds for the new rows (weighted conformal prediction). The
            weight of the row to predict counts, too, so pass it to `predict_interval`. Without it,
            the largest of these weights stands for it, which is valid for rows of at most that
            weight.
        validation_weight : (n of the validation rows,), optional
            How many rows each of them counts as.
        """
        levels = check_levels(self.confidence_level)
        self._check_parameters()
        n = len(np.atleast_1d(y))
        counts = check_sample_weight(sample_weight, n)
        shift = check_sample_weight(calibration_weight, n, "calibration_weight")
        is_guaranteed = validation is not None or not self._may_fall_short
        weight, heaviest = relative_weights(counts, shift, is_guaranteed=is_guaranteed)
        arrays = (y, center, aleatoric, epistemic)
        rows = self._rows_per_level(arrays, len(levels), "", weight)
        choosers = rows
        if validation is not None:
            as_given = check_sample_weight(
                validation_weight, len(np.atleast_1d(validation[0])), "validation_weight"
            )
            choosers = self._rows_per_level(validation, len(levels), "validation ", as_given)
        factors_by_level, rays = [], []
        for part, chooser, level in zip(rows, choosers, levels, strict=True):
            ray = self._ray(part, chooser, level)
            k = self._rank(part, level, split=validation is not None)
            factors = ray.at(order_statistic(ray.scores, k, weight))
            _warn_if_infinite(max(factors.gamma1, factors.gamma2), part, level, k)
            factors_by_level.append(factors)
            rays.append(ray)
        losses = [
            part.quantile_loss(factors.gamma1, factors.gamma2, alpha(level))
            for part, factors, level in zip(choosers, factors_by_level, levels, strict=True)
        ]
        self.levels_ = np.array(levels)
        self.factors_ = np.array(factors_by_level)
        self.losses_ = np.array(losses)
        self.n_calibration_ = len(rows[0])
        self.by_weight_ = None if shift is None else _FactorsByWeight(rays, weight, heaviest)
        return self

    def _rank(self, rows: CalibrationRows, level: float, *, split: bool) -> float:
        """Return the rank that the level asks for.

        Where the rows are too few and chose lambda too, it is the number of rows, as in the paper;
        rows that were kept apart for the guarantee get no such cap.
        """
        k = rows.rank(level)
        if split or not self._may_fall_short:
            return k
        if k > rows.size:
            warn(
                f"{_too_few(rows, level)}. The interval covers all of them, which may be less than "
                "the level asks for.",
                CalibrationWarning,
            )
        elif rows.weight is not None and equal_rows(rows.weight) < rows_needed(level):
            warn(
                f"The weights of the {len(rows)} calibration rows are so unequal that they tell as "
                f"much as {equal_rows(rows.weight):.3g} rows of equal weight, too few for level "
                f"{level:g}: at least {rows_needed(level)} are needed. The interval may cover less "
                "than the level asks for.",
                CalibrationWarning,
            )
        return min(k, rows.size)

    def _check_parameters(self) -> None:
        """Raise for parameters that make no sense."""

    def _rows_per_level(
        self,
        arrays: tuple[Any, ...],
        n_levels: int,
        prefix: str,
        weight: np.ndarray | None,
    ) -> list[CalibrationRows]:
        y, center, aleatoric, epistemic = arrays
        y = check_vector(y, f"{prefix}y")
        center = check_vector(center, f"{prefix}center", len(y))
        aleatoric = check_widths(aleatoric, f"{prefix}aleatoric", len(y), n_levels)
        epistemic = check_widths(epistemic, f"{prefix}epistemic", len(y), n_levels)
        check_scale(y, f"{prefix}y", smallest=0)
        check_scale(center, f"{prefix}center", smallest=0)
        check_scale(y - center, f"{prefix}y - center")
        check_scale(aleatoric, f"{prefix}aleatoric")
        check_scale(epistemic, f"{prefix}epistemic")
        return [
            self._rows_type.from_widths(y, center, aleatoric[:, :, j], epistemic[:, :, j], weight)
            for j in range(n_levels)
        ]

    @property
    def lambda_(self) -> float | np.ndarray:
        """gamma2 / gamma1: a number, or one per level when several levels were asked for."""
        return self._per_level("factors_", 0)

    @property
    def gamma1_(self) -> float | np.ndarray:
        """The factor of the aleatoric widths."""
        return self._per_level("factors_", 1)

    @property
    def gamma2_(self) -> float | np.ndarray:
        """The factor of the epistemic widths."""
        return self._per_level("factors_", 2)

    @property
    def loss_(self) -> float | np.ndarray:
        """The quantile loss of the calibrated intervals on the rows that chose lambda."""
        return self._per_level("losses_", ...)

    def _per_level(self, name: str, column: Any) -> float | np.ndarray:
        check_is_fitted(self, name)
        values = np.atleast_2d(getattr(self, name).T)[column].reshape(-1)
        return float(values[0]) if isinstance(self.confidence_level, Real) else values.copy()

    def scale(
        self, aleatoric: ArrayLike, epistemic: ArrayLike, *, weight: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both calibrated widths (n, 2, k), which add up to the distances of the bounds.

        Levels are nested: where a higher level would give a shorter distance than a lower one,
        it takes over both parts of the lower one. `weight` (n,) are the weights of the rows, in the
        unit of the `calibration_weight` of `fit`.
        """
        check_is_fitted(self, "factors_")
        gamma1, gamma2 = self._factors_for(len(np.asarray(aleatoric)), weight)
        return self.scale_by(aleatoric, epistemic, gamma1, gamma2)

    def scale_by(
        self, aleatoric: ArrayLike, epistemic: ArrayLike, gamma1: np.ndarray, gamma2: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what `scale` does, with the given factors: (k,), or (n, 1, k) with one per row."""
        n, k = len(np.asarray(aleatoric)), len(self.levels_)
        aleatoric = check_widths(aleatoric, "aleatoric", n, k)
        epistemic = check_widths(epistemic, "epistemic", n, k)
        check_scale(aleatoric, "aleatoric", smallest=0)
        check_scale(epistemic, "epistemic", smallest=0)
        aleatoric, epistemic = _scale_widths(gamma1, aleatoric), _scale_widths(gamma2, epistemic)
        nest(self.levels_, aleatoric, epistemic)
        return aleatoric, epistemic

    def _factors_for(self, n: int, weight: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
        if weight is None:
            return self.factors_[:, 1], self.factors_[:, 2]
        if self.by_weight_ is None:
            raise ValueError(
                "weight needs a calibrator that was fitted with calibration_weight; this one was "
                "not."
            )
        return self.by_weight_.factors(check_weights(weight, "weight", n), self.levels_)

    def predict_interval(
        self,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike,
        *,
        weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return lower and upper bounds (n, 2), or (n, 2, k) for k levels."""
        center = check_vector(center, "center")
        check_scale(center, "center", smallest=0)
        if len(center) != len(np.asarray(aleatoric)) or len(center) != len(np.asarray(epistemic)):
            raise ValueError(
                f"center, aleatoric and epistemic must have equally many rows, got {len(center)}, "
                f"{len(np.asarray(aleatoric))} and {len(np.asarray(epistemic))}."
            )
        widths = np.add(*self.scale(aleatoric, epistemic, weight=weight))
        interval = make_interval(center, widths)
        return interval[:, :, 0] if isinstance(self.confidence_level, Real) else interval


class ClearCalibrator(_Calibrator):
    """CLEAR's calibration: lambda minimises the quantile loss, gamma1 gives the coverage.

    Parameters
    ----------
    confidence_level : float or list of float
        The coverage that the intervals shall have.
    lambdas : "exact" or array
        Where lambda is searched. "exact" finds the minimum over all of [0, inf]; an array is a grid
        of values to try.
    least_epistemic, usual_epistemic : float
        Shares of the mean width that shall be epistemic, if the widths allow it. `least_epistemic`
        always holds. Up to `usual_epistemic`, lambda is raised as long as the rows cannot tell its
        loss from the smallest one, that is, within one standard error of the differences from row
        to row. With 0 and 0 lambda stays where the loss is smallest, as in the paper. Calibration
        rows are like the training rows, so they often cannot tell a lambda of 0 from a small one;
        but with a lambda of 0 no interval grows, however far a row is from all data.

    Attributes
    ----------
    lambda_, gamma1_, gamma2_, loss_ : float or array
        The factors and the quantile loss, with one value per level for a list of levels. `lambda_`
        may be infinite: then the interval is purely epistemic, and `gamma1_` is 0.

    Examples
    --------
    Five rows, whose targets lie 1 to 5 above a center of 0. The aleatoric widths are all 1; the
    epistemic widths are as large as the distances, so they alone explain them:

    >>> import numpy as np
    >>> from clearbands import ClearCalibrator
    >>> y, center = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.zeros(5)
    >>> aleatoric, epistemic = np.ones((5, 2)), np.column_stack([y, y])
    >>> calibrator = ClearCalibrator(0.8).fit(y, center, aleatoric, epistemic)
    >>> calibrator.lambda_, calibrator.gamma1_, calibrator.gamma2_
    (inf, 0.0, 1.0)
    >>> calibrator.predict_interval([10.0], [[1.0, 1.0]], [[2.0, 3.0]]).round(6)  # (n, 2)
    array([[ 8., 13.]])
    """

    def __init__(
        self,
        confidence_level: float | Sequence[float] = 0.9,
        *,
        lambdas: Any = "exact",
        least_epistemic: float = 0.0,
        usual_epistemic: float = 0.0,
    ) -> None:
        self.confidence_level = confidence_level
        self.lambdas = lambdas
        self.least_epistemic = least_epistemic
        self.usual_epistemic = usual_epistemic

    def _check_parameters(self) -> None:
        for name in ("least_epistemic", "usual_epistemic"):
            share = getattr(self, name)
            if not 0 <= share < 1:
                raise ValueError(f"{name} must be a share from 0 to below 1, got {share!r}.")
        if isinstance(self.lambdas, str):
            if self.lambdas != "exact":
                raise ValueError(f'lambdas must be "exact" or an array, got {self.lambdas!r}.')
            return
        grid = np.asarray(self.lambdas, float)
        if grid.ndim != 1 or len(grid) == 0 or np.isnan(grid).any() or (grid < 0).any():
            raise ValueError(
                f"lambdas must be a list of numbers from 0 to infinity, got {self.lambdas!r}."
            )

    def _ray(self, rows: CalibrationRows, chooser: CalibrationRows, level: float) -> Ray:
        if chooser is not rows and np.array_equal(chooser.distance, rows.distance):
            warn(
                "The validation rows are the calibration rows: lambda is fitted to the rows that "
                "are counted, and the finite-sample coverage is lost. Give other rows, or leave "
                "validation out.",
                CalibrationWarning,
            )
        k = chooser.capped_rank(level)
        if isinstance(self.lambdas, str):
            lambda_ = search_exactly(chooser, k, alpha(level))
        else:
            lambda_ = search_grid(chooser, k, alpha(level), np.asarray(self.lambdas, float))
        return _ray_of_ratio(rows, self._raise_lambda(chooser, lambda_, k, alpha(level)))

    def _raise_lambda(self, rows: CalibrationRows, best: float, k: float, alpha: float) -> float:
        """Return the best lambda, raised while the rows cannot tell its loss from the smallest."""
        least = max(best, rows.lambda_of_share(self.least_epistemic))
        for share in np.linspace(
            self.usual_epistemic, self.least_epistemic, RAISES, endpoint=False
        ):
            lambda_ = rows.lambda_of_share(share)
            if lambda_ <= least:
                break
            if not rows.tell_apart(lambda_, best, k, alpha):
                return lambda_
        return least


class FixedRatioCalibrator(_Calibrator):
    """Calibrates gamma1 at a given lambda; a ratio of 1 is the paper's baseline "lambda = 1".

    >>> from clearbands import FixedRatioCalibrator
    >>> ones = [[1.0, 1.0]] * 4
    >>> calibrator = FixedRatioCalibrator(0.6, ratio=1.0).fit([2, 4, 6, 8], [0] * 4, ones, ones)
    >>> calibrator.gamma1_, calibrator.gamma2_  # 2 * 3 reaches three of the four rows
    (3.0, 3.0)
    """

    def __init__(
        self, confidence_level: float | Sequence[float] = 0.9, *, ratio: float = 1.0
    ) -> None:
        self.confidence_level = confidence_level
        self.ratio = ratio

    def _check_parameters(self) -> None:
        if not self.ratio >= 0:
            raise ValueError(f"ratio must be a number from 0 to infinity, got {self.ratio!r}.")

    def _ray(self, rows: CalibrationRows, chooser: CalibrationRows, level: float) -> Ray:
        return _ray_of_ratio(rows, float(self.ratio))


class FixedAleatoricCalibrator(_Calibrator):
    """Calibrates lambda at a given gamma1; a gamma1 of 1 is the paper's baseline "gamma1 = 1".

    lambda is at least 0: where the aleatoric widths alone cover more rows than needed, the interval
    keeps these widths.

    >>> from clearbands import FixedAleatoricCalibrator
    >>> ones = [[1.0, 1.0]] * 4
    >>> calibrator = FixedAleatoricCalibrator(0.6).fit([2, 4, 6, 8], [0] * 4, ones, ones)
    >>> calibrator.gamma1_, calibrator.gamma2_  # 1 + 5 reaches three of the four rows
    (1.0, 5.0)
    """

    def __init__(
        self, confidence_level: float | Sequence[float] = 0.9, *, gamma1: float = 1.0
    ) -> None:
        self.confidence_level = confidence_level
        self.gamma1 = gamma1

    def _check_parameters(self) -> None:
        if not 0 < self.gamma1 < math.inf:
            raise ValueError(f"gamma1 must be a positive finite number, got {self.gamma1!r}.")

    def _ray(self, rows: CalibrationRows, chooser: CalibrationRows, level: float) -> Ray:
        return Ray((self.gamma1, 0.0), (0.0, 1.0), rows.scores_beside(self.gamma1))


def _ray_of_ratio(rows: CalibrationRows, lambda_: float) -> Ray:
    scores, weight_a, weight_e = rows.scores(lambda_)
    return Ray((0.0, 0.0), (weight_a, weight_e), scores, lambda_)


def _too_few(rows: CalibrationRows, level: float) -> str:
    count_as = "" if rows.size == len(rows) else f" that count as {rows.size:g}"
    needed = f"at least {rows_needed(level)} are needed"
    return f"{len(rows)} calibration rows{count_as} are too few for level {level:g}: {needed}"


def _warn_if_infinite(gamma: float, rows: CalibrationRows, level: float, k: float) -> None:
    if math.isfinite(gamma):
        return
    if k > rows.size:
        reason = _too_few(rows, level)
    else:
        reason = "too many calibration rows lie off the center where both widths are zero"
    warn(
        f"No finite interval is valid at level {level:g}: {reason}. The bounds are infinite.",
        CalibrationWarning,
    )


def _scale_widths(factors: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return factors * widths; an infinite factor gives infinity, even for a width of zero."""
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.where(np.isinf(factors), np.inf, factors * widths)
    if np.any(np.isinf(distances) & np.isfinite(factors)):
        warn(
            f"Widths of {np.max(widths):g} times a factor of {np.max(np.abs(factors)):g} exceed "
            "the largest number: such bounds are infinite.",
            CalibrationWarning,
        )
    return distances


def relative_weights(
    counts: np.ndarray | None, shift: np.ndarray | None, *, is_guaranteed: bool
) -> tuple[np.ndarray | None, float]:
    """Return the weights of rows in units of a new row's, and this unit as a weight of `shift`.

    A new row counts as much as the heaviest row of `shift`; where a guarantee is claimed, also as
    much as the heaviest of `counts`.
    """
    if counts is not None and is_guaranteed:
        counts = per_heaviest(counts)
    if shift is None:
        return counts, 1.0
    there = np.ones(len(shift), bool) if counts is None else counts > 0
    heaviest = float(np.max(shift[there]))
    return shift / heaviest if counts is None else shift / heaviest * counts, heaviest


class _FactorsByWeight:
    """Weighted conformal prediction: the heavier a new row, the higher the score it needs."""

    def __init__(self, rays: Sequence[Ray], weight: Any, heaviest: float) -> None:
        orders = [np.argsort(ray.scores, kind="stable") for ray in rays]
        self.starts = np.array([ray.start for ray in rays])  # (k, 2)
        self.directions = np.array([ray.direction for ray in rays])  # (k, 2)
        self.scores = np.stack([ray.scores[o] for ray, o in zip(rays, orders, strict=True)])
        self.weight, self.heaviest = weight, heaviest
        self.cumulative = np.stack([np.cumsum(weight[order]) for order in orders])

    def factors(self, weight: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return gamma1 and gamma2, each of shape (n, 1, k)."""
        factors = np.empty((len(weight), 1, len(levels), 2))
        for j, level in enumerate(levels):
            needed = weighted_rank(self.weight, level, weight / self.heaviest)
            reached = np.searchsorted(self.cumulative[j], needed)
            score = np.append(self.scores[j], np.inf)[reached]
            score = np.where(score == -np.inf, 0.0, score)
            with np.errstate(invalid="ignore"):
                step = np.where(self.directions[j] == 0, 0.0, score[:, None] * self.directions[j])
            factors[:, 0, j] = self.starts[j] + step
        return factors[..., 0], factors[..., 1]
