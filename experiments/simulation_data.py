"""The protocol of the paper's simulations, and data whose conditional law is known exactly.

Everything is drawn from the given generator, so that data depend only on its seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

LEVEL = 0.9
N_ROWS = 5000
BOOTSTRAPS = 50
SEEDS = tuple(range(100))
MULTIVARIATE = (2, 3, 20)
TRAIN_SHARE = 0.7
RADII = tuple(round(0.01 + 0.25 * k, 2) for k in range(25))
POINTS_PER_RADIUS = 1000
SCALES = (1.0, 1.5, 2.0, 3.0)
POINTS_PER_SCALE = 500

NOISES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "homo": np.ones_like,
    "hetero1": lambda distance: 1 + distance,
    "hetero2": lambda distance: 1 + 1 / (1 + distance**2),
}
"""The standard deviation of the noise by the distance from the origin, in one dimension |x|."""


class World(NamedTuple):
    """y = 5 + the sum of ± beta_i |x_i|^e_i + sigma(x) times standard normal noise."""

    noise: str
    beta: np.ndarray  # (d,)

    @classmethod
    def draw(cls, noise: str, d: int, rng: np.random.Generator) -> World:
        return cls(noise, rng.normal(1, 0.5, size=d))

    def mean(self, X: np.ndarray) -> np.ndarray:
        odd = np.arange(1, len(self.beta) + 1) % 2 == 1  # columns count from one, as in the paper
        signs, exponents = np.where(odd, 1, -1), np.where(odd, 1.5, 1.25)
        return 5 + np.abs(X) ** exponents @ (signs * self.beta)

    def sigma(self, X: np.ndarray) -> np.ndarray:
        return NOISES[self.noise](np.linalg.norm(X, axis=1))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, len(self.beta)))
        return X, self.mean(X) + self.sigma(X) * rng.normal(size=n)

    def coverage(self, X: np.ndarray, intervals: np.ndarray) -> np.ndarray:
        """Return the exact probability (n,) that y lies in its interval (n, 2), given x."""
        lower, upper = self._standardised(X, intervals)
        return ndtr(upper) - ndtr(lower)

    def quantile_loss(self, X: np.ndarray, intervals: np.ndarray, alpha: float) -> np.ndarray:
        """Return the exact expected quantile loss (n,) of the interval given x.

        For a standard normal y, E[(y - q)(tau - 1{y <= q})] = q (Phi(q) - tau) + phi(q).
        """
        bounds = self._standardised(X, intervals)
        losses = [
            q * (ndtr(q) - tau) + np.exp(-(q**2) / 2) / np.sqrt(2 * np.pi)
            for q, tau in zip(bounds, (alpha / 2, 1 - alpha / 2), strict=True)
        ]
        return self.sigma(X) * np.mean(losses, axis=0)

    def _standardised(self, X: np.ndarray, intervals: np.ndarray) -> np.ndarray:
        """Return both bounds (2, n) in standard deviations from the mean."""
        return (intervals.T - self.mean(X)) / self.sigma(X)


def on_sphere(radius: float, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw points uniformly on the sphere; in one dimension it has two, and both are taken."""
    if d == 1:
        return np.array([[-radius], [radius]])
    directions = rng.normal(size=(POINTS_PER_RADIUS, d))
    return radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def from_wider_normal(scale: float, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw points as in training, with `scale` times their standard deviation."""
    return scale * rng.normal(size=(POINTS_PER_SCALE, d))
