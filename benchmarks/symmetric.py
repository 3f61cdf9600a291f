"""Symmetric trees beside quantile boosting: `python -m benchmarks.symmetric [SET ...]`

Both run in one process on one thread, after a warm-up, as bags of the same number of members with
400 trees each. Fits are in CPU seconds; predictions are in CPU milliseconds, the fastest of some.
Ratios are relative to quantile boosting on bootstraps. The RMSE is that of the mean of all members
on unseen rows.

With `--peers` it counts instead the trees that one thread grows in a CPU second, beside CatBoost
and chimeraboost if they are installed: 400 trees for 5,000 rows of 10 columns in 128 bins.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measure import load_average
from benchmarks.stages import made_table
from benchmarks.tables import markdown
from clearbands import BoostedQuantiles
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import Bootstraps
from experiments import datasets
from experiments.authors import FIRST_SEED, split_rows

SETS = ("airfoil", "kin8nm", "powerplant")
N_TREES = 400
N_FOLDS = 10
ROWS = (1, 10, 100, 20_000)


def bootstraps(n_rows: int, n_members: int) -> np.ndarray:
    return Bootstraps.draw(n_rows, n_members, np.random.RandomState(0)).counts


def folds(n_rows: int, n_members: int) -> np.ndarray:
    """Return counts (b, n): each member leaves out one of ten folds, drawn anew for every ten."""
    rng = np.random.RandomState(0)
    fold, own = np.arange(n_rows) % N_FOLDS, np.arange(N_FOLDS)[:, None]
    parts = [rng.permutation(fold) != own for _ in range(-(-n_members // N_FOLDS))]
    return np.concatenate(parts).astype(np.uint8)[:n_members]


CASES = (
    ("quantile boosting, bootstraps", BoostedQuantiles((0.5,), n_trees=N_TREES), bootstraps),
    ("squared, bootstraps", SymmetricTrees(n_trees=N_TREES, random_state=0), bootstraps),
    ("squared, folds", SymmetricTrees(n_trees=N_TREES, random_state=0), folds),
    ("absolute, folds", SymmetricTrees("absolute", n_trees=N_TREES, random_state=0), folds),
    ("depth 8, folds", SymmetricTrees(n_trees=N_TREES, max_depth=8, random_state=0), folds),
)


def cpu_seconds(work: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """Return the last result, and the fastest time."""
    fastest = np.inf
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        fastest = min(fastest, time.process_time() - start)
    return result, fastest


def case(model: Any, draw: Any, dataset: str, n_members: int) -> dict[str, float]:
    X, y = datasets.load(dataset)
    X = np.ascontiguousarray(X)
    split = split_rows(len(y), FIRST_SEED)
    seen = np.concatenate([split.train, split.calibration])
    counts = draw(len(seen), n_members)
    warm = model.fit_bag(X[:50], y[:50], draw(50, 2), n_jobs=1)
    warm.predict_members(X[:50])
    bag, seconds = cpu_seconds(lambda: model.fit_bag(X[seen], y[seen], counts, n_jobs=1))
    error = y[split.test] - bag.predict_members(X[split.test])[:, 0].mean(axis=1)
    found = {"fit": seconds, "rmse": float(np.sqrt(np.mean(error**2)))}
    for n_rows in ROWS:
        rows = X[np.random.RandomState(0).randint(len(X), size=n_rows)]
        repeats = max(2, 50 // n_rows)
        found[f"{n_rows:,}"] = 1e3 * cpu_seconds(lambda r=rows: bag.predict_members(r), repeats)[1]
    return found


def table(dataset: str, n_members: int) -> str:
    rows = []
    base: dict[str, float] = {}
    for name, model, draw in CASES:
        found = case(model, draw, dataset, n_members)
        base = base or found
        times = [f"{found[f'{n:,}']:.3g} ({found[f'{n:,}'] / base[f'{n:,}']:.2f})" for n in ROWS]
        per_tree = 1e6 * found[f"{ROWS[-1]:,}"] / (ROWS[-1] * n_members * N_TREES)
        fit = f"{found['fit']:.2f} ({found['fit'] / base['fit']:.2f})"
        rmse = f"{100 * (found['rmse'] / base['rmse'] - 1):+.1f}"
        rows.append((name, fit, *times, f"{per_tree:.2f}", rmse))
    header = ("members", "fit, s", *(f"{n:,} rows, ms" for n in ROWS))
    return markdown((*header, "ns per tree and row", "RMSE, %"), rows)


def grown_by_all(depth: int) -> Iterator[tuple[str, Any]]:
    """Yield models that grow the same number of trees of this depth, on one thread."""
    yield "clearbands", SymmetricTrees(n_trees=N_TREES, max_depth=depth, random_state=0)
    if find_spec("catboost"):
        from catboost import CatBoostRegressor

        plain = {"boosting_type": "Plain", "bootstrap_type": "No", "allow_writing_files": False}
        one_thread = {"thread_count": 1, "verbose": 0, "border_count": 128, **plain}
        yield "CatBoost", CatBoostRegressor(N_TREES, 0.1, depth, **one_thread)
    if find_spec("chimeraboost"):
        from chimeraboost import ChimeraBoostRegressor

        off = ("early_stopping", "linear_leaves", "cross_features")
        plain = {**dict.fromkeys(off, False), "n_ensembles": 1, "thread_count": 1}
        yield "chimeraboost", ChimeraBoostRegressor(N_TREES, 0.1, depth, max_bins=128, **plain)


def peers() -> str:
    X, y = made_table(5_000, 10)
    rows = []
    for depth in (4, 6):
        for name, model in grown_by_all(depth):
            model.fit(X, y)
            seconds = cpu_seconds(lambda m=model: m.fit(X, y), repeats=3)[1]
            rows.append((name, depth, f"{N_TREES / seconds:,.0f}"))
    return markdown(("library", "depth", "trees per CPU s"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS))
    parser.add_argument("--members", type=int, default=30)
    parser.add_argument("--peers", action="store_true")
    args = parser.parse_args()
    if args.peers:
        print(f"Load average {load_average():.1f}\n\n{peers()}")
        return
    for dataset in args.sets:
        print(f"## {dataset}, {args.members} members, load average {load_average():.1f}\n")
        print(table(dataset, args.members), "\n", flush=True)


if __name__ == "__main__":
    datasets.run(main)
