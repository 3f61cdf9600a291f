"""The cost and the R2 of the nine mean models of variant (c): `python -m experiments.pool_costs`

Each is fitted once to the training rows of a split. In variant (c) the winner is also fitted to 100
bootstraps.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import r2_score

from clearbands.models.pools import mean_pool
from experiments import datasets
from experiments.protocol import FIRST_SEED, split_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="superconductor")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    args = parser.parse_args()
    X, y = datasets.load(args.dataset)
    split = split_rows(len(y), args.seed)
    print("| model | CPU seconds | R2 on the validation rows |")
    print("|---|---:|---:|")
    for name, model in mean_pool().items():
        seconds = fit_seconds(model, X[split.train], y[split.train])
        r2 = r2_score(y[split.validation], model.predict(X[split.validation]))
        print(f"| {name} | {seconds:.1f} | {r2:.4f} |", flush=True)


def fit_seconds(model, X: np.ndarray, y: np.ndarray) -> float:
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks may not have converged
        model.fit(X, y)
    return time.process_time() - started


if __name__ == "__main__":
    datasets.run(main)
