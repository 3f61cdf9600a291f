"""The fitted center and widths of one simulated world, and the methods that share them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    ExpectileGAM,
    FixedRatioCalibrator,
    ForestQuantiles,
)
from clearbands.models.pools import boosted_quantiles
from experiments.fitted import Fitted
from experiments.methods import both, ones_and_epistemic, residuals_and_ones
from experiments.parts import CenterAndNoise, choose, fit_center_and_noise
from experiments.protocol import Split
from experiments.simulation_data import LEVEL, TRAIN_SHARE, World


class Cell(NamedTuple):
    """One noise, dimension and seed, whose parts are fitted together."""

    noise: str
    d: int
    seed: int


class Method(NamedTuple):
    calibrator: Any
    widths: Callable[[Fitted], tuple[np.ndarray, ...]]

    def intervals(self, calibration: Fitted, test: Fitted) -> np.ndarray:
        fitted = clone(self.calibrator).fit(calibration.y, *self.widths(calibration))
        return fitted.predict_interval(*self.widths(test))


METHODS = {
    "CLEAR": Method(ClearCalibrator(LEVEL), both),
    "PCS": Method(FixedRatioCalibrator(LEVEL, ratio=math.inf), both),
    "ALEATORIC-R": Method(AdditiveCalibrator(LEVEL), residuals_and_ones),
    "Naive": Method(FixedRatioCalibrator(LEVEL, ratio=0), ones_and_epistemic),
}
"""The methods by their names in the paper's figures. All share the center and widths of one fit."""


def generators(seed: int) -> list[np.random.Generator]:
    """Return the generators of the data and of the points to score."""
    return np.random.default_rng(seed).spawn(2)


class FittedWorld(NamedTuple):
    """A world, the models that were fitted to a sample of it, and its calibration rows."""

    world: World
    fit: CenterAndNoise
    calibration: Fitted
    X: np.ndarray  # the columns of the calibration rows

    def parts(self, X: np.ndarray, y: np.ndarray | None = None) -> Fitted:
        """Return the fitted parts of points; if no y was drawn, the mean takes its place."""
        return Fitted(self.world.mean(X) if y is None else y, *self.fit.predict(X))


def fit_world(cell: Cell, n_rows: int, n_bootstraps: int) -> FittedWorld:
    rng = generators(cell.seed)[0]
    world = World.draw(cell.noise, cell.d, rng)
    X, y = world.sample(n_rows, rng)
    n_train = round(TRAIN_SHARE * n_rows)
    train, held_out = np.arange(n_train), np.arange(n_train, n_rows)
    fit = fit_winner(X, y, train, held_out, cell.seed, n_bootstraps)
    calibration = Fitted(y[held_out], *fit.predict(X[held_out]))
    return FittedWorld(world, fit, calibration, X[held_out])


def fit_winner(
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    held_out: np.ndarray,
    seed: int,
    n_bootstraps: int,
) -> CenterAndNoise:
    """Fit the best center of the pool by held-out rows; the aleatoric part is always boosting."""
    models = pool()
    split = Split(train, held_out, held_out, held_out[:0])
    chosen, _ = choose(models, X, y, train, {"standard": split})
    return fit_center_and_noise(
        models[chosen["standard"]],
        boosted_quantiles(),
        X[train],
        y[train],
        seed,
        n_bootstraps,
        LEVEL,
    )


def pool() -> dict[str, Any]:
    """Return quantile forest, quantile boosting, and a GAM with 10 splines and penalty 1.

    ExpectileGAM weighs squared errors by one half at its level 0.5, so the penalty is halved, too.
    """
    return {
        "forest": ForestQuantiles(),
        "boosting": boosted_quantiles(),
        "gam": ExpectileGAM(n_splines=10, smoothing=0.5),
    }
