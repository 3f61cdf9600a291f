"""Coverage in every group: all rows choose lambda, the rows of each group gamma1 (Mondrian)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.calibration_rows import CalibrationRows
from clearbands.calibration.calibrators import (
    ClearCalibrator,
    FixedRatioCalibrator,
    relative_weights,
)
from clearbands.calibration.conformal import CalibrationWarning, rows_needed
from clearbands.calibration.guarantee import Guarantee, first_five
from clearbands.rows.bands import make_interval
from clearbands.rows.checks import check_count, check_group_labels, check_vector
from clearbands.rows.group_columns import are_columns
from clearbands.rows.levels import check_levels
from clearbands.rows.messages import renamed, warn
from clearbands.rows.settings import UnknownGroups

SMALL = ("merge", "pool")
UNKNOWN = get_args(UnknownGroups)


class GroupCalibration(NamedTuple):
    """How one group was calibrated."""

    label: str
    n: int  # the number of its rows
    rows: str  # which rows gave the gammas: "own", "merged" or "pooled"
    gamma1: np.ndarray  # (k,)
    gamma2: np.ndarray  # (k,)


class CalibratorOfGroups(BaseEstimator, ABC):
    """The base of calibrators whose rows belong to groups."""

    calibrator: BaseEstimator | None
    confidence_level: float | Sequence[float]

    def _fit_pooled(
        self, arrays: Sequence[np.ndarray], validation: tuple[Any, ...] | None, **weights: Any
    ) -> bool:
        """Calibrate all rows together; return whether these rows chose nothing but gamma1."""
        levels = check_levels(self.confidence_level)
        chosen = ClearCalibrator() if self.calibrator is None else clone(self.calibrator)
        self.pooled_ = chosen.set_params(confidence_level=list(levels)).fit(
            *arrays, validation=validation, **weights
        )
        self.levels_ = self.pooled_.levels_
        return validation is not None or isinstance(chosen, FixedRatioCalibrator)

    @abstractmethod
    def scale(
        self, aleatoric: ArrayLike, epistemic: ArrayLike, *, calibration_groups: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both calibrated widths (n, 2, k), each row with the factors of its groups."""

    @renamed(groups="calibration_groups")
    def predict_interval(
        self,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike,
        *,
        calibration_groups: Any,
    ) -> np.ndarray:
        """Return lower and upper bounds (n, 2), or (n, 2, k) for k levels."""
        center = check_vector(center, "center", len(np.asarray(aleatoric)))
        widths = np.add(*self.scale(aleatoric, epistemic, calibration_groups=calibration_groups))
        interval = make_interval(center, widths)
        return interval[:, :, 0] if isinstance(self.confidence_level, Real) else interval


