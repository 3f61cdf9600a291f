"""The difference between the two sides of a band, as far as the calibration rows show it."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from clearbands.engine.quantiles import weighted_quantiles
from clearbands.rows.levels import normal_distances
from clearbands.rows.weighting import counts_of

SAME_BAND = 1e-12  # the relative difference of positions that rounding may cause
FARTHEST_BAND = 1e100  # no band reaches rows beyond this z
FARTHEST = 0.9  # the most of the way to a bound at which the median may lie
CHANCE = 2.0  # the standard errors by which both sides may differ by chance
SIDES_DIFFER = 2.0  # the scaled Kolmogorov distance that 0.07 % of equal sides exceed by chance
PACE_SHARES = np.arange(1, 8) / 8  # the shares of a side's rows at which its pace may change
SAME_PACE = 1e-6  # the distance, in first bands, below which two knots become one
FEWEST_OF_SIDE = 40  # the least number of rows of a side that give it a pace
FEWEST_BEYOND = 10  # the same for rows beyond the highest level


def median_share(
    offset: np.ndarray, distances: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return where the median lies, as a share of the way from center to bound; < 0 if below.

    `offset` (n,) are targets less centers, `distances` (n, 2) those of the bounds. It is 0 where
    the numbers of rows on either side of the center differ by no more than chance.
    """
    reach = np.where(offset < 0, distances[:, 0], distances[:, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(offset == 0, 0.0, offset / reach)
    whole = counts_of(weight, len(share))
    lean = abs(float(np.sign(share) @ whole)) / whole.sum()
    if lean <= CHANCE * math.sqrt(float(whole @ whole)) / whole.sum():
        return 0.0
    order = np.argsort(share, kind="stable")
    below = np.cumsum(whole[order])
    middle = share[order[np.searchsorted(below, below[-1] / 2)]]
    return float(np.clip(middle, -FARTHEST, FARTHEST))


def are_skewed(positions: np.ndarray, weight: np.ndarray | None, levels: np.ndarray) -> bool:
    """Whether more rows lie beyond a fitted band on one side than on the other, not by chance."""
    whole = counts_of(weight, len(positions))
    for level in levels:
        beyond = np.where(_is_beyond_band(positions, level), whole, 0.0)
        if abs(float(np.sign(positions) @ beyond)) > CHANCE * math.sqrt(float(beyond @ beyond)):
            return True
    return False


def _is_beyond_band(positions: np.ndarray, level: float) -> np.ndarray:
    """Return which rows lie outside the band of a level by more than rounding.

    Calibration puts the edge of a band on a row, and such a row is inside.
    """
    (reach,) = normal_distances([level])
    return np.abs(positions) > reach * (1 + SAME_BAND)


def side_paces(
    positions: np.ndarray, weight: np.ndarray | None, lowest: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the paces of z below and above the median, inside the lowest fitted level.

    `positions` (n,) are those at an even pace. The paces are None where the two sides differ by no
    more than chance, or have too few rows to tell.
    """
    sides = _sides_that_differ(
        positions, weight, ~_is_beyond_band(positions, lowest), FEWEST_OF_SIDE
    )
    if sides is None:
        return None
    return _pace(*sides[0], lowest), _pace(*sides[1], lowest)


def side_paces_beyond(
    positions: np.ndarray, weight: np.ndarray | None, highest: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the paces of z, as `side_paces` does, beyond the highest fitted level."""
    is_beyond = _is_beyond_band(positions, highest) & (np.abs(positions) < FARTHEST_BAND)
    sides = _sides_that_differ(positions, weight, is_beyond, FEWEST_BEYOND)
    if sides is None:
        return None
    return _pace_beyond(*sides[0], highest), _pace_beyond(*sides[1], highest)


Side: TypeAlias = "tuple[np.ndarray, np.ndarray]"  # sizes of positions, and weights of their rows


def _sides_that_differ(
    positions: np.ndarray, weight: np.ndarray | None, is_meant: np.ndarray, fewest: int
) -> tuple[Side, Side] | None:
    """Return the meant rows below and above; None where these differ by chance alone."""
    whole = counts_of(weight, len(positions))
    is_meant = is_meant & (whole > 0)
    sides = [is_meant & (positions < 0), is_meant & (positions >= 0)]
    sizes = [float(whole[side].sum()) for side in sides]
    if min(sizes) < fewest:
        return None
    below, above = ((np.abs(positions[side]), whole[side]) for side in sides)
    chance = SIDES_DIFFER * math.sqrt(1 / sizes[0] + 1 / sizes[1])
    return None if _kolmogorov(*below, *above) <= chance else (below, above)


def _pace_beyond(size: np.ndarray, weight: np.ndarray, highest: float) -> np.ndarray:
    """Return the pace (2, knots) of the rows of one side beyond the highest level."""
    (last,) = normal_distances([highest])
    z = np.concatenate([[last], weighted_quantiles(size, PACE_SHARES, weight)])
    paced = normal_distances(highest + (1 - highest) * np.concatenate([[0.0], PACE_SHARES]))
    rises = np.append(True, np.diff(z) > SAME_PACE * last)
    paced[0] = last
    return np.array([z[rises], paced[rises]])


def change_pace(z: Any, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Turn z from one pace into another: linear between knots, in proportion beyond the last."""
    return np.where(z > start[-1], z * (end[-1] / start[-1]), np.interp(z, start, end))


def _pace(size: np.ndarray, weight: np.ndarray, lowest: float) -> np.ndarray:
    """Return the pace (2, knots) of one side, whose z at an even pace have these sizes."""
    z = np.concatenate([[0.0], weighted_quantiles(size, PACE_SHARES, weight)])
    paced = np.concatenate([[0.0], normal_distances(lowest * PACE_SHARES)])
    (first,) = normal_distances([lowest])
    rises = np.append(True, np.diff(z) > SAME_PACE * first) & (z < first * (1 - SAME_PACE))
    return np.array([[*z[rises], first], [*paced[rises], first]])


def _kolmogorov(one: np.ndarray, weight: np.ndarray, other: np.ndarray, its: np.ndarray) -> float:
    """Return the largest distance between two distribution functions."""
    at = np.concatenate([one, other])
    shares = []
    for values, counts in ((one, weight), (other, its)):
        order = np.argsort(values, kind="stable")
        below = np.concatenate([[0.0], np.cumsum(counts[order])])
        shares.append(below[np.searchsorted(values[order], at, side="right")] / below[-1])
    return float(np.abs(shares[0] - shares[1]).max())
