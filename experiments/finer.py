"""The gain of twice the trees, and of half of the columns: `python -m experiments.finer`.

It prints the errors of trees on training rows that they did not see, in ten folds of at most 10,000
rows. Test rows are not used.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from clearbands import SymmetricTrees
from clearbands.models.bagging import fit_bag, predict_unseen
from clearbands.rows.draws import Folds
from experiments import datasets, protocol

SETS = ("computer", "powerplant", "kin8nm", "elevator", "ca_housing", "miami_housing", "ailerons")
ROWS, FOLDS = 10_000, 10
DEPTHS = (4, 6, 8)
WAYS = {
    "twice the trees": {"n_trees": 800},
    "and half of the columns": {"n_trees": 800, "column_share": 0.5},
}


def unseen_error(trees: SymmetricTrees, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the root mean squared error on unseen rows, and the seconds of CPU."""
    draws = Folds.draw(len(y), FOLDS, 1, np.random.RandomState(0))
    start = time.process_time()
    bag = fit_bag(trees, X, y, draws, n_jobs=1, stage="trees")
    cost = time.process_time() - start
    error = y - predict_unseen(bag, X, draws)[:, 0, 0]
    return float(np.sqrt(np.mean(error**2))), cost


def lines(name: str) -> Iterator[str]:
    """Yield a line of the table for every depth."""
    X, y = datasets.load(name)
    split = protocol.split_rows(len(y), protocol.FIRST_SEED)
    rows = np.random.RandomState(0).permutation(np.union1d(split.train, split.validation))[:ROWS]
    X, y = X[rows], y[rows]
    for depth in DEPTHS:
        trees = SymmetricTrees(max_depth=depth, random_state=0)
        plain, cost = unseen_error(trees, X, y)
        cells = []
        for way in WAYS.values():
            error, own = unseen_error(SymmetricTrees(max_depth=depth, random_state=0, **way), X, y)
            cells.append(f"{100 * (error / plain - 1):+.1f} | {own / cost:.1f}")
        yield f"| {name} | {X.shape[1]} | {depth} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    asked = parser.parse_args()
    print("| set | columns | depth | " + " | ".join(f"{way}, % | times CPU" for way in WAYS) + " |")
    print("|---|---:|---:|" + "---:|" * (2 * len(WAYS)))
    for name in asked.datasets:
        for line in lines(name):
            print(line, flush=True)


if __name__ == "__main__":
    datasets.run(main)
