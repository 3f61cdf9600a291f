"""Noise of a Gaussian process whose rows count differently."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import WhiteKernel


class NoiseByWeight(WhiteKernel):
    """White noise; the mean of w observations, which a row of weight w is, has 1 / w of it.

    `weight` (n,) belongs to the training rows, the only ones that a Gaussian process asks about
    all together; new rows have the noise of one observation.
    """

    def __init__(
        self,
        noise_level: float = 1.0,
        noise_level_bounds: Any = (1e-5, 1e5),
        weight: np.ndarray | None = None,
    ) -> None:
        super().__init__(noise_level, noise_level_bounds)
        self.weight = weight

    def __call__(self, X: np.ndarray, Y: Any = None, eval_gradient: bool = False) -> Any:
        found = super().__call__(X, Y, eval_gradient)
        if self.weight is None or Y is not None or len(X) != len(self.weight):
            return found
        if not eval_gradient:
            return found / self.weight[:, None]
        noise, gradient = found
        return noise / self.weight[:, None], gradient / self.weight[:, None, None]
