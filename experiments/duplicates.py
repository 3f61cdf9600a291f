"""The command `duplicates`: rows with equal columns, kept together or split at random.

In some tables of the benchmark rows have the same columns as others, because measurements were
repeated. If rows are split at random, as in the paper, a test row may have a copy among the
training rows. Here both ways to split judge the same methods, at 90 %. "with groups" also keeps
copies together within the fit: `fit(X, y, groups=...)`. Rows are appended as they are computed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit
from threadpoolctl import threadpool_limits

from clearbands import ClearRegressor, metrics
from experiments import conditional, datasets, pages, protocol, rows
from experiments.case import Case
from experiments.fitted import Fitted

LEVEL = 0.9
RESULTS = Path(__file__).parent / "results" / "duplicates.csv"
SETS = ("concrete", "superconductor")  # 6 % and 40 % of their rows have copies
SPLITS = ("at random", "together")
WITH_GROUPS = "clearbands, with groups"
METHODS = ("clearbands", WITH_GROUPS, "fast()", "LightGBM CQR", "crepes")
FIELDS = ("dataset", "seed", "split", "method", "copied", "picp", "quantile_loss", "cpu_seconds")


def copies_of(X: np.ndarray) -> np.ndarray:
    """Return numbers (n,) that are equal for rows with equal columns."""
    return np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)


def split_rows(copies: np.ndarray, seed: int, way: str) -> protocol.Split:
    """Split rows 60/20/20, at random as in the benchmark, or with copies on one side."""
    if way == "at random":
        return protocol.split_rows(len(copies), seed)

    def part(numbers: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
        sides = GroupShuffleSplit(1, test_size=share, random_state=seed)
        first, second = next(sides.split(numbers, groups=copies[numbers]))
        return numbers[first], numbers[second]

    rest, test = part(np.arange(len(copies)), 0.2)
    train, held_out = part(rest, 0.25)
    return protocol.Split(train, held_out, held_out, test)


def score(name: str, seed: int, way: str, method: str) -> dict[str, float | str]:
    X, y = datasets.load(name)
    copies = copies_of(X)
    split = split_rows(copies, seed, way)
    parts = [Fitted(y[of]) for of in (split.validation, split.calibration, split.test)]
    case = Case(*parts, False, X, y, split, seed, LEVEL)
    known = np.union1d(split.train, split.validation)
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == WITH_GROUPS:
            model = ClearRegressor(confidence_level=LEVEL, random_state=seed)
            model.fit(X[known], y[known], groups=copies[known])
            intervals = model.predict_interval(X[split.test])[1][:, :, 0]
        else:
            intervals = conditional.ways()[method](case)
    return {
        "dataset": name,
        "seed": seed,
        "split": way,
        "method": method,
        "copied": float(np.isin(copies[split.test], copies[known]).mean()),
        "picp": metrics.picp(y[split.test], intervals),
        "quantile_loss": metrics.quantile_loss(y[split.test], intervals, LEVEL),
        "cpu_seconds": time.process_time() - started,
    }


def table(found: pd.DataFrame) -> Iterator[str]:
    """Yield means over the seeds that a method has in both ways."""
    both = "loss at random | together | coverage at random | together"
    yield f"| set | test rows with copies | method | seeds | {both} |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|"
    for name in SETS:
        part = found[found["dataset"] == name]
        copied = part[part["split"] == "at random"]["copied"].mean()
        cells = part.pivot(index="seed", columns=["method", "split"])
        for method in METHODS:
            if ("picp", method, "together") not in cells:
                continue
            scores = [cells[metric][method].dropna() for metric in ("quantile_loss", "picp")]
            values = [
                f"{each[way].mean():.3g}" if way in each else ""
                for each in scores
                for way in SPLITS
            ]
            yield f"| {name} | {copied:.0%} | {method} | {len(scores[0])} | {' | '.join(values)} |"


def add_commands(commands) -> None:
    help_ = "rows of equal columns: splits that keep them together beside splits at random"
    parser = commands.add_parser("duplicates", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(protocol.SEEDS[:3]))
    pages.add_options(parser, RESULTS)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    known = rows.known(args.results, FIELDS[:4])
    methods = [name for name in METHODS if name == WITH_GROUPS or name in conditional.ways()]
    for seed in () if args.table else args.seeds:
        for name in args.datasets:
            for way in SPLITS:
                for method in methods:
                    if (name, seed, way, method) not in known:
                        rows.append(args.results, FIELDS, [score(name, seed, way, method)])
    pages.show(table(pd.read_csv(args.results)), "duplicates", args.write)
    return 0
