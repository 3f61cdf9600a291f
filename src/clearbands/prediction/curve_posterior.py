"""Where a learning curve goes: what is likely of it, given its beginning and other curves.

Squared errors of a search that trains on m rows are taken to follow

    noise * (1 + level * ((128 + delay) / (m + delay)) ** rate)

A curve with a `delay` bends down before it bends up: nobody who has few rows finds such structure.
What is added to noise is bias or chance. Chance is known: two searches that train on other rows
differ by it. Where rows have the same x, noise is known as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

NO_NOISE_SEEN = 0.0, np.inf


class CurvePrior(NamedTuple):
    """How curves of other tables go; fitted by `python -m experiments.why.prior`."""

    level: float  # mean of the binary logarithm of `level`, for a table of one column
    level_by_columns: float  # what it rises by when columns double
    level_spread: float
    rate: float  # mean of the natural logarithm of `rate`
    rate_spread: float
    delayed: float  # the share of curves with a delay
    scatter: float  # of the logarithm of an error around its curve, however many rows train
    scatter_by_rows: float  # and what is added to its square, divided by the rows
    chance: float  # mean of the logarithm of the part of squared ignorance that chance is
    chance_spread: float
    chance_scatter: float  # of the logarithm of squared chance at one size
    chance_scatter_by_rows: float
    own: float  # the likeliest logarithm of what the model has left to learn, over the search
    better_spread: float  # of this logarithm where the model has less left
    worse_spread: float  # the same where it has more left: the search may have found another center
    own_scatter: float  # of the logarithm of the squared error of the model over the search's
    own_scatter_by_rows: float  # and what is added to its square, divided by the rows
    width_scatter: float  # of the logarithm of a width, with one row


PRIOR = CurvePrior(
    level=0.0247,
    level_by_columns=0.349,
    level_spread=2.58,
    rate=-0.207,
    rate_spread=0.342,
    delayed=0.212,
    scatter=0.0262,
    scatter_by_rows=1.57,
    chance=-0.919,
    chance_spread=0.813,
    chance_scatter=0.168,
    chance_scatter_by_rows=1.45,
    own=-0.0678,
    better_spread=0.109,
    worse_spread=0.544,
    own_scatter=0.0253,
    own_scatter_by_rows=0.537,
    width_scatter=0.885,
)
"""Of 350 beginnings of curves of 46 real and 89 simulated tables. The level, and `own` and what
follows, are of fits of the default to 71 simulated and 15 real tables; `width_scatter` is the
standard error of the quantile of 0.9 of absolute normal errors, over this quantile."""

LEVELS = np.arange(-9.0, 9.1, 0.6)  # binary logarithms
RATES = np.exp(np.linspace(np.log(0.15), np.log(2.0), 9))
DELAYS = np.array([0.0, 2.0**6, 2.0**8, 2.0**10])
REFERENCE_ROWS = 128.0
LEAST_CHANCE = 1e-4  # of a squared error; members of less all predict the same
LEFT = np.linspace(-3.4, 4.0, 19)
"""Logarithms of what the model has left to learn, over what the search has."""

IN_STEP = (LEFT[1] - LEFT[0]) / np.sqrt(12)  # the standard deviation of values between two of them

RANGE = 0.1, 0.9
SEARCH_SCATTER = 0.03
"""Of the logarithm of what comes, for each time that rows double: with more of them the search of
a model finds other centers than its curve knows."""

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
    delay: np.ndarray  # (d,)
    rows: float  # that train now
    scatter: float = 0.0  # of the logarithm of what comes, around its curve
    width_scatter: float = 0.0  # of the logarithm of the width now, around the one that holds

    def shares(self) -> Likely:
        """The share of ignorance in the width."""
        noise = self.factors(np.inf)
        return Likely(1 - noise.middle, max(1 - noise.high, 0.0), 1 - noise.low)

    def factors(self, times: float) -> Likely:
        """By what errors and widths are multiplied with so many times the rows, or without end."""
        if not np.isfinite(times):
            return _likely(self.noise, self.width_scatter)
        left = ((self.rows + self.delay) / (times * self.rows + self.delay)) ** self.rate
        curves = np.sqrt(self.noise**2 + (1 - self.noise**2) * left)
        scatters = self.scatter, self.width_scatter, SEARCH_SCATTER * np.log2(times)
        return _likely(curves, float(np.linalg.norm(scatters)))


def extrapolate(
    means: CurveMeans,
    *,
    rows: float,
    error: float | None,
    n_columns: int,
    prior: CurvePrior = PRIOR,
) -> CurvePosterior:
    """What is likely of the curve of a model that trains on so many `rows`.

    `error` is the mean absolute error of the model on the rows of the curve, or None where the
    search itself is meant.

    >>> sizes = np.array([30.0, 60, 120, 240])
    >>> means = CurveMeans(sizes, sizes**-0.5, 1e-6 * np.eye(4))
    >>> steep = extrapolate(means, rows=300, error=300**-0.5, n_columns=5)
    >>> steep.factors(10).middle < 0.6
    True
    """
    log_weight, noise = weigh(means, rows=rows, error=error, n_columns=n_columns, prior=prior)
    some = _draw(np.exp(log_weight - log_weight.max()).ravel(), noise.ravel())
    _, rate, delay = (each[some % len(each)] for each in grid())
    scatter = np.sqrt(2) * prior.scatter  # of the errors of now and of then
    width_scatter = prior.width_scatter / np.sqrt(rows)
    return CurvePosterior(
        noise.ravel()[some], rate, delay, float(rows), float(scatter), float(width_scatter)
    )


def weigh(
    means: CurveMeans, *, rows: float, error: float | None, n_columns: int, prior: CurvePrior
) -> tuple[np.ndarray, np.ndarray]:
    """(l, g) each: how likely each curve is, up to a constant, and noise over the error now."""
    own = None if error is None else float(error / means.errors[-1])
    noise, log_fit = noise_now(float(means.sizes[-1]), rows, own, prior)
    return log_weights(means, np.asarray(n_columns), prior) + log_fit, noise


def grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(g,) each: the levels, rates and delays of the curves that are looked at."""
    levels, rates, delays = np.meshgrid(2.0**LEVELS, RATES, DELAYS, indexing="ij")
    return levels.ravel(), rates.ravel(), delays.ravel()


