"""Where a learning curve goes: what is likely of it, given its beginning and other curves.

Squared errors of a search that trains on m rows are taken to follow

    noise * (1 + level * (128 / m) ** rate)

What is added to noise is bias or chance. Chance is known: two searches that train on other rows
differ by it, so what is added is no less. Where rows have the same x, noise is known as well.

Widths of few rows fall faster than errors: they have an excess over the best intervals with such
errors, which more rows take away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri, stdtrit

NO_NOISE_SEEN = 0.0, np.inf


class CurvePrior(NamedTuple):
    """How curves of other tables go; fitted by `python -m experiments.why.prior`."""

    level: float  # mean of the binary logarithm of `level`
    level_spread: float
    rate: float  # mean of the natural logarithm of `rate`
    rate_spread: float
    scatter: float  # of the logarithm of an error around its curve, with one row
    chance_scatter: float  # what is added to it for squared chance, however many rows train
    own: float  # the likeliest logarithm of what the model has left to learn, over the search
    better_spread: float  # of this logarithm where the model has less left
    worse_spread: float  # the same where it has more left: the search may have found another center
    own_scatter: float  # of the logarithm of the squared error of the model over the search's
    own_scatter_by_rows: float  # and what is added to its square, divided by the rows
    gain: float  # of the logarithm of rows, what a search gains that finds other centers with them
    width_scatter: float  # of the logarithm of a width, with one row


PRIOR = CurvePrior(
    level=0.507,
    level_spread=2.25,
    rate=-0.273,
    rate_spread=0.388,
    scatter=1.66,
    chance_scatter=0.162,
    own=-0.0337,
    better_spread=0.111,
    worse_spread=0.56,
    own_scatter=0.0277,
    own_scatter_by_rows=0.711,
    gain=0.0472,
    width_scatter=0.885,
)
"""Of 350 beginnings of curves of 46 real and 89 simulated tables. The level, its spread, and `own`
and what follows, are of fits of the default to 71 simulated and 15 real tables; `width_scatter` is
the standard error of the quantile of 0.9 of absolute normal errors, over this quantile."""

LEVELS = np.arange(-9.0, 12.1, 0.3)  # binary logarithms
RATES = np.exp(np.linspace(np.log(0.15), np.log(2.0), 17))
REFERENCE_ROWS = 128.0
LEAST_CHANCE = 1e-4  # of a squared error; members of less all predict the same
LEFT = np.linspace(-3.4, 4.0, 19)
"""Logarithms of what the model has left to learn, over what the search has."""

IN_STEP = (LEFT[1] - LEFT[0]) / np.sqrt(12)  # the standard deviation of values between two of them

RANGE = 0.1, 0.9
SEARCH_SCATTER = 0.03
"""Of the logarithm of what comes, for each time that rows double: with more of them the search of
a model finds other centers than its curve knows."""

ROWS_OF_EXCESS = 1_000
"""With so many rows half of an excess width is taken to be the shape of noise, which stays."""

N_DRAWS = 400


class CurveMeans(NamedTuple):
    """What is measured of a curve: means over rows, and how sure they are.

    Of several curves at once all arrays have one more axis, the first.
    """

    sizes: np.ndarray  # (s,): training rows, rising
    errors: np.ndarray  # (s,): mean absolute errors
    covariance: np.ndarray  # (s, s): of these means over rows
    differences: np.ndarray | None = None  # (s - 1,): mean absolute ones of two fits on other rows
    difference_covariance: np.ndarray | None = None  # (s - 1, s - 1)
    noise: tuple[float, float] = NO_NOISE_SEEN
    """Where x repeats: the logarithm of noise over the error at the largest size; its variance."""


class Likely(NamedTuple):
    """A number that is not known."""

    middle: float  # the median
    low: float  # below which it is with a chance of 10 %
    high: float


@dataclass(frozen=True)
class CurvePosterior:
    """Curves that are likely, each as likely as the others."""

    noise: np.ndarray  # (d,), rising: noise over the present error, both as errors, not squares
    rate: np.ndarray  # (d,)
    rows: float  # that train now
    width_scatter: float = 0.0  # of the logarithm of the width now, around the one that holds
    gain: float = 0.0  # as in `CurvePrior`
    excess: float = 0.0  # the logarithm of what the width has too much for such errors

    def shares(self) -> Likely:
        """The share of ignorance in the width."""
        noise = self.factors(np.inf)
        return Likely(1 - noise.middle, max(1 - noise.high, 0.0), 1 - noise.low)

    def factors(self, times: float) -> Likely:
        """By what widths are multiplied with so many times the rows, or without end."""
        narrower = np.exp(-self.excess * (1 - 1 / times))
        if not np.isfinite(times):
            return _likely(self.noise * narrower, self.width_scatter)
        curves = fall(self.noise, self.rate, times, self.gain)
        scatter = np.hypot(self.width_scatter, SEARCH_SCATTER * np.log2(times))
        return _likely(curves * narrower, float(scatter))


def fall(noise: np.ndarray, rate: np.ndarray, times: float, gain: float) -> np.ndarray:
    """Errors with so many times the rows, over those of now; they never fall below their noise."""
    curve = np.sqrt(noise**2 + (1 - noise**2) * times**-rate)
    return np.maximum(curve * times**-gain, noise)


def excess_of(width: float, error: float, level: float, rows: float) -> float:
    """The logarithm of what a mean width has too much for the mean absolute error it belongs to.

    Intervals of few rows do not yet follow the noise of each row, so they are wider than the best
    ones with such errors, whose noise has the tails of Student's t with four degrees of freedom.

    >>> excess_of(5.5, 1.0, 0.9, rows=100), excess_of(4.1, 1.0, 0.9, rows=100)
    (0.231..., 0.0)
    """
    best = 2 * float(stdtrit(4, (1 + level) / 2))  # the mean absolute value of this t is 1
    ratio = width / (best * error) if error > 0 else 1.0
    return float(np.log(max(ratio, 1.0))) / (1 + rows / ROWS_OF_EXCESS)


def extrapolate(
    means: CurveMeans,
    *,
    rows: float,
    error: float | None,
    excess: float = 0.0,
    prior: CurvePrior = PRIOR,
) -> CurvePosterior:
    """What is likely of the curve of a model that trains on so many `rows`.

    `error` is the mean absolute error of the model on the rows of the curve, or None where the
    search itself is meant; `excess` is what `excess_of` says of its width.

    >>> sizes = np.array([30.0, 60, 120, 240])
    >>> means = CurveMeans(sizes, sizes**-0.5, 1e-6 * np.eye(4))
    >>> steep = extrapolate(means, rows=300, error=300**-0.5)
    >>> steep.factors(10).middle < 0.6
    True
    """
    log_weight, noise = weigh(means, rows=rows, error=error, prior=prior)
    some = _draw(np.exp(log_weight - log_weight.max()).ravel(), noise.ravel())
    rate = grid()[1]
    scatter = float(prior.width_scatter / np.sqrt(rows))
    own_rate = rate[some % len(rate)]
    return CurvePosterior(noise.ravel()[some], own_rate, float(rows), scatter, prior.gain, excess)


def weigh(
    means: CurveMeans, *, rows: float, error: float | None, prior: CurvePrior
) -> tuple[np.ndarray, np.ndarray]:
    """(l, g) each: how likely each curve is, up to a constant, and noise over the error now."""
    own = None if error is None else float(error / means.errors[-1])
    noise, log_fit = noise_now(float(means.sizes[-1]), rows, own, prior)
    return log_weights(means, prior) + log_fit, noise


def grid() -> tuple[np.ndarray, np.ndarray]:
    """(g,) each: the levels and rates of the curves that are looked at."""
    levels, rates = np.meshgrid(2.0**LEVELS, RATES, indexing="ij")
    return levels.ravel(), rates.ravel()


def left_at(rows: np.ndarray) -> np.ndarray:
    """(..., g): squared ignorance over squared noise of each curve, of a search on so many rows."""
    level, rate = grid()
    return level * (REFERENCE_ROWS / np.asarray(rows, float)[..., None]) ** rate


def log_weights(means: CurveMeans, prior: CurvePrior) -> np.ndarray:
    """(..., g): how likely each curve is, up to a constant."""
    left = left_at(means.sizes)  # (..., s, g)
    return (
        _log_prior(prior)
        + _fit_of_errors(means, left, prior)
        + _fit_of_differences(means, left[..., :-1, :], prior)
        + _fit_of_noise(means, left[..., -1, :])
    )


def _log_prior(prior: CurvePrior) -> np.ndarray:
    level, rate = grid()
    # Tails as of Student's t with three degrees of freedom: some tables have next to no noise.
    away = (np.log2(level) - prior.level) / prior.level_spread
    return -2 * np.log1p(away**2 / 3) - 0.5 * ((np.log(rate) - prior.rate) / prior.rate_spread) ** 2


def _fit_of_errors(means: CurveMeans, left: np.ndarray, prior: CurvePrior) -> np.ndarray:
    """Of the errors at smaller sizes, over that at the largest."""
    expected = 0.5 * np.log1p(left)
    logs = np.log(means.errors)
    both = expected - logs[..., None]
    covariance = _of_logs(means.covariance, means.errors)
    covariance = covariance + _diagonal(prior.scatter**2 / means.sizes)
    n = means.sizes.shape[-1] - 1
    contrast = np.column_stack([np.eye(n), -np.ones(n)])
    return _log_normal(contrast @ both, contrast @ covariance @ contrast.T)


def _fit_of_differences(
    means: CurveMeans, left: np.ndarray, prior: CurvePrior
) -> np.ndarray | float:
    """Of what chance does at the smaller sizes, over the squared errors there."""
    if means.differences is None or means.difference_covariance is None:
        return 0.0
    sizes, errors, differences = means.sizes[..., :-1], means.errors[..., :-1], means.differences
    observed = np.log(np.maximum(differences**2 / 2 / errors**2, LEAST_CHANCE))
    scatter = prior.chance_scatter**2 + prior.scatter**2 / sizes
    sure = np.maximum(differences, np.sqrt(2 * LEAST_CHANCE) * errors)
    covariance = 4 * _of_logs(means.difference_covariance, sure) + _diagonal(scatter)
    # Ignorance is a part of the squared error, and chance a part of ignorance: any part is equally
    # likely, but it is the same at each size. The integral over the logarithm of this part:
    away = np.log(left) - np.log1p(left) - observed[..., None]
    root = _inverse_root(covariance)
    away, one = root @ away, root.sum(axis=-1)[..., None]
    square, product, unit = (np.sum(each, axis=-2) for each in (away**2, away * one, one**2))
    middle = (1 - product) / np.sqrt(unit)
    return 0.5 * (middle**2 - square) + log_ndtr(-middle) - 0.5 * np.log(unit)


def _fit_of_noise(means: CurveMeans, left: np.ndarray) -> np.ndarray:
    """Of the noise that is seen where x repeats."""
    ratio, variance = means.noise
    return -0.5 * (ratio + 0.5 * np.log1p(left)) ** 2 / variance


def noise_now(
    size: float, rows: float, own: float | None, prior: CurvePrior
) -> tuple[np.ndarray, np.ndarray]:
    """(l, g) each: noise over the error now, and how likely that is of this model.

    A line for each of `LEFT`, or one where there is no model but the search. `own` is the error of
    the model over the one of the search at the largest `size`. Both errors are measured, so the
    model may have almost as little left as a curve says, and still an error below its noise.
    """
    # In units of the squared error of the search at the largest size:
    noise = 1 / (1 + left_at(np.asarray(size)))
    left = noise * left_at(np.asarray(rows))
    if own is None:
        now = (noise + left)[None]
        return np.sqrt(noise / now), np.zeros(now.shape)
    now = noise + np.exp(LEFT)[:, None] * left
    spread = np.where(prior.own > LEFT, prior.better_spread, prior.worse_spread)
    likely = -2 * np.log1p(((LEFT - prior.own) / spread) ** 2 / 3)  # tails as above
    scatter = prior.own_scatter**2 + prior.own_scatter_by_rows**2 / rows
    scatter = scatter + (IN_STEP * (1 - noise / now)) ** 2
    fit = -0.5 * np.log(own**2 / now) ** 2 / scatter - 0.5 * np.log(scatter)
    return np.sqrt(noise / now), likely[:, None] + fit


def _of_logs(covariance: np.ndarray, means: np.ndarray) -> np.ndarray:
    return covariance / (means[..., :, None] * means[..., None, :])


def _diagonal(values: np.ndarray) -> np.ndarray:
    return values[..., None] * np.eye(values.shape[-1])


def _log_normal(away: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """(..., g): of distances (..., k, g) from the mean, up to a constant."""
    return -0.5 * np.square(_inverse_root(covariance) @ away).sum(axis=-2)


def _inverse_root(covariance: np.ndarray) -> np.ndarray:
    """What makes independent normal numbers of those with this covariance."""
    return np.linalg.inv(np.linalg.cholesky(covariance))


def _draw(weights: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """(d,): numbers of curves in the order of their noise, at equal steps of what is likely."""
    order = np.argsort(noise, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    steps = np.searchsorted(reached, (np.arange(N_DRAWS) + 0.5) / N_DRAWS)
    return order[np.minimum(steps, len(order) - 1)]


def _likely(values: np.ndarray, scatter: float) -> Likely:
    """Of values that come with such a scatter of their logarithms."""
    chances = np.exp(scatter * ndtri((np.arange(9) + 0.5) / 9))
    low, high = np.quantile(np.outer(values, chances), RANGE)
    return Likely(float(np.median(values)), float(low), float(high))
