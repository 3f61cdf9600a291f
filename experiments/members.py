"""How many members are enough: `python -m experiments.members`. Rows are appended as they exist.

The default is fitted to the rows of the benchmark with other numbers of repeats of its folds. A
row of a table of fewer than 2,000 rows is then judged by so many of twenty times so many members.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from clearbands import ClearRegressor, ModelSearch, metrics
from experiments import datasets, pages, protocol, rows

RESULTS = Path(__file__).parent / "results" / "members.csv"
SETS = ("energy_efficiency", "concrete", "insurance", "airfoil")
REPEATS, USUAL = (2, 3, 4, 6, 10), ModelSearch().repeats
FIELDS = ("dataset", "seed", "repeats", "quantile_loss", "picp", "cpu_seconds")


def score(name: str, seed: int, repeats: int) -> dict[str, float | str]:
    """Return the scores of the default with so many repeats, on the test rows."""
    X, y = datasets.load(name)
    split = protocol.split_rows(len(y), seed)
    known = np.union1d(split.train, split.validation)
    search, level = ModelSearch(repeats=repeats), protocol.LEVEL
    model = ClearRegressor(confidence_level=level, search=search, random_state=seed)
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        intervals = model.fit(X[known], y[known]).predict_interval(X[split.test])[1][:, :, 0]
    test = y[split.test]
    return {
        "dataset": name,
        "seed": seed,
        "repeats": repeats,
        "quantile_loss": metrics.quantile_loss(test, intervals, level),
        "picp": metrics.picp(test, intervals),
        "cpu_seconds": time.process_time() - started,
    }


def table(found: pd.DataFrame) -> Iterator[str]:
    """Yield, for each number of repeats, the change of the loss against the default's number."""
    yield "| repeats | loss, % | standard error | sets above | coverage | CPU, times |"
    yield "|---:|---:|---:|---:|---:|---:|"
    by = found.pivot(index=["dataset", "seed"], columns="repeats").dropna()
    usual = by.xs(USUAL, axis=1, level="repeats")
    for repeats in sorted(found["repeats"].unique()):
        own = by.xs(repeats, axis=1, level="repeats")
        change = 100 * (own["quantile_loss"] / usual["quantile_loss"] - 1)
        above = (change.groupby("dataset").mean() > 0).sum()
        cost = (own["cpu_seconds"] / usual["cpu_seconds"]).median()  # the first fit compiles
        cells = [f"{repeats}", f"{change.mean():+.2f}", f"{change.sem():.2f}", f"{above}"]
        cells += [f"{own['picp'].mean():.3f}", f"{cost:.2f}"]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(protocol.SEEDS[:3]))
    pages.add_options(parser, RESULTS)
    args = parser.parse_args()
    known = rows.known(args.results, FIELDS[:3])
    for seed in () if args.table else args.seeds:
        for name in args.datasets:
            for repeats in REPEATS:
                if (name, seed, repeats) not in known:
                    rows.append(args.results, FIELDS, [score(name, seed, repeats)])
    pages.show(table(pd.read_csv(args.results)), "members", args.write)


if __name__ == "__main__":
    datasets.run(main)
