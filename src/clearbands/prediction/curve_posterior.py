"""The continuation of a learning curve, predicted from its beginning and from other curves.

The squared error of a search that trains on m rows is assumed to be

    noise * (1 + level * (128 / m) ** rate)

The second term is ignorance, which is bias or chance. Chance is measured: it is how much two
searches that train on different rows differ, and ignorance is at least as large. Where several rows
have the same x, noise is measured as well.

With few rows widths fall faster than errors: intervals are longer than the best ones with the same
errors would be, and further rows take this excess away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri, stdtrit

NO_NOISE_SEEN = 0.0, np.inf


class CurvePrior(NamedTuple):
    """The distribution of learning curves over tables, fitted by `experiments.why.prior`."""

    level: float  # mean of the binary logarithm of `level`
    level_spread: float
    rate: float  # mean of the natural logarithm of `rate`
    rate_spread: float
    scatter: float  # scatter of the logarithm of an error around its curve, with one row
    chance_scatter: float  # added to it for squared chance, whatever the number of rows
    own: float  # the most likely logarithm of the model's squared ignorance over the search's
    better_spread: float  # the spread of this logarithm if the model's ignorance is smaller
    worse_spread: float  # the same if it is larger, as the search may have found another center
    own_scatter: float  # scatter of the logarithm of the model's squared error over the search's
    own_scatter_by_rows: float  # the square of this, divided by the rows, is added to its square
    gain: float  # the exponent of rows by which errors fall as searches find better centers
    width_scatter: float  # scatter of the logarithm of a width, with one row


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
"""The prior fitted to 350 beginnings of curves, of 46 real and 89 simulated tables. The level, its
spread, `own` and the fields after it come from fits of the default to 71 simulated and 15 real
tables. `width_scatter` is the standard error of the 90 % quantile of absolute normal errors, over
this quantile."""

LEVELS = np.arange(-9.0, 12.1, 0.3)  # binary logarithms
RATES = np.exp(np.linspace(np.log(0.15), np.log(2.0), 17))
REFERENCE_ROWS = 128.0
LEAST_CHANCE = 1e-4  # the least share of a squared error; below it, members predict the same
LEFT = np.linspace(-3.4, 4.0, 19)
"""Logarithms of the squared ignorance of the model over that of the search, which are tried."""

IN_STEP = (LEFT[1] - LEFT[0]) / np.sqrt(12)  # the standard deviation within a step of LEFT

RANGE = 0.1, 0.9
SEARCH_SCATTER = 0.03
"""The scatter of the logarithm of a forecast for each doubling of the rows, because with more rows
the search of a model may find centers that its learning curve does not know."""

ROWS_OF_EXCESS = 1_000
"""With this many rows half of an excess width is assumed to be the shape of noise, which stays."""

N_DRAWS = 400


class CurveMeans(NamedTuple):
    """The measured beginning of a learning curve: means over rows, and their covariance.

    For several curves at once every array has one more axis, which is the first.
    """

    sizes: np.ndarray  # (s,): training rows, rising
    errors: np.ndarray  # (s,): mean absolute errors
    covariance: np.ndarray  # (s, s): of these means over rows
    differences: np.ndarray | None = None  # (s - 1,): mean absolute ones of two fits' predictions
    difference_covariance: np.ndarray | None = None  # (s - 1, s - 1)
    noise: tuple[float, float] = NO_NOISE_SEEN
    """The logarithm of noise over the error at the largest size, and its variance, if x repeats."""


class Likely(NamedTuple):
    """The distribution of an unknown number."""

    middle: float  # the median
    low: float  # the 10 % quantile
    high: float  # the 90 % quantile


@dataclass(frozen=True)
class CurvePosterior:
    """A sample of learning curves from their distribution, all equally likely."""

    noise: np.ndarray  # (d,), rising: noise over the present error, both as errors, not squares
    rate: np.ndarray  # (d,)
    rows: float  # the present number of training rows
    width_scatter: float = 0.0  # scatter of the logarithm of the present width
    gain: float = 0.0  # as in `CurvePrior`
    excess: float = 0.0  # the logarithm of the factor by which widths are too large for errors

    def shares(self) -> Likely:
        """Return the share of ignorance in the width."""
        noise = self.factors(np.inf)
        return Likely(1 - noise.middle, max(1 - noise.high, 0.0), 1 - noise.low)

    def factors(self, times: float) -> Likely:
        """Return the factor of widths with `times` as many rows, which may be infinite."""
        narrower = np.exp(-self.excess * (1 - 1 / times))
        if not np.isfinite(times):
            return _likely(self.noise * narrower, self.width_scatter)
        curves = fall(self.noise, self.rate, times, self.gain)
        scatter = np.hypot(self.width_scatter, SEARCH_SCATTER * np.log2(times))
        return _likely(curves * narrower, float(scatter))


def fall(noise: np.ndarray, rate: np.ndarray, times: float, gain: float) -> np.ndarray:
    """Return errors with `times` as many rows over the present ones; none falls below its noise."""
    curve = np.sqrt(noise**2 + (1 - noise**2) * times**-rate)
    return np.maximum(curve * times**-gain, noise)


def excess_of(width: float, error: float, level: float, rows: float) -> float:
    """Return the logarithm of the factor by which a mean width is too large for its mean error.

    A fit on few rows does not yet know the noise of each row, so its intervals are wider than the
    best ones with the same mean absolute error. These are taken for noise with the tails of
    Student's t with four degrees of freedom.

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
    """Return the distribution of the learning curve of a model that trains on `rows` rows.

    `error` is the mean absolute error of the model on the rows of the curve, or None for the
    search itself. `excess` is the excess of its width, from `excess_of`.

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
    """Return the log probability of each curve up to a constant, and noise over the present error.

    Both have the shape (l, g), for the values of `LEFT` and the curves of `grid`.
    """
    own = None if error is None else float(error / means.errors[-1])
    noise, log_fit = noise_now(float(means.sizes[-1]), rows, own, prior)
    return log_weights(means, prior) + log_fit, noise


def grid() -> tuple[np.ndarray, np.ndarray]:
    """Return the levels (g,) and the rates (g,) of the curves that are tried."""
    levels, rates = np.meshgrid(2.0**LEVELS, RATES, indexing="ij")
    return levels.ravel(), rates.ravel()


def left_at(rows: np.ndarray) -> np.ndarray:
    """Return squared ignorance over squared noise (..., g) of a search on so many rows."""
    level, rate = grid()
    return level * (REFERENCE_ROWS / np.asarray(rows, float)[..., None]) ** rate


def log_weights(means: CurveMeans, prior: CurvePrior) -> np.ndarray:
    """Return the log probability (..., g) of each curve, up to a constant."""
    left = left_at(means.sizes)  # (..., s, g)
    return (
        _log_prior(prior)
        + _fit_of_errors(means, left, prior)
        + _fit_of_differences(means, left[..., :-1, :], prior)
        + _fit_of_noise(means, left[..., -1, :])
    )


def _log_prior(prior: CurvePrior) -> np.ndarray:
    level, rate = grid()
    # The tails are those of Student's t with three degrees of freedom, because some tables have
    # next to no noise.
    away = (np.log2(level) - prior.level) / prior.level_spread
    return -2 * np.log1p(away**2 / 3) - 0.5 * ((np.log(rate) - prior.rate) / prior.rate_spread) ** 2


def _fit_of_errors(means: CurveMeans, left: np.ndarray, prior: CurvePrior) -> np.ndarray:
    """Return the log likelihood of the errors at smaller sizes, relative to the largest size."""
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
    """Return the log likelihood of squared chance over squared errors at the smaller sizes."""
    if means.differences is None or means.difference_covariance is None:
        return 0.0
    sizes, errors, differences = means.sizes[..., :-1], means.errors[..., :-1], means.differences
    observed = np.log(np.maximum(differences**2 / 2 / errors**2, LEAST_CHANCE))
    scatter = prior.chance_scatter**2 + prior.scatter**2 / sizes
    sure = np.maximum(differences, np.sqrt(2 * LEAST_CHANCE) * errors)
    covariance = 4 * _of_logs(means.difference_covariance, sure) + _diagonal(scatter)
    # Ignorance is a share of the squared error, and chance is a share of ignorance. Every share is
    # equally likely, but it is the same at all sizes. This is the integral over its logarithm.
    away = np.log(left) - np.log1p(left) - observed[..., None]
    root = _inverse_root(covariance)
    away, one = root @ away, root.sum(axis=-1)[..., None]
    square, product, unit = (np.sum(each, axis=-2) for each in (away**2, away * one, one**2))
    middle = (1 - product) / np.sqrt(unit)
    return 0.5 * (middle**2 - square) + log_ndtr(-middle) - 0.5 * np.log(unit)


def _fit_of_noise(means: CurveMeans, left: np.ndarray) -> np.ndarray:
    """Return the log likelihood of the noise that rows with the same x show."""
    ratio, variance = means.noise
    return -0.5 * (ratio + 0.5 * np.log1p(left)) ** 2 / variance


def noise_now(
    size: float, rows: float, own: float | None, prior: CurvePrior
) -> tuple[np.ndarray, np.ndarray]:
    """Return noise over the present error, and the log likelihood of the error of this model.

    Both have the shape (l, g), with a line for each value of `LEFT`, or with one line if there is
    no model but the search. `own` is the error of the model over the error of the search at the
    largest `size`. Both are measured with errors of their own, so the measured error of a model
    with little ignorance may be below the noise.
    """
    # All squares are in units of the squared error of the search at the largest size.
    noise = 1 / (1 + left_at(np.asarray(size)))
    left = noise * left_at(np.asarray(rows))
    if own is None:
        now = (noise + left)[None]
        return np.sqrt(noise / now), np.zeros(now.shape)
    now = noise + np.exp(LEFT)[:, None] * left
    spread = np.where(prior.own > LEFT, prior.better_spread, prior.worse_spread)
    likely = -2 * np.log1p(((LEFT - prior.own) / spread) ** 2 / 3)  # tails as in `_log_prior`
    scatter = prior.own_scatter**2 + prior.own_scatter_by_rows**2 / rows
    scatter = scatter + (IN_STEP * (1 - noise / now)) ** 2
    fit = -0.5 * np.log(own**2 / now) ** 2 / scatter - 0.5 * np.log(scatter)
    return np.sqrt(noise / now), likely[:, None] + fit


def _of_logs(covariance: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the covariance of the logarithms of these means."""
    return covariance / (means[..., :, None] * means[..., None, :])


def _diagonal(values: np.ndarray) -> np.ndarray:
    return values[..., None] * np.eye(values.shape[-1])


def _log_normal(away: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the log density (..., g) of distances (..., k, g) from the mean, up to a constant."""
    return -0.5 * np.square(_inverse_root(covariance) @ away).sum(axis=-2)


def _inverse_root(covariance: np.ndarray) -> np.ndarray:
    """Return the matrix that turns normal numbers with this covariance into independent ones."""
    return np.linalg.inv(np.linalg.cholesky(covariance))


def _draw(weights: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the indices (d,) of curves in the order of their noise, at equal probability steps."""
    order = np.argsort(noise, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    steps = np.searchsorted(reached, (np.arange(N_DRAWS) + 0.5) / N_DRAWS)
    return order[np.minimum(steps, len(order) - 1)]


def _likely(values: np.ndarray, scatter: float) -> Likely:
    """Return the distribution of `values` whose logarithms have a further normal scatter."""
    chances = np.exp(scatter * ndtri((np.arange(9) + 0.5) / 9))
    low, high = np.quantile(np.outer(values, chances), RANGE)
    return Likely(float(np.median(values)), float(low), float(high))
