"""The calibration set: targets, with centers and widths by members that did not see them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.calibrators import (
    ClearCalibrator,
    FixedRatioCalibrator,
    relative_weights,
)
from clearbands.calibration.conditional import ConditionalCalibrator
from clearbands.calibration.groups import GroupCalibrator
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.lambda_path import LambdaPath, lambda_path
from clearbands.rows.bands import Components
from clearbands.rows.split import Rows
from clearbands.rows.targets import Support


class CalibrationSet(NamedTuple):
    """Targets of rows, with centers and widths by members that did not see these rows."""

    y: np.ndarray
    components: Components
    calibration_groups: np.ndarray | None = None
    calibration_weight: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        rows: Rows,
        components: Components,
        support: Support,
        shrinkage: np.ndarray | None = None,
    ) -> CalibrationSet:
        """Build the set, with centers inside the support.

        More members predict a new row than a row here, so its error is smaller: `shrinkage` (n,) is
        the share of the error that remains, and y moves towards the center accordingly. By default
        y stays.
        """
        inside = components._replace(center=support.clip(components.center))
        y = rows.y
        if shrinkage is not None:
            y = inside.center + shrinkage * (y - inside.center)
        return cls(y, inside, rows.calibration_groups, rows.calibration_weight, rows.sample_weight)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the coverage, if other rows chose lambda."""
        if self.calibration_groups is not None:
            return Guarantee.within(self.calibration_groups, self.weight)
        return Guarantee.of("conformal", self.weight)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The targets, centers and widths, in the order of the arguments of `fit`."""
        return (self.y, *self.components)

    @property
    def weight(self) -> np.ndarray | None:
        """The weight of each row (n,), from both kinds of weights; None where all count alike."""
        weights = [w for w in (self.calibration_weight, self.sample_weight) if w is not None]
        return np.prod(weights, axis=0) if weights else None


def for_groups(
    calibrator: BaseEstimator, calibration_groups: np.ndarray
) -> GroupCalibrator | ConditionalCalibrator:
    """Return a calibrator of every group; groups that may overlap come as one field each."""
    kind = ConditionalCalibrator if calibration_groups.dtype.names else GroupCalibrator
    if isinstance(calibrator, kind):
        return calibrator
    if isinstance(calibrator, GroupCalibrator | ConditionalCalibrator):
        takes = "a label for every row" if kind is ConditionalCalibrator else "several columns"
        raise ValueError(
            f"{type(calibrator).__name__} takes {takes} as calibration_groups: choose "
            f"{kind.__name__}, or leave calibrator open."
        )
    if not isinstance(calibrator, ClearCalibrator | FixedRatioCalibrator):
        raise ValueError(
            f"{type(calibrator).__name__} cannot calibrate groups: choose ClearCalibrator or "
            "FixedRatioCalibrator."
        )
    return kind(calibrator)


def fit_calibrator(
    calibrator: BaseEstimator, held_out: CalibrationSet, chooser: CalibrationSet | None
) -> BaseEstimator:
    """Choose gamma1 on the held-out rows, and lambda on the rows of `chooser` or the same rows."""
    by_group = isinstance(calibrator, GroupCalibrator | ConditionalCalibrator)
    if by_group and held_out.calibration_groups is None:
        raise ValueError(f"{type(calibrator).__name__} needs calibration_groups: give them to fit.")
    validation = None if chooser is None else chooser.arrays
    labels = {
        "calibration_groups": held_out.calibration_groups,
        "calibration_weight": held_out.calibration_weight,
        "sample_weight": held_out.sample_weight,
        "validation_weight": None if chooser is None else chooser.weight,
    }
    of_rows = {name: label for name, label in labels.items() if label is not None}
    return calibrator.fit(*held_out.arrays, validation=validation, **of_rows)


def scale(
    calibrator: BaseEstimator,
    components: Components,
    calibration_groups: np.ndarray | None = None,
    weight: ArrayLike | None = None,
) -> Components:
    """Return the components with calibrated widths, for rows with these labels or weights."""
    if calibration_groups is not None and weight is not None:
        raise ValueError(
            "calibration_groups and calibration_weight cannot be used at once: give one."
        )
    labels = {"calibration_groups": calibration_groups, "weight": weight}
    of_rows = {name: value for name, value in labels.items() if value is not None}
    center, *widths = components
    return Components(center, *calibrator.scale(*widths, **of_rows))


def keep_levels(
    calibrator: BaseEstimator,
    held_out: CalibrationSet,
    levels: np.ndarray,
    *,
    chooser: CalibrationSet | None,
) -> AnyLevel | None:
    """Return the bands of all levels, from the calibration rows; None where no level is finite.

    The rows of a `chooser` chose lambda, and here they choose the shape of the bands, too. Bounds
    are then not capped: groups of too few rows have infinite bounds, and are left out.
    """
    center, *parts = scale(calibrator, held_out.components, held_out.calibration_groups)
    distances = np.add(*parts)
    is_finite = np.isfinite(distances).all(axis=1)
    rows = is_finite[:, is_finite.any(axis=0)].all(axis=1)
    if not (is_finite.any() and rows.any()):
        return None
    may_fall_short = chooser is None and not isinstance(calibrator, AdditiveCalibrator)
    weight, _ = relative_weights(
        held_out.sample_weight, held_out.calibration_weight, is_guaranteed=not may_fall_short
    )
    shape = None
    if chooser is not None:  # the bands of all groups together
        pooled = getattr(calibrator, "pooled_", calibrator)
        shape = keep_levels(pooled, chooser._replace(calibration_groups=None), levels, chooser=None)
    return AnyLevel.of(
        levels,
        held_out.y[rows],
        center[rows],
        distances[rows],
        sample_weight=None if weight is None else weight[rows],
        may_fall_short=may_fall_short,
        shape=shape,
    )


def lambda_paths(
    calibrator: BaseEstimator, rows: CalibrationSet, levels: list[float]
) -> tuple[LambdaPath, ...]:
    """Return the loss over lambda at each level; nothing for a calibrator that has no lambda."""
    if isinstance(calibrator, AdditiveCalibrator):
        return ()
    y, center, aleatoric, epistemic = rows.arrays
    lambdas = np.atleast_1d(calibrator.lambda_)
    return tuple(
        lambda_path(
            y,
            center,
            aleatoric[:, :, j],
            epistemic[:, :, j],
            level,
            lambdas[j],
            sample_weight=rows.weight,
        )
        for j, level in enumerate(levels)
    )
