"""The command `distributions`: predicted distributions beside those of other libraries.

A file has a row for each data set, seed and method: `dataset, seed, method, crps, pit_distance,
coverage_80`. All methods get the same 80 % of the rows. `crps` is that of 99 quantiles.
`pit_distance` is Kolmogorov's distance of the levels at which the targets lie to the uniform law.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kstest
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_limits

from clearbands import ClearRegressor, metrics
from experiments import datasets, rows
from experiments.protocol import SEEDS, Split, split_rows

RESULTS = Path(__file__).parent / "results" / "distributions.csv"
SETS = ("airfoil", "concrete", "energy_efficiency", "insurance", "kin8nm", "powerplant")
METRICS = ("crps", "pit_distance", "coverage_80")
FIELDS = ("dataset", "seed", "method", *METRICS)
LEVELS = np.arange(1, 100) / 100


class Table(NamedTuple):
    """A data set and its split."""

    X: np.ndarray
    y: np.ndarray
    split: Split
    seed: int

    @property
    def known(self) -> np.ndarray:
        """The rows whose targets methods may use."""
        return np.concatenate([self.split.train, self.split.validation])

    @property
    def new(self) -> np.ndarray:
        return self.X[self.split.test]


def clearbands(table: Table) -> np.ndarray:
    model = ClearRegressor(random_state=table.seed).fit(table.X[table.known], table.y[table.known])
    return model.predict_quantiles(table.new, LEVELS)


def quantile_forest(table: Table) -> np.ndarray:
    from quantile_forest import RandomForestQuantileRegressor

    model = RandomForestQuantileRegressor(random_state=table.seed)
    model.fit(table.X[table.known], table.y[table.known])
    return np.asarray(model.predict(table.new, quantiles=LEVELS.tolist()))


def crepes_forest(table: Table) -> np.ndarray:
    """Predict with a conformal predictive system of a forest's out-of-bag residuals."""
    from crepes import WrapRegressor

    model = WrapRegressor(RandomForestRegressor(500, oob_score=True, random_state=table.seed))
    model.fit(table.X[table.known], table.y[table.known])
    model.calibrate(table.X[table.known], table.y[table.known], oob=True, cps=True, seed=table.seed)
    return _percentiles(model, table)


def crepes_catboost(table: Table) -> np.ndarray:
    """Predict with a conformal predictive system around CatBoost.

    The residuals of neighbours normalise it. 60 % of the rows train and 20 % calibrate.
    """
    from catboost import CatBoostRegressor
    from crepes import WrapRegressor
    from crepes.extras import DifficultyEstimator

    train, calibration = table.split.train, table.split.calibration
    learner = CatBoostRegressor(verbose=False, thread_count=1, random_seed=table.seed)
    model = WrapRegressor(learner)
    model.fit(table.X[train], table.y[train])
    difficulty = DifficultyEstimator()
    wrong_by = table.y[train] - model.predict(table.X[train])
    difficulty.fit(table.X[train], residuals=wrong_by, scaler=True)
    model.calibrate(
        table.X[calibration], table.y[calibration], de=difficulty, cps=True, seed=table.seed
    )
    return _percentiles(model, table)


def _percentiles(model, table: Table) -> np.ndarray:
    """Return quantiles, cut to the range of known targets, where the system's own are infinite."""
    low, high = table.y[table.known].min(), table.y[table.known].max()
    asked = (100 * LEVELS).round().tolist()
    found = model.predict_percentiles(
        table.new, higher_percentiles=asked, y_min=low, y_max=high, seed=table.seed
    )
    return np.maximum.accumulate(np.asarray(found, float), axis=1)


METHODS: dict[str, Callable[[Table], np.ndarray]] = {
    "clearbands": clearbands,
    "quantile forest": quantile_forest,
    "crepes, forest": crepes_forest,
    "crepes, CatBoost": crepes_catboost,
}


def add_commands(commands) -> None:
    help_ = "predicted distributions against crepes' and a quantile forest's: CRPS and PIT"
    parser = commands.add_parser("distributions", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=list(SETS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS[:3]), choices=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args.datasets, args.seeds, args.results)
    print(table(pd.read_csv(args.results)))
    return 0


def run_missing(names: list[str], seeds: list[int], path: Path) -> None:
    done = rows.known(path, ("dataset", "seed", "method"))
    for seed in seeds:
        for name in names:
            X, y = datasets.load(name)
            of = Table(X, y, split_rows(len(y), seed), seed)
            for method, predict in METHODS.items():
                if (name, seed, method) in done:
                    continue
                with threadpool_limits(1):
                    found = scores(y[of.split.test], predict(of))
                row = {"dataset": name, "seed": seed, "method": method, **found}
                rows.append(path, FIELDS, [row])


def scores(y: np.ndarray, quantiles: np.ndarray) -> dict[str, float]:
    levels = metrics.pit(y, quantiles, LEVELS)
    inside = (quantiles[:, 9] <= y) & (y <= quantiles[:, 89])
    return {
        "crps": metrics.crps(y, quantiles, LEVELS),
        "pit_distance": float(kstest(levels, "uniform").statistic),
        "coverage_80": float(inside.mean()),
    }


def table(found: pd.DataFrame) -> str:
    """Write the CRPS on each set relative to clearbands, in percent, and means of the rest."""
    losses = found.pivot_table(index="method", columns="dataset", values="crps")
    names = [name for name in SETS if name in losses.columns]
    change = 100 * (losses / losses.loc["clearbands"] - 1)
    means = found.groupby(["method", "dataset"])[list(METRICS)].mean().groupby("method").mean()
    lines = [
        f"| method | {' | '.join(names)} | mean | PIT from uniform | coverage at 80 % |",
        f"|---|{'---:|' * (len(names) + 3)}",
    ]
    for method in METHODS:
        cells = [f"{change.loc[method, name]:+.1f}" for name in names]
        cells.append(f"{change.loc[method, names].mean():+.1f}")
        cells += [f"{means.loc[method, name]:.3f}" for name in ("pit_distance", "coverage_80")]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)
