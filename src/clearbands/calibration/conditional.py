"""Coverage in groups that overlap, and along functions of the rows (Gibbs, Cherian, Candès 2025).

Where every row is in exactly one group, each group has a gamma1 of its own (`groups.py`). Where a
row may be in several groups, its gamma1 is a sum with one number per group, which a quantile
regression of the scores on the groups gives. The row to predict takes part in the regression, with
the largest score at which it still counts as covered, so the coverage holds for any number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.calibration_rows import CalibrationRows
from clearbands.calibration.conformal import CalibrationWarning, suffices
from clearbands.calibration.groups import CalibratorOfGroups
from clearbands.calibration.guarantee import Guarantee, first_five
from clearbands.calibration.quantile_fit import QuantileFit
from clearbands.rows.group_columns import read_group_columns
from clearbands.rows.messages import warn

SHORT = 1e-8  # how far u stays below the level, at which a row just counts as covered
SAME = 1e-9  # the relative difference below which a function equals a sum of the others


class ConditionalCalibrator(CalibratorOfGroups):
    """A calibrator whose intervals hold in groups that overlap, and along functions of the rows.

    `calibration_groups` are several columns: one of True and False, or of 0 and 1, is a group; one
    of text is a group for each of its values; and one of other numbers is a function of the row. A
    row may be in several groups or in none. With `validation` rows to choose lambda, the coverage
    is at least the level, in finite samples, among all rows and in every group; and so it is when
    rows are weighted by any sum of groups and functions that is nowhere negative. Each row gets
    factors of its own. Groups of too few rows for the level have infinite bounds, and a warning
    names them.

    Parameters
    ----------
    calibrator : optional
        The calibrator that chooses lambda: a `ClearCalibrator` by default, or a
        `FixedRatioCalibrator`.
    confidence_level : float or list of float
    randomized : bool
        Whether each row draws at random where its own score may lie among those of the calibration
        rows. If no scores are equal, the coverage is then exactly the level in every group; without
        draws it exceeds the level by up to one row per group. The bounds are those of one draw: in
        a group of few calibration rows an interval may be empty or infinite by chance.
    random_state : int, RandomState or None
        The seed of these draws. With a number, every call draws the same.

    Attributes
    ----------
    names_ : tuple of str
        The names of the groups and functions: a column of text gives one per value.
    pooled_ : calibrator
        The calibrator of all rows.
    guarantee_ : str
        What holds for the coverage.

    References
    ----------
    I. Gibbs, J. J. Cherian and E. J. Candès, "Conformal prediction with conditional guarantees",
    Journal of the Royal Statistical Society B, 2025.

    Examples
    --------
    The targets of the last 20 rows scatter twice as far; ten of them are in two groups:

    >>> import numpy as np
    >>> from clearbands import ConditionalCalibrator
    >>> far, late = np.arange(40) >= 20, np.arange(40) >= 30
    >>> y, ones = np.tile(np.arange(1.0, 11.0), 4) * (1 + far), np.ones((40, 2))
    >>> groups = np.column_stack([far, late])
    >>> calibrator = ConditionalCalibrator(confidence_level=0.8)
    >>> calibrator = calibrator.fit(y, 0 * y, ones, ones, calibration_groups=groups)
    >>> new = ([0.0, 0.0], ones[:2], ones[:2])
    >>> rows = [[False, False], [True, True]]
    >>> calibrator.predict_interval(*new, calibration_groups=rows).round(6)
    array([[ -9.,   9.],
           [-18.,  18.]])
    """

    def __init__(
        self,
        calibrator: BaseEstimator | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        randomized: bool = False,
        random_state: Any = None,
    ) -> None:
        self.calibrator = calibrator
        self.confidence_level = confidence_level
        self.randomized = randomized
        self.random_state = random_state

    def fit(
        self,
        y: ArrayLike,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike,
        *,
        calibration_groups: Any,
        validation: tuple[Any, Any, Any, Any] | None = None,
        sample_weight: ArrayLike | None = None,
        validation_weight: ArrayLike | None = None,
    ) -> ConditionalCalibrator:
        """Fit as `ClearCalibrator`, with a table or array (n, columns) as `calibration_groups`."""
        if not (sample_weight is None and validation_weight is None):
            raise ValueError(
                "Calibration groups that may overlap know no weights: leave out sample_weight, or "
                "give one label per row in calibration_groups."
            )
        arrays = [np.asarray(array, float) for array in (y, center, aleatoric, epistemic)]
        groups = read_group_columns(calibration_groups, len(np.atleast_1d(arrays[0])))
        nothing_chosen = self._fit_pooled(arrays, validation)
        self._learn_columns(groups)
        functions = self._functions(groups)[:, self.independent_]
        y, center, aleatoric, epistemic = arrays
        fits, weights = [], []
        for j, level in enumerate(self.levels_.tolist()):
            ale, epi = (w[:, :, j] if w.ndim == 3 else w for w in (aleatoric, epistemic))
            rows = CalibrationRows.from_widths(y, center, ale, epi)
            scores, *weight = rows.scores(self.pooled_.factors_[j, 0])
            fits.append(QuantileFit(scores, functions, level))
            weights.append(weight)
        self.functions_, self.weights_ = functions, np.array(weights)
        self.scores_ = np.stack([fit.scores for fit in fits])
        self.on_fit_ = np.stack([fit.on_fit for fit in fits])
        self.n_calibration_ = len(functions)
        self.guarantee_ = (Guarantee.OVERLAPPING if nothing_chosen else Guarantee.JOINT).value
        return self

    def _learn_columns(self, groups: np.ndarray) -> None:
        """Store which functions the columns give, and which of them are linearly independent."""
        fields = groups.dtype.names or ()
        self.columns_ = tuple(
            (name, tuple(np.unique(groups[name]).tolist()) if _is_text(groups, name) else ())
            for name in fields
        )
        self.names_ = tuple(
            title
            for name, labels in self.columns_
            for title in ([f"{name}={label}" for label in labels] or [name])
        )
        self.shift_, self.unit_ = np.zeros(len(self.names_)), np.ones(len(self.names_))
        functions = self._functions(groups)[:, 1:]
        self.sizes_ = np.sum(functions != 0, axis=0)
        # Numbers other than 0 and 1 are centered and divided by their standard deviation. With the
        # constant, their sums remain the same set of functions.
        plain = np.isin(functions, (0.0, 1.0)).all(axis=0)
        deviation = functions.std(axis=0)
        self.shift_ = np.where(plain, 0.0, functions.mean(axis=0))
        self.unit_ = np.where(plain | (deviation == 0), 1.0, deviation)
        functions = self._functions(groups)
        r, order = qr(functions, mode="r", pivoting=True)
        size = np.abs(np.diag(r))
        rank = int(np.sum(size > SAME * size[0]))
        self.independent_ = np.sort(order[:rank])
        self.others_ = np.linalg.lstsq(functions[:, self.independent_], functions, rcond=None)[0]

    def _functions(self, groups: np.ndarray) -> np.ndarray:
        """Return a constant and each group and function of the rows, (n, 1 + columns)."""
        columns = [np.ones(len(groups))]
        for name, labels in self.columns_:
            columns += (
                [(groups[name] == label).astype(float) for label in labels]
                if labels
                else [groups[name]]
            )
        functions = np.column_stack(columns)
        functions[:, 1:] = (functions[:, 1:] - self.shift_) / self.unit_
        return functions

    def _cutoffs(self, groups: np.ndarray) -> np.ndarray:
        """Return the scores (n, k) up to which rows of these groups are covered."""
        functions = self._functions(groups)
        known = functions[:, self.independent_]
        # A group without calibration rows sets no limit to the scores.
        is_new = (np.abs(functions - known @ self.others_) > SAME * 10).any(axis=1)
        cutoffs = np.full((len(known), len(self.levels_)), np.inf)
        draws = None
        if self.randomized:
            draws = check_random_state(self.random_state).uniform(size=len(known))
        parts = zip(self.levels_.tolist(), self.scores_, self.on_fit_, strict=True)
        for j, (level, scores, on_fit) in enumerate(parts):
            fit = QuantileFit(scores, self.functions_, level, on_fit)
            u = np.full(len(known), level - SHORT) if draws is None else level - 1 + draws
            cutoffs[~is_new, j] = fit.cutoffs(known[~is_new], u[~is_new])
        return np.maximum(cutoffs, 0)

    def _warn_of_infinite(self, groups: np.ndarray, endless: np.ndarray) -> None:
        members = self._functions(groups)[:, 1:] * self.unit_ + self.shift_ != 0
        for level, rows in zip(self.levels_.tolist(), endless.T, strict=True):
            if not rows.any():
                continue
            sizes = zip(self.names_, self.sizes_.tolist(), members.T, strict=True)
            within = [
                f"{name} ({n} calibration rows)"
                for name, n, own in sizes
                if own.any() and rows[own].all() and not suffices(level, n)
            ]
            where = f"within {first_five(within)}" if within else f"for {rows.sum()} rows"
            warn(
                f"No finite interval is valid at level {level:g} {where}: too few calibration "
                "rows are like these. The bounds there are infinite.",
                CalibrationWarning,
            )

    def scale(
        self, aleatoric: ArrayLike, epistemic: ArrayLike, *, calibration_groups: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both calibrated widths (n, 2, k), each row with its own factors."""
        check_is_fitted(self, "functions_")
        groups = read_group_columns(calibration_groups, len(np.asarray(aleatoric)))
        self._check_columns(groups)
        cutoffs = self._cutoffs(groups)
        if not self.randomized:
            self._warn_of_infinite(groups, np.isinf(cutoffs))
        cutoffs = cutoffs[:, None, :]
        with np.errstate(invalid="ignore"):
            gammas = [np.where(weight == 0, 0.0, weight * cutoffs) for weight in self.weights_.T]
        return self.pooled_.scale_by(aleatoric, epistemic, *gammas)

    def _check_columns(self, groups: np.ndarray) -> None:
        names = tuple(name for name, _ in self.columns_)
        columns = groups.dtype.names or ()
        if columns != names:
            raise ValueError(
                f"calibration_groups have the columns {first_five(columns)}; the model was "
                f"calibrated with {first_five(names)}."
            )
        for name, labels in self.columns_:
            if bool(labels) != _is_text(groups, name):
                kind = "text" if labels else "numbers or True and False"
                raise ValueError(f"The column {name!r} of calibration_groups held {kind} in fit.")
            new = sorted(set(groups[name].tolist()) - set(labels)) if labels else []
            if new:
                raise ValueError(
                    f"Groups of {name!r} that were not calibrated: {first_five(new)}. Give groups "
                    "that fit saw."
                )


def _is_text(groups: np.ndarray, name: str) -> bool:
    return bool(groups.dtype[name].kind == "U")
