"""Rows, and what is said of them by what did not see them: all that calibration needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearbands.bands import Components
from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.calibrators import ClearCalibrator, FixedRatioCalibrator
from clearbands.calibration.groups import GroupCalibrator
from clearbands.calibration.lambda_path import LambdaPath, lambda_path


class Judged(NamedTuple):
    """What is said of rows by what did not see them."""

    y: np.ndarray
    components: Components
    groups: np.ndarray | None = None
    calibration_weight: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """As calibrators take them."""
        return (self.y, *self.components)

    @property
    def weight(self) -> np.ndarray | None:
        """(n,): what each row counts among new rows; None where all count alike."""
        weights = [w for w in (self.calibration_weight, self.sample_weight) if w is not None]
        return np.prod(weights, axis=0) if weights else None


def for_groups(calibrator: Any) -> GroupCalibrator:
    """The calibrator, of every group."""
    if isinstance(calibrator, GroupCalibrator):
        return calibrator
    if not isinstance(calibrator, ClearCalibrator | FixedRatioCalibrator):
        raise ValueError(
            f"{type(calibrator).__name__} cannot calibrate groups: choose ClearCalibrator or "
            "FixedRatioCalibrator."
        )
    return GroupCalibrator(calibrator)


def fit_calibrator(calibrator: Any, held_out: Judged, chooser: Judged | None) -> Any:
    """gamma1 from the rows held out, lambda from the same or from those of `chooser`."""
    validation = None if chooser is None else chooser.arrays
    labels = {
        "groups": held_out.groups,
        "calibration_weight": held_out.calibration_weight,
        "sample_weight": held_out.sample_weight,
        "validation_weight": None if chooser is None else chooser.weight,
    }
    given = {name: label for name, label in labels.items() if label is not None}
    return calibrator.fit(*held_out.arrays, validation=validation, **given)


def lambda_paths(
    calibrator: Any, rows: Judged, levels: list[float], lambdas: np.ndarray
) -> tuple[LambdaPath, ...]:
    """The loss over lambda at each level; none for a calibrator that has no lambda."""
    if isinstance(calibrator, AdditiveCalibrator):
        return ()
    y, center, aleatoric, epistemic = rows.arrays
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
