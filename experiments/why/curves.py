"""Beginnings of learning curves, and how they went on; rows are written as they come.

Every row has what a fit can know of its curve. `came` has the error on unseen rows with 2, 4, 8,
... times the rows, over the error with the fit's own rows; for simulated tables also the error with
infinitely many rows (`inf`), which is noise.

usage: python -m experiments why curves [FILE.csv] [--kinds real families simulated] [--last 150]
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.seeds import seed_missing
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.split import Rows
from clearbands.selection.learning_curve import _predictions, _Task, curve_pool, measure_curve
from clearbands.tables.encoder import TableEncoder, encode
from experiments import results
from experiments.why.families import draw_family
from experiments.why.tables import SIMULATIONS, Table, load, real_names, simulate

RESULTS = results.FOLDER / "why_curves.csv"
COLUMNS = ["table", "kind", "seed", "rows", "columns", "curve", "came", "seconds"]
TEST_ROWS, TIMES = 1_500, 4
REAL_ROWS, MOST = (128, 256, 512, 1024), 4096
SIMULATED_ROWS = (300, 1200)
SURFACE_ROWS = 2_000  # from so many rows on the search has trees on surfaces


def rows_of(table: Table) -> Rows:
    """Return the table as the parts of a model see it."""
    encoder = TableEncoder().fit(table.X, table.y)
    return Rows(np.asarray(encode(encoder, table.X), float), table.y)


def pool_at(n_rows: int, n_columns: int) -> dict[str, BaseEstimator]:
    """Return the centers that stand for the default's search with so many rows."""
    pool = curve_pool(n_columns)
    if n_rows >= SURFACE_ROWS:
        trees = SymmetricTrees(n_trees=200)
        pool["trees of depth 8"] = SymmetricTrees(max_depth=8, l2=1.0, n_trees=200)
        if "surface" in pool:
            pool["surface"] = TreesOnSmooth(KernelRidge(n_landmarks=500), trees)
    return pool


def error(rows: Rows, train: np.ndarray, test: np.ndarray, seed: int = 0) -> float:
    """Return the mean absolute error of the best center on test rows that it did not see."""
    task, rng = _Task(0, 0, 0, train, test), np.random.RandomState(seed)
    errors = [
        float(np.abs(rows.y[test] - predicted).mean())
        for name, model in pool_at(len(train), rows.X.shape[1]).items()
        for predicted in _predictions(name, seed_missing(model, rng), rows, task).values()
    ]
    return min(errors)


def real(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """Measure the curve of a real table, as far as its rows go."""
    rows = rows_of(load(name))
    order = np.random.RandomState(seed).permutation(len(rows))
    n_test = min(TEST_ROWS, len(order) // 5)
    order, test = order[:-n_test], order[-n_test:]
    errors = {}
    for n in (64 * 2**k for k in range(1, 8)):
        if n <= min(MOST, len(order)):
            n_draws = max(1, min(4, len(order) // n, 512 // n))
            draws = (order[k * n : (k + 1) * n] for k in range(n_draws))
            errors[n] = np.mean([error(rows, draw, test, k) for k, draw in enumerate(draws)])
    for n in REAL_ROWS:
        came = {str(m // n): errors[m] / errors[n] for m in errors if m > n}
        if came:
            yield of_curve(rows.take(order[:n]), seed) | {"came": came}


def family(number: int) -> Iterator[dict[str, Any]]:
    """Measure the curve of a table of the families, with two numbers of rows."""
    few = int(np.exp(np.random.RandomState(number + 77).uniform(np.log(70), np.log(420))))
    n = 4 * TIMES * few
    table, y, _ = draw_family(number, n + 2_000)
    rows, test = Rows(table.X, y), np.arange(n, n + 2_000)
    noise = float(np.abs(y[test] - table.f[test]).mean())
    for own in (few, 4 * few):
        now = error(rows, np.arange(own), test)
        came = {"inf": noise / now}
        if own == few:
            came[str(TIMES)] = error(rows, np.arange(TIMES * own), test) / now
        yield of_curve(rows.take(np.arange(own)), number) | {"came": came}


def simulated(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """Measure the curve of a named simulation, which has no part in the numbers of the prior."""
    table, y = simulate(name, 12_000, seed)
    rows, order = Rows(table.X, y), np.random.RandomState(seed).permutation(12_000)
    order, test = order[:-TEST_ROWS], order[-TEST_ROWS:]
    noise = float(np.abs(y[test] - table.f[test]).mean())
    for n in SIMULATED_ROWS:
        n_draws = max(1, 512 // n)
        now = np.mean([error(rows, order[k * n : (k + 1) * n], test, k) for k in range(n_draws)])
        yield of_curve(rows.take(order[:n]), seed) | {"came": {"inf": noise / now}}


def of_curve(rows: Rows, seed: int) -> dict[str, Any]:
    """Return what can be known of the curve of some rows."""
    curve = measure_curve(rows, np.random.RandomState(seed), n_jobs=1)
    if curve is None:
        raise ValueError(f"{len(rows)} rows are too few for a curve.")
    means = curve.means()._asdict()
    known = {name: means[name].tolist() for name in means if name != "noise"}
    return {"rows": len(rows), "columns": rows.X.shape[1], "curve": known}


def rounded(value: Any) -> Any:
    """Round to five digits, also inside of lists and dicts."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return (
        {k: rounded(v) for k, v in value.items()}
        if isinstance(value, dict)
        else float(f"{value:.5g}")
    )


def add_command(commands: Any) -> None:
    help_ = "beginnings of learning curves, and how they went on"
    parser = commands.add_parser("curves", help=help_, description=help_)
    parser.add_argument("file", type=Path, nargs="?", default=RESULTS)
    kinds = ["real", "families", "simulated"]
    parser.add_argument("--kinds", nargs="*", choices=kinds, default=kinds)
    parser.add_argument("--first", type=int, default=0, help="number of the first family")
    parser.add_argument("--last", type=int, default=150, help="number after the last family")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1], help="of the simulations")
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which none is begun")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    start, known = time.monotonic(), set()
    if args.file.exists():
        there = pd.read_csv(args.file)
        known = set(zip(there.table, there.seed, strict=True))
    tasks: list[tuple[str, str, int, Any]] = []
    if "real" in args.kinds:
        tasks += [("real", name, 0, real) for name in real_names()]
    if "families" in args.kinds:
        numbers = range(args.first, args.last)
        tasks += [("family", f"family {k}", k, lambda name, seed: family(seed)) for k in numbers]
    if "simulated" in args.kinds:
        tasks += [("simulated", name, k, simulated) for k in args.seeds for name in SIMULATIONS]
    with args.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
        for kind, name, seed, measure in tasks:
            if (name, seed) in known or time.monotonic() - start > args.seconds:
                continue
            clock = time.process_time()
            for row in measure(name, seed):
                seconds = round(time.process_time() - clock, 2)
                packed = {key: json.dumps(rounded(row[key])) for key in ("curve", "came")}
                key = {"table": name, "kind": kind, "seed": seed, "seconds": seconds}
                writer.writerow(row | key | packed)
                file.flush()
                print(name, row["rows"], packed["came"], flush=True)
    return 0
