"""Write pygam.json: what pygam predicts, for tests that must not depend on pygam.

Run in an environment of its own, because pygam holds numpy and scipy back:

    pip install pygam==0.9.1 numpy==1.26.4 scipy==1.11.4
    python tests/golden/make_pygam.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).with_name("pygam.json")
EXPECTILES = (0.025, 0.2, 0.5, 0.9, 0.975)
SMOOTHINGS = (0.001, 0.6, 100.0)
N_NEW = 40
# pygam stops when its coefficients move by less than 1e-4; this lets it reach the minimum.
STOP = {"tol": 1e-10, "max_iter": 1000}


def smooth(rng):
    X = rng.uniform(-2, 2, (300 + N_NEW, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + (0.2 + 0.3 * np.abs(X[:, 2])) * rng.randn(len(X))
    return X, y


def rough(rng):
    """A skewed column that leaves knots empty, a dummy, three classes, an unused column."""
    skewed = rng.lognormal(0, 1.2, 500 + N_NEW)
    dummy = rng.randint(2, size=len(skewed))
    classes = rng.randint(3, size=len(skewed)) * 5.0
    X = np.column_stack((skewed, dummy, classes, rng.randn(len(skewed))))
    y = 1000 + 30 * np.log1p(skewed) - 10 * dummy + classes * rng.exponential(2, len(skewed))
    return X, y


def nearly_linear(rng):
    X = rng.uniform(0, 1, (200 + N_NEW, 2)) * [1, 1e6]
    y = 1e-3 * (X @ [1, 2e-6] + 0.5 * rng.randn(len(X)))
    return X, y


def wavy(rng):
    X = rng.uniform(0, 10, (600 + N_NEW, 1))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.randn(len(X))
    return X, y


CASES = {"smooth": smooth, "rough": rough, "nearly_linear": nearly_linear, "wavy": wavy}


def draw(case: str, seed: int):
    """Training rows X, y and new rows, the first of which lies beyond the training range."""
    X, y = CASES[case](np.random.RandomState(seed))
    train, new = X[:-N_NEW], X[-N_NEW:].copy()
    new[0] = train.max(axis=0) + 0.3 * np.ptp(train, axis=0)
    new[1] = train.min(axis=0) - 0.2 * np.ptp(train, axis=0)
    return train, y[:-N_NEW], new


def _digits(values) -> list[float]:
    """Ten digits: far more than the agreement, half the file."""
    return [float(f"{value:.10g}") for value in values]


def record(case: str, seed: int) -> dict:
    from pygam import ExpectileGAM

    X, y, new = draw(case, seed)

    def fit(expectile: float, smoothing: float):
        shape = {"n_splines": 10, "spline_order": 3}
        return ExpectileGAM(expectile=expectile, lam=smoothing, **shape, **STOP).fit(X, y)

    searched = ExpectileGAM(expectile=0.5, n_splines=10, spline_order=3)
    searched.gridsearch(X, y, progress=False)
    return {
        "case": case,
        "seed": seed,
        "predictions": [
            {
                "smoothing": smoothing,
                "values": [_digits(fit(level, smoothing).predict(new)) for level in EXPECTILES],
            }
            for smoothing in SMOOTHINGS
        ],
        "gcv": _digits(fit(0.5, value).statistics_["GCV"] for value in np.logspace(-3, 3, 11)),
        "chosen": float(np.ravel(searched.lam)[0]),
    }


if __name__ == "__main__":
    records = [record(case, seed) for seed, case in enumerate(CASES)]
    GOLDEN.write_text(json.dumps({"expectiles": EXPECTILES, "records": records}) + "\n")
