"""Houses of known price, and a small model of them."""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles
from clearbands.selection.model_search import ModelSearch
from clearbands.uncertainty.scaled_residuals import ScaledResiduals


def small_clear(calibrator=None, **parameters):
    model = LinearQuantiles()
    return ClearRegressor(
        PCSEnsemble({"line": model, "other line": model}, n_bootstraps=5),
        ResidualQuantiles(model, n_bootstraps=5),
        calibrator,
        random_state=0,
        **({"calibration": "joint"} | parameters),
    )


def houses(n, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.uniform(20, 200, n)
    town = rng.choice(["Aa", "Bb", None], n)
    day = np.datetime64("2020-01-01") + rng.integers(0, 1000, n).astype("timedelta64[D]")
    price = 5 * size + 40 * (town == "Aa") + size / 4 * rng.normal(size=n)
    size[:3] = np.nan
    frame = pl.DataFrame({"size": size, "town": town.tolist(), "sold": day, "new": size > 100})
    return frame.with_columns(pl.col("size").fill_nan(None)), price


class TwoByTwo(ModelSearch):
    """Two centers and two noises, quick to fit."""

    def centers(self, n_rows, n_columns):
        return {"line": LinearRegression(), "mean": DummyRegressor()}

    def noises(self):
        constant, scaled = ScaledResiduals(DummyRegressor()), ScaledResiduals(LinearRegression())
        return {"constant": constant, "scaled": scaled}
