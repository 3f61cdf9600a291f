"""Where a learning curve goes: what is likely of it, given its beginning and curves of real tables.

Squared errors of a search that trains on m rows are taken to follow

    floor * (1 + (half / (m + delay)) ** rate)

in which `floor` is noise, and `half` the number of rows at which noise and ignorance are equal. A
curve with a `delay` bends down before it bends up: nobody who has few rows finds such structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class CurvePrior(NamedTuple):
    """How curves of real tables go; fitted by `python -m experiments.why.prior`."""

    half: float  # mean of the binary logarithm of `half`, for a table of one column
    half_by_columns: float  # what it rises by when columns double
    half_spread: float
    rate: float  # mean of the natural logarithm of `rate`
    rate_spread: float
    delayed: float  # the share of curves with a delay
    scatter: float  # of the logarithm of an error around its curve, however many rows train
    scatter_by_rows: float  # and what is added to its square, divided by the rows
    better_spread: float  # of the logarithm of what the model has left to learn, against the search
    worse_spread: float  # the same where it has more left: the search may have found another center


PRIOR = CurvePrior(
    half=3.8,
    half_by_columns=0.28,
    half_spread=2.9,
    rate=-0.24,
    rate_spread=0.4,
    delayed=0.47,
    scatter=0.0275,
    scatter_by_rows=0.96,
    better_spread=0.4,
    worse_spread=1.0,
)
"""Of 105 beginnings of curves of 46 real and 8 simulated tables."""

HALVES = np.arange(-8.0, 26.1, 1.0)  # binary logarithms
RATES = np.exp(np.linspace(np.log(0.15), np.log(2.0), 12))
DELAYS = np.array([0.0, 2.0**6, 2.0**8, 2.0**10])
LEAST_LEFT = 0.03  # of what the search has left to learn, that the model has at least
RANGE = 0.1, 0.9
N_DRAWS = 400


class Likely(NamedTuple):
    """A number that is not known."""

    middle: float  # the median
    low: float  # below which it is with a chance of 10 %
    high: float


@dataclass(frozen=True)
class CurvePosterior:
    """Curves that are likely, each as likely as the others."""

    noise: np.ndarray  # (d,), rising: noise over the present error, both as errors, not squares
    half: np.ndarray  # (d,)
    rate: np.ndarray
    delay: np.ndarray
    rows: float  # that train now

    def shares(self) -> Likely:
        """The share of ignorance in the width."""
        return _likely(1 - self.noise)

    def factors(self, times: float) -> Likely:
        """By what errors and widths are multiplied with so many times the rows, or without end."""
        if not np.isfinite(times):
            return _likely(self.noise)
        left = self._left(times * self.rows) / self._left(self.rows)
        return _likely(np.sqrt(self.noise**2 + (1 - self.noise**2) * left))

    def _left(self, rows: float) -> np.ndarray:
        return (self.half / (rows + self.delay)) ** self.rate


def extrapolate(
    sizes: np.ndarray,
    errors: np.ndarray,
    covariance: np.ndarray,
    *,
    rows: float,
    error: float | None,
    n_columns: int,
    prior: CurvePrior = PRIOR,
) -> CurvePosterior:
    """What is likely of the curve of a model that trains on so many `rows`.

    `errors` (s,) are mean absolute errors of the search at training `sizes` (s,), rising, with the
    `covariance` (s, s) of these means over rows; `error` is that of the model on the same rows, or
    None where the search itself is meant.

    >>> sizes = np.array([30.0, 60, 120, 240])
    >>> steep = extrapolate(
    ...     sizes, sizes**-0.5, 1e-6 * np.eye(4), rows=300, error=300**-0.5, n_columns=5
    ... )
    >>> steep.factors(10).middle < 0.6
    True
    """
    half, rate, delay, log_prior = _grid(n_columns, prior)
    expected = 0.5 * np.log1p((half / (sizes[:, None] + delay)) ** rate)  # (s, g)
    difference = (expected - expected[-1])[:-1] - np.log(errors / errors[-1])[:-1, None]
    logs = covariance / np.outer(errors, errors)
    logs = logs + np.diag(prior.scatter**2 + prior.scatter_by_rows**2 / sizes)
    contrast = np.column_stack([np.eye(len(sizes) - 1), -np.ones(len(sizes) - 1)])
    precision = np.linalg.inv(contrast @ logs @ contrast.T)
    log_weight = log_prior - 0.5 * np.einsum("ig,ij,jg->g", difference, precision, difference)
    # In units of the squared error of the search at the largest size:
    noise = 1 / (1 + (half / (sizes[-1] + delay)) ** rate)
    now = noise * (1 + (half / (rows + delay)) ** rate)
    if error is not None:
        left, own = np.maximum(now - noise, 1e-12), (error / errors[-1]) ** 2
        better = np.maximum((own - noise) / left, LEAST_LEFT)
        now = noise + better * left
        spread = np.where(better < 1, prior.better_spread, prior.worse_spread)
        log_weight = log_weight - 0.5 * (np.log(better) / spread) ** 2
        # Noise above the error of the model is as likely as it is that errors scatter so much.
        log_weight = log_weight - 0.5 * (np.log(now / own) / (2 * prior.scatter)) ** 2
    noise = np.sqrt(noise / now)
    some = _draw(np.exp(log_weight - log_weight.max()), noise)
    return CurvePosterior(noise[some], half[some], rate[some], delay[some], float(rows))


def _draw(weights: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """(d,): numbers of curves in the order of their noise, at equal steps of what is likely."""
    order = np.argsort(noise, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return order[np.searchsorted(reached, (np.arange(N_DRAWS) + 0.5) / N_DRAWS)]


def _grid(
    n_columns: int, prior: CurvePrior
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`half`, `rate`, `delay` and the logarithm of the prior of each point (g,)."""
    halves, rates, delays = (
        each.ravel() for each in np.meshgrid(HALVES, RATES, DELAYS, indexing="ij")
    )
    middle = prior.half + prior.half_by_columns * np.log2(n_columns)
    # Tails as of Student's t with three degrees of freedom: some tables have next to no noise.
    log_prior = -2 * np.log1p(((halves - middle) / prior.half_spread) ** 2 / 3)
    log_prior -= 0.5 * ((np.log(rates) - prior.rate) / prior.rate_spread) ** 2
    each_delay = prior.delayed / (len(DELAYS) - 1)
    log_prior += np.log(np.where(delays == 0, 1 - prior.delayed, each_delay))
    return 2.0**halves, rates, delays, log_prior


def _likely(values: np.ndarray) -> Likely:
    low, middle, high = np.quantile(values, (RANGE[0], 0.5, RANGE[1]))
    return Likely(float(middle), float(low), float(high))
