"""Folds by hash beside folds by permutation: `python -m experiments.hashed_draws`

The preset `fast` is fitted to the same rows once in memory, where a permutation draws the folds,
and once from a parquet file, where the fold of a row is a hash of its number. Everything else is
equal: the models, the number of members, and, for tables of this size, the cuts and the calibration
rows. With `--preset default`, only symmetric trees compete in the fit from the file, and only the
best of them is used. The quantile loss is that of the test rows. The output is the tables of
docs/scaling.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from clearbands import metrics
from clearbands.presets import PRESETS
from experiments import datasets, protocol

SETS = ("airfoil", "concrete", "energy_efficiency", "powerplant", "ca_housing")
LEVEL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=protocol.SEEDS[:5])
    parser.add_argument("--preset", choices=sorted(PRESETS), default="fast")
    args = parser.parse_args()
    make = PRESETS[args.preset]
    print("| set | rows | loss by permutation | by hash | difference, % | other seed, % |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    shares, others = [], []
    for name in args.datasets:
        X, y = datasets.load(name)
        losses = np.array([losses_of(make, np.asarray(X, float), y, seed) for seed in args.seeds])
        by_permutation, by_hash, _ = losses.mean(axis=0)
        differences = 100 * (losses[:, 1] / losses[:, 0] - 1)
        between = 100 * (losses[:, 2] / losses[:, 0] - 1)
        shares.append(differences.mean())
        others.append(between.mean())
        print(
            f"| {name} | {len(y):,} | {by_permutation:.4g} | {by_hash:.4g} | "
            f"{differences.mean():+.2f} ± {_error(differences):.2f} | "
            f"{between.mean():+.2f} ± {_error(between):.2f} |",
            flush=True,
        )
    print(f"| mean |  |  |  | {np.mean(shares):+.2f} | {np.mean(others):+.2f} |")


def losses_of(
    make: Callable[..., Any], X: np.ndarray, y: np.ndarray, seed: int
) -> tuple[float, float, float]:
    """Return the losses of a fit in memory, from a file, and in memory with another seed."""
    split = protocol.split_rows(len(y), seed, "standard")
    train, test = np.concatenate([split.train, split.calibration]), split.test
    settings = {"confidence_level": LEVEL, "n_jobs": 1}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        table = pl.DataFrame(X[train], schema=[f"x{j}" for j in range(X.shape[1])])
        table.with_columns(y=pl.Series(y[train])).write_parquet(path)
        from_file = make(random_state=seed, **settings).fit(path, "y")
    in_memory, again = (make(random_state=s, **settings).fit(X[train], y[train]) for s in (seed, 1))
    new = pl.DataFrame(X[test], schema=table.columns)
    return (
        _loss(in_memory, X[test], y[test]),
        _loss(from_file, new, y[test]),
        _loss(again, X[test], y[test]),
    )


def _loss(model, X, y: np.ndarray) -> float:
    return metrics.quantile_loss(y, model.predict_interval(X)[1][:, :, 0], LEVEL)


def _error(differences: np.ndarray) -> float:
    return float(differences.std(ddof=1) / np.sqrt(len(differences)))


if __name__ == "__main__":
    datasets.run(main)
