"""Tables outside the benchmark: the plain default beside every peer, on the same rows, at 90 %.

None of them was used to choose the default's rules. `python -m experiments outside` needs
`pip install --group outside`. Rows are appended as they are computed, and existing rows are not run
again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from clearbands import metrics
from experiments import default, outside_data, peers, protocol
from experiments.case import Case, Method
from experiments.defaults import append
from experiments.fitted import Fitted

LEVEL = 0.9
OURS = "CLEAR"
RESULTS = Path(__file__).parent / "results" / "outside.csv"


def methods() -> dict[str, Method]:
    return {OURS: default.METHODS["standard"][OURS], **peers.installed()}


def score(name: str, seed: int, method: str) -> dict[str, float | str]:
    """Score one method on one split: 80 % of the rows train and calibrate, and the rest judges."""
    X, y = outside_data.load(name)
    split = protocol.split_rows(len(y), seed)
    parts = [Fitted(y[rows]) for rows in (split.validation, split.calibration, split.test)]
    case = Case(*parts, False, X, y, split, seed, LEVEL)
    started = time.process_time()
    found = methods()[method].run(case)
    seconds = time.process_time() - started
    y_test = y[split.test]
    return {
        "dataset": name,
        "seed": seed,
        "method": method,
        "picp": metrics.picp(y_test, found.intervals),
        "niw": metrics.niw(y_test, found.intervals),
        "quantile_loss": metrics.quantile_loss(y_test, found.intervals, LEVEL),
        "fit_seconds": round(seconds, 3),
    }


def table(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the default relative to the best peer of every split, which no user could know."""
    losses = rows.pivot(index=["dataset", "seed"], columns="method", values="quantile_loss")
    best = losses.drop(columns=OURS).min(axis=1)
    change = 100 * (losses[OURS] / best - 1)
    covered = rows[rows["method"] == OURS].set_index(["dataset", "seed"])["picp"]
    yield "| table | seeds | against the best peer, % | coverage |"
    yield "|---|---:|---:|---:|"
    for name, own in change.dropna().groupby("dataset"):
        yield f"| {name} | {len(own)} | {own.mean():+.1f} | {covered[name].mean():.3f} |"
    means = change.dropna().groupby("dataset").mean()
    yield f"| **mean** | | {means.mean():+.1f} | {covered.groupby('dataset').mean().mean():.3f} |"
    yield f"| **median** | | {means.median():+.1f} | |"
    yield f"\nBelow the best peer on {int((means < 0).sum())} of {len(means)}."


def add_commands(commands) -> None:
    help_ = "the default beside every peer on tables outside the benchmark"
    parser = commands.add_parser("outside", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=list(outside_data.SOURCES))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(protocol.SEEDS[:2]))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    done = pd.read_csv(args.results) if args.results.exists() else pd.DataFrame()
    known = set(map(tuple, done.reindex(columns=["dataset", "seed", "method"]).to_numpy()))
    for seed in args.seeds:
        for name in args.datasets:
            for method in methods():
                if (name, seed, method) not in known:
                    append(score(name, seed, method), args.results)
    print("\n".join(table(pd.read_csv(args.results))))
    return 0
