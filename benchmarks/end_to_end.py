"""The authors' program beside ours on the same rows: `make benchmark`

Each run is a process of its own on one core. The programs take turns, so that a ratio compares runs
that follow each other. The time covers fitting both ensembles, calibrating, and predicting the test
rows. Rows are appended to a file as they finish, and existing rows are not run again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import tables
from benchmarks.environment import ROOT, EnvironmentFailure, authors_python
from benchmarks.measure import load_average
from benchmarks.rows import LEVEL, Rows
from clearbands import metrics
from experiments import datasets
from experiments.protocol import FIRST_SEED, split_rows

RESULTS = Path(__file__).parent / "results" / "end_to_end.csv"
KEY = ("program", "variant", "dataset", "seed")
ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    )
}

# An entry is a variant, a data set and a number of seeds. The authors' program takes 20 s to 2 min
# per seed on the small data sets and up to an hour on the large ones, where the forests of (a) and
# (c) would take many hours.
PLAN = (
    ("b", "airfoil", 3),
    ("b", "concrete", 3),
    ("b", "insurance", 3),
    ("b", "powerplant", 3),
    ("b", "ca_housing", 1),
    ("b", "superconductor", 1),
    ("a", "airfoil", 3),
    ("a", "concrete", 3),
    ("a", "insurance", 3),
    ("c", "airfoil", 3),
    ("c", "concrete", 3),
    ("c", "insurance", 3),
)
LARGE = ("ca_housing", "superconductor")  # these run last, and without our stock backends


class Run(NamedTuple):
    program: str
    variant: str
    dataset: str
    seed: int


class Referee(NamedTuple):
    """The process that starts the programs and scores their results."""

    authors: Path | None  # the interpreter that has their package
    cache: Path  # the folder of compiled kernels
    folder: Path  # the folder of files that processes exchange

    def warm_up(self, run: Run) -> dict[str, Any]:
        """Measure a small fit, which compiles all kernels if the cache is empty."""
        rows, _ = load_rows("airfoil", FIRST_SEED)
        facts, _ = self._start(run, rows, "--warm-up-only")
        return facts

    def play(self, run: Run) -> dict[str, Any]:
        rows, y_test = load_rows(run.dataset, run.seed)
        facts, out = self._start(run, rows)
        bounds = np.stack([out["lower"], out["upper"]], axis=1)
        scores = metrics.evaluate(y_test, out["center"], bounds, LEVEL)
        return {
            **facts,
            "n_train": len(rows.X_train),
            "n_features": rows.X_train.shape[1],
            "model": str(out["model"]),
            **{name: scores[name] for name in ("picp", "nciw", "quantile_loss")},
        }

    def _start(self, run: Run, rows: Rows, *options: str) -> tuple[dict[str, Any], Any]:
        row_file, out_file = self.folder / "rows.npz", self.folder / "out.npz"
        np.savez(row_file, **rows._asdict())
        python = str(self.authors) if run.program == "peer" else sys.executable
        command = [python, "-m", "benchmarks.worker", run.program, run.variant]
        started = {
            "date": datetime.now().strftime("%Y-%m-%d %H:%M"),
            "load": round(load_average(), 2),
        }
        done = subprocess.run(
            [*command, str(row_file), str(out_file), *options],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD, "NUMBA_CACHE_DIR": str(self.cache)},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{run} failed:\n{done.stderr[-2000:]}")
        out = np.load(out_file)
        return {**json.loads(str(out["facts"])), **started}, out


def load_rows(dataset: str, seed: int) -> tuple[Rows, np.ndarray]:
    """Return one split, and its test targets."""
    X, y = datasets.load(dataset)
    train, validation, _, test = split_rows(len(y), seed)
    rows = Rows(X[train], y[train], X[validation], y[validation], X[test], seed)
    return rows, y[test]


def plan(opponent: str, *, quick: bool = False, stock: bool = False) -> list[Run]:
    """Return all runs, seed by seed, with the large data sets last."""
    entries = [entry for entry in PLAN if not quick or entry[1] == "airfoil"]
    if opponent == "stand_in":
        entries = [entry for entry in entries if entry[0] == "b"]
    splits = [
        (dataset in LARGE, FIRST_SEED + seed_index, variant, dataset)
        for variant, dataset, n_seeds in entries
        for seed_index in range(1 if quick else n_seeds)
    ]
    runs = []
    for is_large, seed, variant, dataset in sorted(splits, key=lambda split: split[:2]):
        programs = [opponent, "ours", *(["ours_stock"] if stock and not is_large else [])]
        runs += [Run(program, variant, dataset, seed) for program in programs]
    return runs


def outstanding(runs: Iterable[Run], results: Path) -> list[Run]:
    """Return the runs that are not in the file."""
    if not results.exists():
        return list(runs)
    done = pd.read_csv(results)[list(KEY)].itertuples(index=False, name=None)
    known = set(done)
    return [run for run in runs if tuple(run) not in known]


def append(row: dict[str, Any], results: Path) -> None:
    results.parent.mkdir(exist_ok=True)
    is_new = not results.exists()
    with results.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


COLUMNS = (
    *KEY,
    "n_train",
    "n_features",
    "model",
    "cpu_seconds",
    "wall_seconds",
    "peak_mb",
    "above_mb",
    "picp",
    "nciw",
    "quantile_loss",
    "load",
    "date",
    "versions",
)


def find_opponent() -> tuple[str, Path | None]:
    try:
        return "peer", authors_python()
    except EnvironmentFailure as failure:
        print(f"The authors' package cannot be had: {failure}")
        print("A plain loop over stock XGBoost stands in for it, for variant (b) only.\n")
        return "stand_in", None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="airfoil only, one seed")
    parser.add_argument("--stock", action="store_true", help="our stock backends, too")
    parser.add_argument("--table", action="store_true", help="run nothing, show what is there")
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    if not args.table:
        run_all(args)
    print(tables.end_to_end(pd.read_csv(args.results)))


def run_all(args: argparse.Namespace) -> None:
    opponent, authors = find_opponent()
    runs = outstanding(plan(opponent, quick=args.quick, stock=args.stock), args.results)
    if not runs:
        return
    stay_on_one_core()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        referee = Referee(authors, folder / "cache", folder)
        for call in tables.CALLS:  # the first call also fills the cache for all others
            run = Run("ours", "a", call, FIRST_SEED)
            facts = referee.warm_up(run)
            if outstanding([run], args.results):
                append({**run._asdict(), **facts}, args.results)
        for run in runs:
            facts = referee.play(run)
            append({**run._asdict(), **facts}, args.results)
            print(f"{' '.join(map(str, run))}: {facts['cpu_seconds']:.1f} s", flush=True)


def stay_on_one_core() -> None:
    """Bind this process, and those that it starts, to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    datasets.run(main)
