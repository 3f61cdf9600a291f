"""The default beside peers with native categories, on tables with text, dates and missing values.

A center is learned from all training rows and judged by its root mean square error. `mixed gaps`
and similar commands test the default on one property of tables: see `experiments.mixed_parts`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from clearbands import ClearRegressor, fast
from clearbands.metrics import interval_score, picp
from experiments import mixed_data, mixed_parts, mixed_peers
from experiments.defaults import append
from experiments.mixed_data import Mixed
from experiments.mixed_peers import LEVEL, Bounds, Method

RESULTS = Path(__file__).parent / "results" / "mixed.csv"
SEEDS = (0, 1)


def ours(make: Callable[..., Any]) -> Method:
    """Return the method that fits a model of this package."""

    def run(train: Mixed, X: pl.DataFrame, seed: int) -> Bounds:
        model = make(confidence_level=LEVEL, random_state=seed).fit(train.X, train.y)
        center, bounds = model.predict_interval(X)
        return center, bounds[:, :, 0]

    return run


METHODS: dict[str, Method] = {
    "clear": ours(ClearRegressor),
    "clear fast": ours(fast),
    **mixed_peers.METHODS,
}


def score(name: str, seed: int, method: str) -> dict[str, Any]:
    """Return one row of results."""
    train, test = mixed_data.load(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        center, bounds = METHODS[method](train, test.X, seed)
        seconds = time.process_time() - start
    return {
        "dataset": name,
        "seed": seed,
        "method": method,
        "rmse": float(np.sqrt(np.mean((test.y - center) ** 2))),
        "interval_score": interval_score(test.y, bounds, LEVEL),
        "picp": picp(test.y, bounds),
        "cpu_seconds": seconds,
    }


def table(results: pd.DataFrame) -> Iterator[str]:
    """Yield our scores relative to those of each peer, over the seeds that both have.

    The best peer is the one that ours is the least ahead of.
    """
    yield "| table | seeds | RMSE to CatBoost | loss to the best peer | PICP | CPU s | CatBoost |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    changes = []
    for name, own in results.groupby("dataset", sort=False):
        if not {"clear", "catboost"} <= set(own["method"]):
            continue  # this table is not finished
        scores = own.set_index(["method", "seed"])
        ours, peers = scores.loc["clear"], own["method"].unique()
        change = max(
            _change(ours, scores.loc[peer], "interval_score")
            for peer in mixed_peers.METHODS
            if peer in peers
        )
        catboost = scores.loc["catboost"]
        rmse = _change(ours, catboost, "rmse")
        changes.append((rmse, change))
        cost = " | ".join(f"{each['cpu_seconds'].mean():.0f}" for each in (ours, catboost))
        covered = ours["picp"].mean()
        yield f"| {name} | {len(ours)} | {rmse:+.1f} % | {change:+.1f} % | {covered:.3f} | {cost} |"
    if not changes:
        return
    means = " | ".join(f"{mean:+.1f} %" for mean in np.mean(changes, axis=0))
    yield f"| **mean** | | {means} | | | |"


def _change(ours: pd.DataFrame, other: pd.DataFrame, measure: str) -> float:
    """Return by how many percent our mean is above the other's, over their common seeds."""
    seeds = ours.index.intersection(other.index)
    return 100 * float(ours[measure][seeds].mean() / other[measure][seeds].mean() - 1)


def add_commands(commands) -> None:
    help_ = "the default beside peers with native categories, on tables with text and dates"
    parser = commands.add_parser("mixed", help=help_, description=help_)
    parts = {name: part.question for name, part in mixed_parts.PARTS.items()}
    what = "; ".join(f"{name}: {question}" for name, question in parts.items())
    parser.add_argument("part", nargs="?", choices=parts, help=f"instead of the peers. {what}")
    parser.add_argument("--datasets", nargs="+", help="all tables unless given")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    if args.part is not None:
        return _run_part(args)
    path = args.results or RESULTS
    done = pd.read_csv(path) if path.exists() else pd.DataFrame()
    known = set(map(tuple, done.reindex(columns=["dataset", "seed", "method"]).to_numpy()))
    names = args.datasets or list(mixed_data.TABLES)
    wanted = [(n, s, m) for s in args.seeds for n in names for m in args.methods]
    for name, seed, method in () if args.table else wanted:
        if (name, seed, method) not in known:
            append(score(name, seed, method), path)
    print("\n".join(table(pd.read_csv(path))))
    return 0


def _run_part(args: argparse.Namespace) -> int:
    path = args.results or mixed_parts.RESULTS
    names = args.datasets or mixed_parts.PARTS[args.part].tables
    if not args.table:
        mixed_parts.run_missing(args.part, names, args.seeds, path)
    print("\n".join(mixed_parts.table(args.part, pd.read_csv(path))))
    return 0