def left_at(rows: np.ndarray) -> np.ndarray:
    """(..., g): squared ignorance over squared noise of each curve, of a search on so many rows."""
    level, rate, delay = grid()
    rows = np.asarray(rows, float)[..., None]
    return level * ((REFERENCE_ROWS + delay) / (rows + delay)) ** rate


def log_weights(means: CurveMeans, n_columns: np.ndarray, prior: CurvePrior) -> np.ndarray:
    """(..., g): how likely each curve is, up to a constant."""
    left = left_at(means.sizes)  # (..., s, g)
    return (
        _log_prior(n_columns, prior)
        + _fit_of_errors(means, left, prior)
        + _fit_of_differences(means, left[..., :-1, :], prior)
        + _fit_of_noise(means, left[..., -1, :])
    )


def _log_prior(n_columns: np.ndarray, prior: CurvePrior) -> np.ndarray:
    level, rate, delay = grid()
    middle = prior.level + prior.level_by_columns * np.log2(n_columns)
    # Tails as of Student's t with three degrees of freedom: some tables have next to no noise.
    away = (np.log2(level) - middle[..., None]) / prior.level_spread
    log_prior = -2 * np.log1p(away**2 / 3)
    log_prior = log_prior - 0.5 * ((np.log(rate) - prior.rate) / prior.rate_spread) ** 2
    each_delay = prior.delayed / (len(DELAYS) - 1)
    return log_prior + np.log(np.where(delay == 0, 1 - prior.delayed, each_delay))


def _fit_of_errors(means: CurveMeans, left: np.ndarray, prior: CurvePrior) -> np.ndarray:
    """Of the errors at smaller sizes, over that at the largest."""
    expected = 0.5 * np.log1p(left)
    logs = np.log(means.errors)
    both = expected - logs[..., None]
    scatter = prior.scatter**2 + prior.scatter_by_rows**2 / means.sizes
    covariance = _of_logs(means.covariance, means.errors) + _diagonal(scatter)
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
    expected = prior.chance + np.log(left) - np.log1p(left)
    scatter = prior.chance_scatter**2 + prior.chance_scatter_by_rows**2 / sizes
    sure = np.maximum(differences, np.sqrt(2 * LEAST_CHANCE) * errors)
    covariance = 4 * _of_logs(means.difference_covariance, sure) + _diagonal(scatter)
    return _log_normal(expected - observed[..., None], covariance + prior.chance_spread**2)


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
    # Rows of the inverse root: the square of what they make of a distance.
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    return -0.5 * np.square(root @ away).sum(axis=-2)


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
