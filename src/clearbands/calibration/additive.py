"""Conformalized quantile regression on arrays: one number moves all bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.calibration_rows import TwoSidedRows
from clearbands.calibration.calibrators import Ray, _Calibrator


class AdditiveCalibrator(_Calibrator):
    """Conformalized quantile regression: both bounds move outwards by gamma2, or inwards.

    The bounds `center - aleatoric` and `center + aleatoric` move by `gamma2_ * epistemic`; without
    epistemic widths by the same distance everywhere, which is CQR as Romano et al. define it. The
    score is that of CQR, the larger of lower - y and y - upper. `gamma1_` is 1. `gamma2_` is
    negative where the bounds cover more rows than needed; a bound that would then cross the center
    stops there, which only makes the interval longer and leaves its coverage guaranteed.

    The rows choose only gamma2, so with too few of them the bounds are infinite.

    >>> from clearbands import AdditiveCalibrator
    >>> ones = [[1.0, 1.0]] * 4
    >>> calibrator = AdditiveCalibrator(0.6).fit([2, 4, 6, 8], [0] * 4, ones)
    >>> calibrator.gamma2_  # bounds of -1 and 1 that move by 5 reach three of the four rows
    5.0
    >>> calibrator.predict_interval([10.0], [[2.0, 3.0]]).round(6)
    array([[ 3., 18.]])
    """

    _rows_type = TwoSidedRows
    _may_fall_short = False

    def __init__(self, confidence_level: float | Sequence[float] = 0.9) -> None:
        self.confidence_level = confidence_level

    def fit(
        self,
        y: ArrayLike,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any, Any, Any] | None = None,
        sample_weight: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
        validation_weight: ArrayLike | None = None,
    ) -> AdditiveCalibrator:
        """Choose gamma2 as `ClearCalibrator.fit` chooses its factors.

        Without `epistemic` these widths are 1; `validation` is not used.
        """
        super().fit(
            y,
            center,
            aleatoric,
            _widths_or_ones(epistemic, aleatoric),
            sample_weight=sample_weight,
            calibration_weight=calibration_weight,
        )
        return self

    def _ray(self, rows: TwoSidedRows, chooser: TwoSidedRows, level: float) -> Ray:
        return Ray((1.0, 0.0), (0.0, 1.0), rows.added())

    def scale(
        self,
        aleatoric: ArrayLike,
        epistemic: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both calibrated widths; a gamma2 below 0 shortens the aleatoric one."""
        aleatoric, added = super().scale(
            aleatoric, _widths_or_ones(epistemic, aleatoric), weight=weight
        )
        return np.maximum(aleatoric + np.minimum(added, 0), 0), np.maximum(added, 0)

    def predict_interval(
        self,
        center: ArrayLike,
        aleatoric: ArrayLike,
        epistemic: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
    ) -> np.ndarray:
        widths = _widths_or_ones(epistemic, aleatoric)
        return super().predict_interval(center, aleatoric, widths, weight=weight)


def _widths_or_ones(widths: ArrayLike | None, like: ArrayLike) -> ArrayLike:
    return np.ones((len(np.asarray(like)), 2)) if widths is None else widths
