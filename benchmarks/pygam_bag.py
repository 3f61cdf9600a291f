"""pygam on bootstraps of given rows: `python -m benchmarks.pygam_bag ROWS.npz BOOTSTRAPS`

The script runs in the authors' environment and prints CPU seconds by task as JSON.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from pygam import ExpectileGAM
from sklearn.utils import resample

from benchmarks.measure import measure


def gam(level: float, smoothing: float = 0.6) -> ExpectileGAM:
    return ExpectileGAM(expectile=level, n_splines=10, spline_order=3, lam=smoothing)


def fit_bag(X: np.ndarray, y: np.ndarray, levels: list[float], n_bootstraps: int) -> None:
    for i in range(n_bootstraps):
        drawn = resample(X, y, random_state=i)
        for level in levels:
            gam(level).fit(*drawn)


def main() -> None:
    path, n_bootstraps = sys.argv[1], int(sys.argv[2])
    with np.load(path) as file:
        X, y, levels = file["X"], file["y"], file["levels"].tolist()
    gam(0.5).fit(X[:100], y[:100])
    tasks = {
        "median": lambda: fit_bag(X, y, [0.5], n_bootstraps),
        "levels": lambda: fit_bag(X, y, levels, n_bootstraps),
        "smoothing": lambda: gam(0.5).gridsearch(X, y, progress=False),
    }
    print(json.dumps({name: measure(task)[1].cpu_seconds for name, task in tasks.items()}))


if __name__ == "__main__":
    main()
