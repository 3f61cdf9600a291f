"""Several threads update one model."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from clearbands import ClearRegressor
from tests.fuzz.campaign import Target
from tests.toys import linear_clear, noisy_line


def attempt(rng: np.random.Generator) -> None:
    model = copy.deepcopy(_model())
    X, y = noisy_line(int(rng.integers(10, 60)), seed=int(rng.integers(2**31)))
    calls = np.array_split(rng.permutation(len(y)), int(rng.integers(2, len(y))))
    with ThreadPoolExecutor(int(rng.integers(2, 6))) as pool:
        list(pool.map(lambda rows: model.update(X[rows], y[rows]), calls))
    assert model.rolling_.n_rows == len(y), f"{model.rolling_.n_rows} of {len(y)} rows were kept"
    in_window = np.sort(model.rolling_.positions[-len(y) :])
    assert np.allclose(in_window, np.sort(model.placed(X, y).positions)), "other rows were kept"


@cache
def _model() -> ClearRegressor:
    return linear_clear().fit(*noisy_line(200))


TARGET = Target("updates", "rows of all threads join the window, each once", attempt)
