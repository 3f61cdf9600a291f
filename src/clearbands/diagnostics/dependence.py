"""The correlation of widths with errors, and the dependence of width and coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_random_state

from clearbands.rows.bands import covered
from clearbands.rows.checks import check_count, check_intervals, check_share, check_vector
from clearbands.rows.typed import Seed


@dataclass(frozen=True)
class Correlation:
    """A rank correlation with a normal interval on Fisher's scale."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Dependence:
    """A measure of dependence, and the p-value under independence."""

    value: float
    p_value: float


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return Spearman's rank correlation of two variables, neither of which may be constant."""
    return float(np.corrcoef(stats.rankdata(one), stats.rankdata(other))[0, 1])


def width_error_correlation(
    y: ArrayLike, center: ArrayLike, intervals: ArrayLike, *, confidence: float = 0.95
) -> Correlation:
    """Spearman's rank correlation of the width and |y - center|. Larger is better.

    It is above 0 if intervals are wide where errors are large, and 0 if all widths, or all errors,
    are equal. Even perfect widths stay well below 1, because some errors are small by chance. The
    interval is Bonett and Wright's.

    Examples
    --------
    >>> y, half = [1.0, -2.0, 3.0, -4.0], [1.0, 2.0, 3.0, 4.0]
    >>> round(width_error_correlation(y, [0.0] * 4, [[-h, h] for h in half]).value, 2)
    1.0
    """
    y, intervals = check_intervals(y, intervals)
    _check_at_least(len(y), 4, "width_error_correlation")
    check_share(confidence, "confidence")
    error = np.abs(y - check_vector(center, "center", len(y)))
    widths = intervals[:, 1] - intervals[:, 0]
    if np.all(error == error[0]) or np.all(widths == widths[0]):
        value = 0.0
    else:
        value = rank_correlation(widths, error)
    if abs(value) >= 1:
        return Correlation(value, value, value)
    margin = stats.norm.isf((1 - confidence) / 2) * np.sqrt((1 + value**2 / 2) / (len(y) - 3))
    low, high = np.tanh(np.arctanh(value) + np.array([-margin, margin]))
    return Correlation(value, float(low), float(high))


def hsic(
    y: ArrayLike,
    intervals: ArrayLike,
    *,
    max_rows: int = 2000,
    n_shuffles: int = 199,
    random_state: Seed = 0,
) -> Dependence:
    """Hilbert-Schmidt independence criterion of width and coverage. Best is 0.

    Let w be the widths in standard deviations, z = 1 where a row is covered and else 0,
    K = exp(-(w_i - w_j)^2 / 2), L = 1 where z_i = z_j, and H the centering matrix. The criterion is
    trace(K H L H) / n^2. It is 0 if width says nothing about coverage, linear or not; in samples
    it is then some 1/n. The p-value is the exact one of shuffling z, at least
    1 / (n_shuffles + 1).

    If there are more than `max_rows` rows, a random sample of so many is taken. An infinite width
    counts as the largest finite one. If all widths are equal, or all rows covered alike, the result
    is 0 with a p-value of 1.

    Examples
    --------
    >>> y, intervals = [0.0] * 20 + [2.0] * 20, [[-3.0, 3.0]] * 20 + [[-1.0, 1.0]] * 20
    >>> hsic(y, intervals).p_value  # wide intervals cover, narrow ones do not
    0.005
    """
    targets, bounds = check_intervals(y, intervals)
    _check_at_least(len(targets), 2, "hsic")
    check_count(max_rows, "max_rows", 2)
    check_count(n_shuffles, "n_shuffles")
    rng = check_random_state(random_state)
    if len(targets) > max_rows:
        some = rng.choice(len(targets), max_rows, replace=False)
        targets, bounds = targets[some], bounds[some]
    hit, widths = covered(targets, bounds), _finite(bounds[:, 1] - bounds[:, 0])
    if np.all(widths == widths[0]) or np.all(hit == hit[0]):
        return Dependence(0.0, 1.0)
    widths = (widths - widths.mean()) / widths.std()
    kernel = np.exp(-((widths[:, None] - widths) ** 2) / 2)
    z = hit - hit.mean()  # L is 2 z z' once centered
    shuffled = np.stack([z, *(rng.permutation(z) for _ in range(n_shuffles))], axis=1)
    values = 2 * np.sum(shuffled * (kernel @ shuffled), axis=0) / len(z) ** 2
    as_large = int(np.count_nonzero(values >= values[0] * (1 - 1e-12)))  # itself included
    return Dependence(float(values[0]), as_large / len(values))


def _finite(widths: np.ndarray) -> np.ndarray:
    is_finite = np.isfinite(widths)
    return np.minimum(widths, widths[is_finite].max() if is_finite.any() else 1.0)


def _check_at_least(n: int, needed: int, name: str) -> None:
    if n < needed:
        raise ValueError(f"{name} needs at least {needed} rows, got {n}.")
