"""The cost of each part of the engine: `python -m benchmarks.engine [SECTION ...]`

Every number comes from a process of its own that has warmed up, on one core unless it says
otherwise. Times are CPU seconds, except where threads are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.end_to_end import ONE_THREAD
from benchmarks.environment import ROOT, EnvironmentFailure, authors_python
from benchmarks.measure import Cost, load_average, measure
from benchmarks.tables import markdown
from clearbands import BoostedQuantiles, ExpectileGAM, ForestQuantiles, variant_b
from clearbands.rows.draws import Bootstraps
from experiments import datasets
from experiments.protocol import FIRST_SEED, split_rows

LEVELS = (0.025, 0.5, 0.975)
SMOOTHING = 0.6  # the default of pygam


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def training_rows(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.load(dataset)
    train = split_rows(len(y), FIRST_SEED).train
    return X[train], y[train]


def draw(n_rows: int, n_bootstraps: int) -> np.ndarray:
    return Bootstraps.draw(n_rows, n_bootstraps, np.random.RandomState(0)).counts


def warm_up(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    bag = model.fit_bag(X[:50], y[:50], draw(50, 2), n_jobs=1)
    bag.predict_members(X[:50])


def bag_cost(model: Any, dataset: str, n_bootstraps: int, n_jobs: int = 1) -> Cost:
    X, y = training_rows(dataset)
    warm_up(model, X, y)
    counts = draw(len(y), n_bootstraps)
    return measure(lambda: model.fit_bag(X, y, counts, n_jobs=n_jobs))[1]


# Bagging beside the stock libraries

BAGS = (
    (BoostedQuantiles, "xgboost", (0.5,), "airfoil", 100),
    (BoostedQuantiles, "xgboost", LEVELS, "airfoil", 100),
    (BoostedQuantiles, "xgboost", (0.5,), "powerplant", 100),
    (ForestQuantiles, "quantile-forest", LEVELS, "airfoil", 10),
    (ForestQuantiles, "quantile-forest", LEVELS, "insurance", 10),
    (ForestQuantiles, "quantile-forest", LEVELS, "powerplant", 10),
)


def bagging() -> str:
    rows = []
    for kind, backend, levels, dataset, n_bootstraps in BAGS:
        stock = in_process(bag_cost, kind(levels, backend=backend), dataset, n_bootstraps)
        ours = in_process(bag_cost, kind(levels), dataset, n_bootstraps)
        times = (stock.cpu_seconds, ours.cpu_seconds)
        rows.append((kind.__name__, backend, len(levels), dataset, n_bootstraps, *_ratio(times)))
    header = ("model", "stock library", "quantiles", "set", "bootstraps", "stock, s", "native, s")
    return markdown((*header, "ratio"), rows)


def _ratio(times: tuple[float, float]) -> tuple[str, str, str]:
    return f"{times[0]:.2f}", f"{times[1]:.3f}", f"{times[0] / times[1]:.1f}"


# The GAM beside pygam

GAM_SETS = (("concrete", 10), ("elevator", 10))


def gam() -> str:
    rows = []
    for dataset, n_bootstraps in GAM_SETS:
        X, y = training_rows(dataset)
        stock = pygam_seconds(X, y, n_bootstraps)
        ours = {
            "median": ExpectileGAM((0.5,), smoothing=SMOOTHING),
            "levels": ExpectileGAM(LEVELS, smoothing=SMOOTHING),
        }
        for task, model in ours.items():
            cost = in_process(bag_cost, model, dataset, n_bootstraps)
            times = (stock[task], cost.cpu_seconds)
            rows.append((dataset, len(model.quantiles), n_bootstraps, *_ratio(times)))
        cost = in_process(bag_cost, ExpectileGAM((0.5,)), dataset, 1)
        times = (stock["smoothing"], cost.cpu_seconds)
        rows.append((dataset, "smoothing search and one fit", "", *_ratio(times)))
    header = ("set", "levels", "bootstraps", "pygam, s", "ExpectileGAM, s", "ratio")
    return markdown(header, rows)


def pygam_seconds(X: np.ndarray, y: np.ndarray, n_bootstraps: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, X=X, y=y, levels=LEVELS)
        command = (str(authors_python()), "-m", "benchmarks.pygam_bag", str(path))
        done = subprocess.run(
            [*command, str(n_bootstraps)], cwd=ROOT, capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout)


# Two threads beside one

THREADED = (
    (BoostedQuantiles(LEVELS), "powerplant", 100),
    (ForestQuantiles(LEVELS), "powerplant", 20),
    (ExpectileGAM(LEVELS, smoothing=SMOOTHING), "elevator", 100),
)


def threads() -> str:
    """Return a table of wall times, each the fastest of three."""
    rows = []
    for model, dataset, n_bootstraps in THREADED:
        one, two = (
            min(
                in_process(bag_cost, model, dataset, n_bootstraps, n_jobs).wall_seconds
                for _ in range(3)
            )
            for n_jobs in (1, 2)
        )
        kind = type(model).__name__
        rows.append((kind, dataset, n_bootstraps, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"))
    header = ("model", "set", "bootstraps", "one thread, s", "two threads, s", "ratio")
    return markdown(header, rows) + f"\n\nLoad average at the end: {load_average():.1f}."


# Prediction

PREDICTED = (
    ("center, 100 boosters", 1),
    ("center, 100 boosters", 20_000),
    ("center, 100 boosters", 1_000_000),
    ("intervals, 400 boosters", 1),
    ("intervals, 400 boosters", 20_000),
)


def prediction_cost(what: str, n_rows: int) -> tuple[Cost, int]:
    """Return the cost of predictions by boosters of 100 trees, and how often they were repeated."""
    X, y = training_rows("airfoil")
    model = variant_b(random_state=0, n_jobs=1)
    model.fit(X, y)
    predict = model.predict if what.startswith("center") else model.predict_interval
    predict(X[:50])
    drawn = X[np.random.RandomState(0).randint(len(X), size=n_rows)]
    repeats = max(1, 200 // n_rows)
    return measure(lambda: [predict(drawn) for _ in range(repeats)])[1], repeats


def prediction() -> str:
    rows = []
    for what, n_rows in PREDICTED:
        cost, repeats = in_process(prediction_cost, what, n_rows)
        milliseconds = f"{1e3 * cost.cpu_seconds / repeats:,.1f}"
        input_mb = f"{n_rows * 5 * 8 / 1e6:g}"
        rows.append((what, f"{n_rows:,}", milliseconds, f"{cost.above_mb:.0f}", input_mb))
    return markdown(("what", "rows", "CPU, ms", "memory above the inputs, MB", "inputs, MB"), rows)


# Wide and long data


def one_hot(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate ten categorical columns, one-hot encoded."""
    rng = np.random.RandomState(0)
    n_categories = n_columns // 10
    codes = rng.randint(n_categories, size=(n_rows, 10))
    X = np.zeros((n_rows, n_columns))
    np.put_along_axis(X, codes + n_categories * np.arange(10), 1.0, axis=1)
    return X, X @ rng.normal(size=n_columns) + rng.normal(size=n_rows)


