"""How a model fares on rows that its members did not see: what people want to know after `fit`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearbands.rows.targets import OFTEN, Targets
from clearbands.uncertainty.bands import Components, covered, make_interval


@dataclass(frozen=True)
class UnseenScores:
    """Of the rows that calibrated a model, each judged by members that did not see it.

    These rows chose how wide intervals are, so their coverage is near the level by construction;
    a report on rows that were kept out of the fit puts it to the test.
    """

    n_rows: int
    coverage: tuple[float, ...]  # of each level
    width: tuple[float, ...]  # the median of each level
    rmse: float  # of the center
    rmse_of_mean: float  # of a model that always says the mean of these rows
    lowest_bound: float  # at the first level
    lowest_target: float
    is_often_negative: bool  # whether so many lower bounds are that `fit` warns of it

    @classmethod
    def of(
        cls,
        z: np.ndarray,
        calibrated: Components,
        targets: Targets,
        weight: np.ndarray | None = None,
    ) -> UnseenScores:
        """From targets (n,) and calibrated distances on the scale of the model."""
        y, center = targets.center(z), targets.center(calibrated.center)
        distances = np.add(calibrated.aleatoric, calibrated.epistemic)
        bounds = targets.points(make_interval(calibrated.center, distances), calibrated.center)
        levels = range(bounds.shape[2])
        mean = np.average(y, weights=weight)
        return cls(
            n_rows=len(y),
            coverage=tuple(
                float(np.average(covered(y, bounds[:, :, j]), weights=weight)) for j in levels
            ),
            width=tuple(float(np.median(bounds[:, 1, j] - bounds[:, 0, j])) for j in levels),
            rmse=_root_mean_square(y - center, weight),
            rmse_of_mean=_root_mean_square(y - mean, weight),
            lowest_bound=float(bounds[:, 0, 0].min()),
            lowest_target=float(y.min()),
            is_often_negative=bool(np.mean(bounds[:, 0, 0] < 0) > OFTEN),
        )


def _root_mean_square(errors: np.ndarray, weight: np.ndarray | None) -> float:
    return float(np.sqrt(np.average(errors**2, weights=weight)))
