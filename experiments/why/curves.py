"""Learning curves of the small search on real tables: rows are written as they come.

`ladder` rows say what the centers that trained on 64, 128, 256, ... rows make of test rows that
none of them saw; `curve` rows what a user with so many rows can know of the curve before.

usage: python -m experiments.why.curves FILE.csv [--most 4096] [--seed 0] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clearbands.models.bagging import seed_missing
from clearbands.rows.split import Rows
from clearbands.selection.learning_curve import (
    _predictions,
    _Task,
    curve_pool,
    measure_curve,
)
from clearbands.tables.encoder import TableEncoder, encode
from experiments.why.tables import SIMULATIONS, Table, load, real_names, simulate

COLUMNS = [
    "table",
    "seed",
    "kind",
    "rows",
    "columns",
    "center",
    "mae",
    "rmse",
    "seconds",
    "details",
]
SMALLEST, TEST_ROWS, SIMULATED_ROWS = 64, 1500, 12_000
CURVE_ROWS = (256, 512)


def rows_of(table: Table) -> Rows:
    """The table as parts see it."""
    encoder = TableEncoder().fit(table.X, table.y)
    return Rows(np.asarray(encode(encoder, table.X), float), table.y)


def table_of(name: str, seed: int) -> Table:
    if name not in SIMULATIONS:
        return load(name)
    rows, y = simulate(name, SIMULATED_ROWS, seed)
    return Table(rows.X, y)


def ladder(rows: Rows, order: np.ndarray, test: np.ndarray, n: int) -> dict[str, Any]:
    """The best center of n rows, on test rows; the mean of up to four draws without common rows."""
    n_draws = max(1, min(4, len(order) // n, 512 // n))
    found: list[dict[str, np.ndarray]] = []
    for draw in range(n_draws):
        task = _Task(0, 0, order[draw * n : (draw + 1) * n], test)
        rng, by_name = np.random.RandomState(draw), {}
        for name, model in curve_pool(rows.X.shape[1]).items():
            by_name |= _predictions(name, seed_missing(model, rng), rows, task)
        found.append(by_name)
    errors = {name: np.array([rows.y[test] - each[name] for each in found]) for name in found[0]}
    mae = {name: float(np.abs(error).mean()) for name, error in errors.items()}
    best = min(mae, key=mae.__getitem__)
    rmse = float(np.sqrt((errors[best] ** 2).mean()))
    return {"center": best, "mae": mae[best], "rmse": rmse, "details": json.dumps(mae)}


def curve(rows: Rows, some: np.ndarray, seed: int) -> dict[str, Any] | None:
    """What can be known of the curve of some rows."""
    found = measure_curve(rows.take(some), np.random.RandomState(seed), n_jobs=1)
    if found is None:
        return None
    absolute = np.abs(found.errors).mean(axis=1)
    covariance = np.cov(absolute) / absolute.shape[1]
    details = {"sizes": found.sizes.tolist(), "mae": absolute.mean(axis=1).tolist()}
    details |= {"covariance": covariance.tolist(), "names": list(found.names)}
    details["rmse"] = np.sqrt((found.errors**2).mean(axis=(1, 2))).tolist()
    details["products"] = (found.errors[:, 0] * found.errors[:, -1]).mean(axis=1).tolist()
    return {"center": found.names[-1], "mae": details["mae"][-1], "details": json.dumps(details)}


def climb(name: str, seed: int, most: int, done: set[tuple]) -> Iterator[dict[str, Any]]:
    rows = rows_of(table_of(name, seed))
    order = np.random.RandomState(seed).permutation(len(rows))
    n_test = min(TEST_ROWS, len(order) // 5)
    order, test = order[:-n_test], order[-n_test:]
    steps = [("ladder", SMALLEST * 2**k) for k in range(9)]
    for kind, n in [*steps, *(("curve", n) for n in CURVE_ROWS)]:
        if n > min(most, len(order)) or (name, seed, kind, n) in done:
            continue
        start = time.process_time()
        found = ladder(rows, order, test, n) if kind == "ladder" else curve(rows, order[:n], seed)
        if found is not None:
            seconds = round(time.process_time() - start, 2)
            yield {
                "table": name, "seed": seed, "kind": kind, "rows": n,
                "columns": rows.X.shape[1], "seconds": seconds, **found,
            }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--most", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    done: set[tuple] = set()
    if given.file.exists():
        there = pd.read_csv(given.file)
        done = set(zip(there.table, there.seed, there.kind, there.rows, strict=True))
    with given.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for name in given.only or [*real_names(), *SIMULATIONS]:
            for row in climb(name, given.seed, given.most, done):
                writer.writerow(row)
                file.flush()
                print(name, row["kind"], row["rows"], row["seconds"], row["mae"], flush=True)


if __name__ == "__main__":
    main()