def smooth(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(n_rows, n_columns))
    noise = rng.normal(size=n_rows) * (0.2 + X[:, 1])
    return X, np.sin(4 * X[:, 0]) + X[:, 2] * X[:, 3] + noise


LARGE = (
    (one_hot, 5_000, 1_000, BoostedQuantiles((0.5,)), 100),
    (one_hot, 5_000, 1_000, BoostedQuantiles(LEVELS), 20),
    (one_hot, 5_000, 1_000, ForestQuantiles(LEVELS), 20),
    (smooth, 1_000_000, 20, BoostedQuantiles((0.5,)), 20),
    (smooth, 1_000_000, 20, ForestQuantiles(LEVELS), 1),
)


def large_cost(make: Any, n_rows: int, n_columns: int, model: Any, b: int) -> tuple[Cost, float]:
    """Return the cost of a bag, and the MB of its members."""
    X, y = make(n_rows, n_columns)
    warm_up(model, X, y)
    counts = draw(n_rows, b)
    bag, cost = measure(lambda: model.fit_bag(X, y, counts, n_jobs=1))
    return cost, sum(value.nbytes for value in vars(bag).values() if hasattr(value, "nbytes")) / 1e6


def large() -> str:
    """Return a table with the memory above the inputs: X, y and the counts of the bootstraps."""
    rows = []
    for make, n_rows, n_columns, model, b in LARGE:
        cost, model_mb = in_process(large_cost, make, n_rows, n_columns, model, b)
        bytes_per_value = 2 if isinstance(model, BoostedQuantiles) else 1
        binned_mb = bytes_per_value * n_rows * n_columns / 1e6
        rows.append(
            (
                f"{n_rows:,} x {n_columns:,}",
                type(model).__name__,
                len(model.quantiles),
                b,
                f"{cost.cpu_seconds:,.0f}",
                f"{cost.above_mb:,.0f}",
                f"{binned_mb:,.0f}",
                f"{model_mb:,.0f}",
                f"{3 * binned_mb + model_mb:,.0f}",
            )
        )
    header = ("data", "model", "quantiles", "bootstraps", "CPU, s", "memory above the inputs, MB")
    return markdown((*header, "binned, MB", "model, MB", "3 binned + model, MB"), rows)


SECTIONS = {
    "bagging": bagging,
    "gam": gam,
    "threads": threads,
    "prediction": prediction,
    "large": large,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", default=list(SECTIONS))
    args = parser.parse_args()
    os.environ.update(ONE_THREAD)  # this concerns the processes started below, not this one
    for name in args.sections:
        print(f"## {name}, load average {load_average():.1f}\n", flush=True)
        try:
            print(SECTIONS[name](), flush=True)
        except EnvironmentFailure as failure:
            print(f"Left out: {failure}")
        print()


if __name__ == "__main__":
    datasets.run(main)
