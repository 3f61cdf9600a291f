"""The gain and the cost of the plain default and of its rules. `python -m experiments.defaults`

Every setting runs on the same splits. The paper's variant and the former default train on 60 % of
the rows and calibrate on 20 %. The others get the same 80 % and use all of them for both. Rows are
appended to a file as they finish, and existing rows are not run again.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clearbands import (
    ClearRegressor,
    FoldedEnsemble,
    ForestQuantiles,
    ModelSearch,
    PCSEnsemble,
    ResidualQuantiles,
    ScaledResiduals,
    fast,
    metrics,
    thorough,
    variant_a,
)
from clearbands.models.pools import FOREST_ROWS, residual_boosting
from clearbands.models.random_trees import RandomTrees
from experiments import datasets, protocol
from experiments.protocol import LEVEL

TUNED_ON = ("airfoil", "concrete", "insurance", "kin8nm")
KEPT_APART = ("energy_efficiency", "powerplant", "parkinsons")
SETS = TUNED_ON + KEPT_APART
RESULTS = Path(__file__).parent / "results" / "defaults.csv"
PAPER = "paper's variant (a)"
THOROUGH = "thorough()"


def former_default(n_rows: int) -> ClearRegressor:
    """Return the default from before parts competed, which a held-out quarter calibrated."""
    fewest, most = FOREST_ROWS
    model = ForestQuantiles() if fewest <= n_rows <= most else residual_boosting(n_rows)
    return ClearRegressor(
        PCSEnsemble(),
        ResidualQuantiles(model, n_bootstraps=25),
        calibration="joint",
        show_center=True,
    )


class WithoutSurfaces(ModelSearch):
    """A search without surfaces."""

    def centers(self, n_rows: int, n_columns: int) -> dict[str, Any]:
        pool = super().centers(n_rows, n_columns)
        return {name: model for name, model in pool.items() if name != "surface"}


class WithoutRandomTrees(ModelSearch):
    """A search without random trees, so that all trees search their cuts."""

    def centers(self, n_rows: int, n_columns: int) -> dict[str, Any]:
        pool = super().centers(n_rows, n_columns)
        return {n: model for n, model in pool.items() if not isinstance(model, RandomTrees)}


def search(**rules: Any) -> Callable[[int], ClearRegressor]:
    return lambda n_rows: ClearRegressor(search=ModelSearch(**rules))


SETTINGS: Mapping[str, Callable[[int], ClearRegressor]] = {
    PAPER: lambda n_rows: variant_a(),
    "former default": former_default,
    "fast()": lambda n_rows: fast(),
    "default": lambda n_rows: ClearRegressor(),
    THOROUGH: lambda n_rows: thorough(),
    "default without rivals": lambda n_rows: ClearRegressor(
        FoldedEnsemble(), ScaledResiduals(), show_center=True
    ),
    "the best pair alone": search(averaged=1),
    "one center": search(n_centers=1),
    "two centers": search(n_centers=2),
    "half the members": search(repeats=3),
    "without surfaces": lambda n_rows: ClearRegressor(search=WithoutSurfaces()),
    "without random trees": lambda n_rows: ClearRegressor(search=WithoutRandomTrees()),
    "ten folds of few rows": search(small_rows=0),
    "surfaces, mixtures, nested residuals": search(surfaces=True, mixed=3, nested_folds=7),
}


def run(name: str, seed: int, make: Callable[[int], ClearRegressor]) -> dict[str, float]:
    """Score one setting on one split: 80 % of the rows train and calibrate, and the rest judges."""
    X, y = datasets.load(name)
    train, held_out, _, test = protocol.split_rows(len(y), seed)
    model = make(len(train)).set_params(confidence_level=LEVEL, random_state=seed)
    started = time.process_time()
    if model.calibration == "joint":
        model.fit(X[train], y[train], X_cal=X[held_out], y_cal=y[held_out])
    else:
        rows = np.union1d(train, held_out)
        model.fit(X[rows], y[rows])
    seconds = time.process_time() - started
    center, intervals = model.predict_interval(X[test])
    scores = metrics.evaluate(y[test], center, intervals[:, :, 0], LEVEL)
    return {**scores, "lambda": model.lambda_[0], "cpu_seconds": seconds}


def table(rows: pd.DataFrame, order: Sequence[str], against: str = PAPER) -> str:
    """Write the mean change of the test quantile loss against one setting on the same splits."""
    base = rows[rows["setting"] == against].set_index(["dataset", "seed"])
    paired = rows.merge(
        base, left_on=["dataset", "seed"], right_index=True, how="left", suffixes=("", "_base")
    )
    paired["change"] = 100 * (paired["quantile_loss"] / paired["quantile_loss_base"] - 1)
    paired["times"] = paired["cpu_seconds"] / paired["cpu_seconds_base"]
    change = paired.pivot_table(index="setting", columns="dataset", values="change")
    change = change.reindex([name for name in order if name in change.index])
    change = change[sorted(change.columns, key=[*SETS, *change.columns].index)]
    change.insert(0, "mean", change.mean(axis=1))
    lines = [
        f"| change of quantile loss, % | {' | '.join(change.columns)} | coverage | time |",
        f"|---|{'---:|' * (len(change.columns) + 2)}",
    ]
    for name, values in change.iterrows():
        cells = ["" if np.isnan(value) else f"{value:+.1f}" for value in values]
        own = paired[paired["setting"] == name]
        coverage, ratio = own["picp"].mean(), own["times"].median()
        lines.append(f"| {name} | {' | '.join(cells)} | {coverage:.3f} | {ratio:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(protocol.SEEDS[:2]))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--against", choices=SETTINGS, default=PAPER)
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the rows")
    args = parser.parse_args()
    run_missing({n: SETTINGS[n] for n in args.settings}, args.datasets, args.seeds, args.results)
    print(table(pd.read_csv(args.results), list(SETTINGS), args.against))


def run_missing(
    chosen: Mapping[str, Callable[[int], ClearRegressor]],
    names: Sequence[str],
    seeds: Sequence[int],
    path: Path,
) -> None:
    """Compute the rows that are missing, and append them to the file."""
    path.parent.mkdir(exist_ok=True)
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["dataset"])
    known = {tuple(key) for key in done.reindex(columns=["dataset", "seed", "setting"]).to_numpy()}
    for seed in seeds:
        for name in names:
            for setting, make in chosen.items():
                if (name, seed, setting) in known:
                    continue
                scores = run(name, seed, make)
                append({"dataset": name, "seed": seed, "setting": setting, **scores}, path)


def append(row: dict[str, Any], path: Path) -> None:
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    datasets.run(main)