class GroupCalibrator(CalibratorOfGroups):
    """A calibrator whose intervals hold within every group, not only on average.

    All rows together choose lambda; then each group gets its own gamma1, from the rank among its
    own rows. With `validation` rows to choose lambda, the coverage of each group is guaranteed in
    finite samples: given n rows of the group it follows the Beta distribution of
    `diagnostics.beta_parameters(n, level)`. Groups of too few rows for the level then have infinite
    bounds, and a warning names them; without `validation` rows, such groups share the rows of
    others, and `guarantee_` names them.

    Parameters
    ----------
    calibrator : optional
        The calibrator that chooses lambda: a `ClearCalibrator` by default, or a
        `FixedRatioCalibrator`.
    confidence_level : float or list of float
    smallest : int, optional
        Without `validation` rows, a group with fewer rows than this gets no gamma1 of its own. The
        default is the number of rows that finite bounds at the highest level need (9 for 0.9, 19
        for 0.95).
    small : "merge" or "pool"
        Whether these groups are calibrated together as one group, or on the rows of all groups.
        Merged groups that are still too few are pooled.
    unknown : "refuse" or "pool"
        What to do with groups that `fit` did not see. "refuse" raises an error that names them;
        "pool" gives them the gamma1 of all rows, with a warning.

    Attributes
    ----------
    calibration_groups_ : tuple of GroupCalibration
        How each group was calibrated, ordered by label.
    pooled_ : calibrator
        The calibrator of all rows.
    guarantee_ : str
        What holds for the coverage.
    sharing_ : tuple of str
        The groups whose factors came from rows of other groups, too.

    Examples
    --------
    Two towns with the same widths, but in the second the targets scatter twice as far:

    >>> import numpy as np
    >>> from clearbands import GroupCalibrator
    >>> towns = np.repeat(["Aix", "Bex"], 9)
    >>> y, ones = np.tile(np.arange(1.0, 10.0), 2) * np.repeat([1, 2], 9), np.ones((18, 2))
    >>> calibrator = GroupCalibrator(confidence_level=0.8)
    >>> calibrator = calibrator.fit(y, 0 * y, ones, ones, calibration_groups=towns)
    >>> new = ([0.0, 0.0], ones[:2], ones[:2])
    >>> calibrator.predict_interval(*new, calibration_groups=["Aix", "Bex"]).round(6)
    array([[ -8.,   8.],
           [-16.,  16.]])
    """

    def __init__(
        self,
        calibrator: BaseEstimator | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        smallest: int | None = None,
        small: str = "merge",
        unknown: str = "refuse",
    ) -> None:
        self.calibrator = calibrator
        self.confidence_level = confidence_level
        self.smallest = smallest
        self.small = small
        self.unknown = unknown

    @renamed(groups="calibration_groups")
    def fit(
        self,
        y: ArrayLike,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike,
        *,
        calibration_groups: ArrayLike | None,
        validation: tuple[Any, Any, Any, Any] | None = None,
        sample_weight: ArrayLike | None = None,
        validation_weight: ArrayLike | None = None,
    ) -> GroupCalibrator:
        """Fit as `ClearCalibrator`, with a label (n,) for every row as `calibration_groups`."""
        self._check_parameters()
        arrays = [np.asarray(array, float) for array in (y, center, aleatoric, epistemic)]
        labels = check_group_labels(calibration_groups, len(np.atleast_1d(arrays[0])))
        nothing_chosen = self._fit_pooled(
            arrays, validation, sample_weight=sample_weight, validation_weight=validation_weight
        )
        self.smallest_ = self.smallest or max(map(rows_needed, self.levels_.tolist()))
        weight = None if sample_weight is None else np.asarray(sample_weight, float)
        self.calibration_groups_ = self._calibrate(
            arrays, labels, weight, is_split=validation is not None
        )
        self.n_calibration_ = len(labels)
        is_apart = validation is not None or weight is None
        is_within = nothing_chosen and is_apart and not self.sharing_
        guarantee = Guarantee.within(labels, weight) if is_within else Guarantee.JOINT
        self.guarantee_ = guarantee.with_exceptions(self.sharing_)
        return self

    @property
    def sharing_(self) -> tuple[str, ...]:
        """The groups whose factors came from rows of other groups, too."""
        return tuple(group.label for group in self.calibration_groups_ if group.rows != "own")

    def _check_parameters(self) -> None:
        if self.smallest is not None:
            check_count(self.smallest, "smallest")
        if self.small not in SMALL:
            raise ValueError(f'small must be "merge" or "pool", got {self.small!r}.')
        if self.unknown not in UNKNOWN:
            raise ValueError(f'unknown must be "refuse" or "pool", got {self.unknown!r}.')

    def _calibrate(
        self,
        arrays: list[np.ndarray],
        labels: np.ndarray,
        weight: np.ndarray | None,
        *,
        is_split: bool,
    ) -> tuple[GroupCalibration, ...]:
        names, counts = np.unique(labels, return_counts=True)
        is_small = (counts < self.smallest_) & (not is_split)
        merged = np.isin(labels, names[is_small])
        factors = {"pooled": self.pooled_.factors_[:, 1:]}
        if self.small == "merge" and merged.sum() >= self.smallest_:
            factors["merged"] = self._factors(arrays, merged, weight, is_split)
        shared = "merged" if "merged" in factors else "pooled"
        calibration_groups = []
        for name, n, small in zip(names.tolist(), counts.tolist(), is_small, strict=True):
            rows = shared if small else "own"
            own = (
                factors[shared]
                if small
                else self._factors(arrays, labels == name, weight, is_split)
            )
            calibration_groups.append(GroupCalibration(name, n, rows, own[:, 0], own[:, 1]))
        self._warn_of_infinite(calibration_groups)
        return tuple(calibration_groups)

    def _factors(
        self, arrays: list[np.ndarray], rows: np.ndarray, weight: np.ndarray | None, is_split: bool
    ) -> np.ndarray:
        """Return gamma1 and gamma2 (k, 2) of some rows at the pooled lambda."""
        y, center, aleatoric, epistemic = (array[rows] for array in arrays)
        counts = None if weight is None else weight[rows]
        counts, _ = relative_weights(counts, None, is_guaranteed=is_split)
        factors = []
        for j, level in enumerate(self.levels_.tolist()):
            ale, epi = (w[:, :, j] if w.ndim == 3 else w for w in (aleatoric, epistemic))
            group = CalibrationRows.from_widths(y, center, ale, epi, counts)
            factors.append(group.factors(self.pooled_.factors_[j, 0], group.rank(level)))
        return np.array(factors)

    def _warn_of_infinite(self, calibration_groups: list[GroupCalibration]) -> None:
        for j, level in enumerate(self.levels_.tolist()):
            sizes = {
                group.label: group.n
                for group in calibration_groups
                if group.rows == "own" and not np.isfinite([group.gamma1[j], group.gamma2[j]]).all()
            }
            if sizes:
                rows = first_five([f"{label} ({n} calibration rows)" for label, n in sizes.items()])
                warn(
                    f"No finite interval is valid at level {level:g} within {rows}: at least "
                    f"{rows_needed(level)} rows are needed that some width reaches. The bounds "
                    "there are infinite.",
                    CalibrationWarning,
                )

    def scale(
        self, aleatoric: ArrayLike, epistemic: ArrayLike, *, calibration_groups: ArrayLike | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both calibrated widths (n, 2, k), each row with the gammas of its group."""
        check_is_fitted(self, "calibration_groups_")
        if are_columns(calibration_groups):
            raise ValueError(
                "calibration_groups are several columns; the model was calibrated with one label "
                "per row."
            )
        labels = check_group_labels(calibration_groups, len(np.asarray(aleatoric)))
        of_label = {group.label: (group.gamma1, group.gamma2) for group in self.calibration_groups_}
        self._check_known(labels, of_label)
        pooled = self.pooled_.factors_[:, 1], self.pooled_.factors_[:, 2]
        gammas = np.array([of_label.get(label, pooled) for label in labels.tolist()])
        return self.pooled_.scale_by(aleatoric, epistemic, gammas[:, :1], gammas[:, 1:])

    def _check_known(self, labels: np.ndarray, known: Any) -> None:
        new = sorted({*labels.tolist()} - {*known})
        if not new:
            return
        strange = first_five(new)
        if self.unknown == "refuse":
            raise ValueError(
                f"Groups that were not calibrated: {strange}. Give groups that fit saw, or fit "
                'with GroupCalibrator(unknown="pool") (the command: --unknown-groups pool), which '
                "gives others the factors of all rows together."
            )
        warn(
            f"Groups that were not calibrated ({strange}) get the factors of all rows together.",
            CalibrationWarning,
        )
