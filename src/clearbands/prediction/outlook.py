"""The learning curve that a model keeps, with its split of widths into noise and ignorance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clearbands.prediction.curve_posterior import CurvePosterior, Likely
from clearbands.prediction.forecast import Forecast
from clearbands.rows.bands import Components

EVEN = 0.5
"""The part of ignorance that all members share, in times of their mean disagreement.

No member shows this part, so that rows on which members agree have ignorance, too.
"""

ALL_LIKELY = Likely(0.5, 0.0, 1.0)


@dataclass(frozen=True)
class Split:
    """How much of a row's width is noise, by how much the members disagree about it.

    Noise² is to ignorance² as aleatoric² is to weight x (epistemic² + common²), with widths as the
    parts give them. The weight is chosen so that the noise of all widths is the share that the
    learning curve says.
    """

    weight: float
    common: float

    @classmethod
    def of(cls, components: Components, widths: np.ndarray, noise: float) -> Split:
        """Find the weight for calibrated widths (n,), of which a share `noise` is noise."""
        aleatoric, epistemic = _uncalibrated_widths(components)
        common = EVEN * float(epistemic.mean()) or float(aleatoric.mean()) or 1.0

        def share(weight: float) -> float:
            noise_shares = cls(weight, common)._noise_shares(aleatoric, epistemic)
            return float(widths @ noise_shares) / max(float(widths.sum()), 1e-300)

        low, high = -60.0, 60.0  # binary logarithms of the weight
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if share(2.0**middle) > noise else (low, middle)
        return cls(2.0**low, common)

    def __call__(self, components: Components) -> np.ndarray:
        """Return noise over width (n,), between 0 and 1."""
        return self._noise_shares(*_uncalibrated_widths(components))

    def _noise_shares(self, aleatoric: np.ndarray, epistemic: np.ndarray) -> np.ndarray:
        unknown = self.weight * (epistemic**2 + self.common**2)
        with np.errstate(invalid="ignore"):
            noise = np.sqrt(aleatoric**2 / (aleatoric**2 + unknown))
        return np.where(np.isfinite(noise), noise, 0.0)


@dataclass(frozen=True)
class Outlook:
    """The learning curve of a model, as far as it is known."""

    width: float  # mean of the finite intervals at the first level, of rows unseen by members
    rmse: float  # the error in the same rows
    loss: float
    rows: int  # the number of rows that train
    posterior: CurvePosterior | None  # None if there are too few rows for a curve
    splits: tuple[Split, Split, Split]  # likely, least and most noise
    reason: str = ""  # why there is no curve
    sizes: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (s,): numbers of training rows
    errors: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (s,): of the search there
    names: tuple[str, ...] = ()  # the best center at each size

    @property
    def shares(self) -> Likely:
        """The share of ignorance in the mean width."""
        return ALL_LIKELY if self.posterior is None else self.posterior.shares()

    def noise(self, components: Components) -> np.ndarray:
        """Return noise over width (3, n): the likely one, the least and the most."""
        return np.stack([split(components) for split in self.splits])

    def forecast(self, more: Sequence[float], level: float) -> Forecast:
        """Forecast mean width, loss and RMSE with so many times the rows, and with endless rows."""
        times = [1.0, *more, np.inf]
        factors = [self._factor(each) for each in times]
        return Forecast(
            np.array([self.rows * each for each in times]),
            np.array(factors),
            self.width,
            self.rmse,
            self.loss,
            level,
            self.reason,
        )

    def _factor(self, times: float) -> Likely:
        if times == 1:
            return Likely(1.0, 1.0, 1.0)
        return Likely(1.0, 0.0, 1.0) if self.posterior is None else self.posterior.factors(times)


def _uncalibrated_widths(components: Components) -> tuple[np.ndarray, np.ndarray]:
    """Return the aleatoric and the epistemic widths of the first level, each (n,)."""
    return components.aleatoric[:, :, 0].sum(axis=1), components.epistemic[:, :, 0].sum(axis=1)
