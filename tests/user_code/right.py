"""Code that a type checker must accept, with the types that it must find."""

from typing import assert_type

import numpy as np
import pandas as pd
import polars as pl

import clearbands
from clearbands import (
    ClearCalibrator,
    ClearClassifier,
    ClearRegressor,
    Uncertainty,
    fast,
    scorers,
    thorough,
    variant_a,
)

X, y = np.zeros((9, 2)), np.zeros(9)
frame = pd.DataFrame({"size": [1.0, 2.0]})

model = ClearRegressor(confidence_level=[0.5, 0.9], calibration="joint", split="time", gap=2)
assert_type(model.fit(X, y), ClearRegressor)
assert_type(model.predict(pl.DataFrame({"size": [1.0]})), np.ndarray)
center, intervals = model.predict_interval(frame, confidence_level=0.8, side="lower")
assert_type(intervals, np.ndarray)
assert_type(model.predict_uncertainty(X), Uncertainty)
assert_type(model.predict_quantiles(X, [0.1, 0.9]), np.ndarray)
assert_type(model.lambda_, np.ndarray)

assert_type(fast(random_state=0, calibration="conformal", encoder=None), ClearRegressor)
assert_type(thorough(confidence_level=0.95), ClearRegressor)
assert_type(variant_a(stock=True, n_jobs=2), ClearRegressor)

assert_type(clearbands.load("model.clear"), ClearRegressor)
assert_type(clearbands.load("model.clear", ClearClassifier), ClearClassifier)
assert_type(ClearClassifier(calibration="cross").fit(X, y).predict_set(X), np.ndarray)

calibrator = ClearCalibrator(confidence_level=0.9).fit(y, y, X, X)
assert_type(calibrator.predict_interval(y, X, X), np.ndarray)
assert_type(scorers.interval_score(model, X, y), float)
