"""How a model fares with rows in the order of time: what the page of `clearbands monitor` draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.rolling import Rolling
from clearbands.rows.levels import find_level, normal_distances
from clearbands.rows.typed import TableLike

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

FEWEST_ROWS = 60
POINTS = 120  # at most, along each line
SMALLEST_STRETCH = 30  # rows that a share is taken over
N_CELLS = 10  # of the positions, to compare their distribution


@dataclass(frozen=True)
class Watched:
    """Shares and means over stretches of rows, at points in time."""

    level: float
    n_rows: int
    stretch: int  # how many rows each point looks back
    ends: np.ndarray  # (points,): the last row of each stretch
    times: np.ndarray  # (n,): of the rows, or their numbers
    coverage: np.ndarray  # (points,): of the intervals of the fit
    updated: np.ndarray  # (points,): of those that `update` would have given
    aleatoric: np.ndarray  # (points,): mean widths of the fit
    epistemic: np.ndarray
    strange: np.ndarray | None  # (points,): shares of unfamiliar rows
    drift: np.ndarray  # (points,): how far the errors are from those of the calibration rows
    covered: float  # share of all rows, by the fit
    covered_updated: float  # and with updates
    advice: str | None  # to fit anew, after the last row

    @property
    def worst(self) -> int:
        """The point at which the fit covered least."""
        return int(np.argmin(self.coverage))


def watch(
    model: ClearRegressor,
    X: TableLike,
    y: np.ndarray,
    *,
    times: np.ndarray | None = None,
    calibration_groups: ArrayLike | None = None,
    confidence_level: float | None = None,
    stretch: int | None = None,
) -> Watched:
    """Of rows in the order of time, that the fit did not see; what was updated is left aside.

    Each point looks back over `stretch` rows, by default a twentieth of them.
    """
    n = len(y)
    if n < FEWEST_ROWS:
        raise ValueError(f"{n} rows are too few to watch a model: give at least {FEWEST_ROWS}.")
    j = find_level(model.levels_, confidence_level)
    stretch = min(max(SMALLEST_STRETCH, n // 20) if stretch is None else stretch, n)
    ends = np.unique(np.linspace(stretch - 1, n - 1, POINTS).astype(int))
    found = model.placed(X, y, calibration_groups=calibration_groups)
    assert model.any_level_ is not None  # else nothing could be placed
    calibration = model.any_level_.positions
    inside = np.abs(found.positions) <= normal_distances(model.levels_)[j]
    pace = model.rolling_.pace if hasattr(model, "rolling_") else model.first_pace()
    rolling = Rolling.begin(model.levels_, calibration, pace)
    below, above = rolling.judge(found.positions)[:, j].T
    kept = ~(below | above)
    parts = model.without_updates().predict_uncertainties(X, calibration_groups=calibration_groups)[
        j
    ]

    def mean(values: np.ndarray) -> np.ndarray:
        sums = np.concatenate([[0.0], np.cumsum(values.astype(float))])
        return (sums[ends + 1] - sums[ends + 1 - stretch]) / stretch

    return Watched(
        level=float(model.levels_[j]),
        n_rows=n,
        stretch=stretch,
        ends=ends,
        times=1 + np.arange(n) if times is None else times,
        coverage=mean(inside),
        updated=mean(kept),
        aleatoric=mean(parts.aleatoric.sum(axis=1)),
        epistemic=mean(parts.epistemic.sum(axis=1)),
        strange=None if found.strange is None else mean(found.strange),
        drift=_drift(calibration, found.positions, ends, stretch),
        covered=float(inside.mean()),
        covered_updated=float(kept.mean()),
        advice=rolling.after(found.positions, found.strange).advice(),
    )


def _drift(
    reference: np.ndarray, positions: np.ndarray, ends: Sequence[int] | np.ndarray, stretch: int
) -> np.ndarray:
    """(points,): the population stability index of positions against those of the calibration.

    Cells hold a tenth of the calibration rows each; half a row more in each keeps it finite. What
    so few rows make of it by chance, on average, is taken off; at least 0.

    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=5000), np.concatenate([rng.normal(size=500), np.full(500, 3)])
    >>> [round(float(index), 1) for index in _drift(old, new, [499, 999], 500)]
    [0.0, 6.1]
    """
    edges = np.quantile(reference, np.arange(1, N_CELLS) / N_CELLS)
    expected = (np.bincount(np.searchsorted(edges, reference), minlength=N_CELLS) + 0.5) / (
        len(reference) + N_CELLS / 2
    )
    by_chance = (N_CELLS - 1) * (1 / stretch + 1 / len(reference))
    cells = np.searchsorted(edges, positions)
    found = []
    for end in ends:
        counts = np.bincount(cells[end + 1 - stretch : end + 1], minlength=N_CELLS)
        seen = (counts + 0.5) / (stretch + N_CELLS / 2)
        found.append(float(np.sum((seen - expected) * np.log(seen / expected))))
    return np.maximum(np.array(found) - by_chance, 0)
