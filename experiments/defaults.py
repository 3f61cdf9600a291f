"""Which settings should be the plain default? `python -m experiments.defaults`

Every setting runs on the same splits of six small sets, or with `--large` on one split of larger
ones; the one with the lowest mean test quantile loss, relative to the paper's variant (a), becomes
the default of ClearRegressor. Rows are appended to a file as they finish, and those that are there
are not run again.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from clearbands import (
    BoostedQuantiles,
    ClearRegressor,
    ForestQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
    metrics,
    quantile_pool,
    variant_a,
)
from experiments import datasets

LEVEL = 0.95
SETS = ("airfoil", "concrete", "energy_efficiency", "insurance", "kin8nm", "powerplant")
SEEDS = range(777, 782)
LARGE_SETS = ("kin8nm", "computer", "powerplant", "sulfur", "miami_housing", "ca_housing")
RESULTS = Path(__file__).parent / "results" / "defaults.csv"
LARGE_RESULTS = RESULTS.with_name("defaults_large.csv")
PAPER = "paper's variant (a)"
SHALLOW, DEEPER = "shallow aleatoric, 400 rounds", "deeper aleatoric, 400 rounds"
SHALLOW_SHOWN = "shallow aleatoric, 400 rounds, center shown"
FOREST, FOREST_SHOWN = "forest, 400 rounds", "forest, 400 rounds, center shown"


def boosted(depth: int) -> ResidualQuantiles:
    """Aleatoric trees of this depth, whatever model won the center."""
    model = BoostedQuantiles(n_trees=100, max_depth=depth, learning_rate=0.1)
    return ResidualQuantiles(model, n_bootstraps=25)


def forest() -> ResidualQuantiles:
    return ResidualQuantiles(ForestQuantiles(), n_bootstraps=25)


def pool(n_trees: int = 100) -> PCSEnsemble:
    """The paper's pool with another number of boosted trees in it."""
    return PCSEnsemble(quantile_pool() | {"boosting": BoostedQuantiles(n_trees=n_trees)})


def settings() -> dict[str, dict[str, Any]]:
    """Parameters of ClearRegressor by the name the table shows."""
    return {
        PAPER: variant_a().get_params(deep=False),
        "out-of-bag residuals": {
            **variant_a().get_params(deep=False),
            "residuals": "out-of-bag",
        },
        "25 aleatoric bootstraps": {
            "epistemic": pool(),
            "aleatoric": ResidualQuantiles(n_bootstraps=25),
        },
        "shallow aleatoric": {"epistemic": pool(), "aleatoric": boosted(3)},
        "shallow aleatoric, out-of-bag": {
            "epistemic": pool(),
            "aleatoric": boosted(3),
            "residuals": "out-of-bag",
        },
        SHALLOW: {"epistemic": pool(400), "aleatoric": boosted(3)},
        SHALLOW_SHOWN: {"epistemic": pool(400), "aleatoric": boosted(3), "show_center": True},
        DEEPER: {"epistemic": pool(400), "aleatoric": boosted(6)},
        FOREST: {"epistemic": pool(400), "aleatoric": forest()},
        FOREST_SHOWN: {"epistemic": pool(400), "aleatoric": forest(), "show_center": True},
    }


def run(name: str, seed: int, parameters: dict[str, Any]) -> dict[str, float]:
    """One setting on one split: 60 % train, 20 % choose and calibrate, 20 % test."""
    X, y = datasets.load(name)
    rest, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    train, held_out = train_test_split(rest, test_size=0.25, random_state=seed)
    model = ClearRegressor(**parameters)
    model.set_params(confidence_level=LEVEL, random_state=seed)
    started = time.process_time()
    model.fit(X[train], y[train], X_cal=X[held_out], y_cal=y[held_out])
    seconds = time.process_time() - started
    center, intervals = model.predict_interval(X[test])
    scores = metrics.evaluate(y[test], center, intervals[:, :, 0], LEVEL)
    return {**scores, "lambda": model.lambda_[0], "cpu_seconds": seconds}


def table(rows: pd.DataFrame, order: Sequence[str]) -> str:
    """Change of the mean test quantile loss against the paper's settings, per set and overall."""
    losses = rows.pivot_table(index="setting", columns="dataset", values="quantile_loss")
    losses = losses.reindex([name for name in order if name in losses.index])
    change = 100 * (losses / losses.loc[PAPER] - 1)
    seconds = rows.groupby("setting")["cpu_seconds"].sum()
    change.insert(0, "mean", change.mean(axis=1))
    lines = [
        f"| change of quantile loss, % | {' | '.join(change.columns)} | coverage | time |",
        f"|---|{'---:|' * (len(change.columns) + 2)}",
    ]
    for name, values in change.iterrows():
        cells = [f"{value:+.1f}" for value in values]
        coverage = rows.loc[rows["setting"] == name, "picp"].mean()
        ratio = seconds[name] / seconds[PAPER]
        lines.append(f"| {name} | {' | '.join(cells)} | {coverage:.3f} | {ratio:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    if parser.parse_args().large:
        names, seeds, path = LARGE_SETS, SEEDS[:1], LARGE_RESULTS
        wanted: tuple[str, ...] = (PAPER, SHALLOW, DEEPER, FOREST, FOREST_SHOWN)
    else:
        names, seeds, path = SETS, SEEDS, RESULTS
        wanted = tuple(name for name in settings() if name not in (DEEPER, FOREST))
    run_missing({name: settings()[name] for name in wanted}, names, seeds, path)
    print(table(pd.read_csv(path), wanted))


def run_missing(
    chosen: dict[str, dict[str, Any]], names: Sequence[str], seeds: Sequence[int], path: Path
) -> None:
    """Append to the file the rows that it does not have yet."""
    path.parent.mkdir(exist_ok=True)
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["dataset"])
    known = {tuple(key) for key in done.reindex(columns=["dataset", "seed", "setting"]).to_numpy()}
    for seed in seeds:
        for name in names:
            for setting, parameters in chosen.items():
                if (name, seed, setting) in known:
                    continue
                scores = run(name, seed, parameters)
                append({"dataset": name, "seed": seed, "setting": setting, **scores}, path)


def append(row: dict[str, Any], path: Path) -> None:
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
