"""Noise, ignorance and forecasts of fitted models, held against the truth: rows as they come.

- `forecast`: a model of a tenth of the training rows of a real table says what all of them would
  bring (at most 8,000), and then a model of all of them is fitted.
- `simulated`: the noise is known, and so is the mean of y.
- `repeats`: real rows with the same x, in cells of at least 30: their quantiles are noise.

usage: python -m experiments.why.check FILE.csv KIND [--model default] [--seeds 0 1] [--only NAME]
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clearbands import ClearRegressor, fast
from experiments.why.tables import PAPER, REPEATS, SIMULATIONS, Table, load, simulate

COLUMNS = [
    "kind", "model", "table", "seed", "rows", "share", "low", "high", "true",
    "noise", "true_noise", "oracle", "width", "times", "forecast", "forecast_low", "forecast_high",
    "came", "held", "unclear", "seconds",
]  # fmt: skip
MOST, TEST_ROWS, LEVEL = 8_000, 2_000, 0.9
FEWEST_IN_CELL = 30
MODELS: dict[str, Callable[..., ClearRegressor]] = {
    "default": ClearRegressor,
    "fast": fast,
}


def fitted(model: str, table: Table, seed: int) -> tuple[ClearRegressor, float]:
    start = time.process_time()
    made = MODELS[model](confidence_level=LEVEL, n_jobs=1, random_state=seed)
    return made.fit(table.X, table.y), round(time.process_time() - start, 1)


def told(model: ClearRegressor, X: Any) -> dict[str, Any]:
    parts = model.predict_uncertainty(X)
    shares = {"share": parts.mean_share, "low": parts.share_low, "high": parts.share_high}
    unclear = float(np.mean(parts.dominant == "unclear"))
    widths = parts.widths.mean(axis=0)
    return shares | {"noise": widths[0], "width": widths.sum(), "unclear": unclear}


def forecast(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    table = load(name)
    order = np.random.RandomState(seed).permutation(len(table.y))
    n_test = min(TEST_ROWS, len(order) // 5)
    test, train = order[:n_test], order[n_test:][:MOST]
    few, seconds = fitted(model, table.take(train[: len(train) // 10]), seed)
    X = table.take(test).X
    found = told(few, X)
    times = len(train) / few.n_train_
    likely = few.forecast((times,)).factors[1]
    many, _ = fitted(model, table.take(train), seed)
    came = told(many, X)["width"]
    values = dict(
        zip(("forecast", "forecast_low", "forecast_high"), likely * found["width"], strict=True)
    )
    yield {
        "rows": few.n_train_,
        "times": times,
        "came": came,
        "seconds": seconds,
        **found,
        **values,
    }


def simulated(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    z = 2 * 1.6448536269514722
    for n in (300, 1200):
        rows, y = simulate(name, n + TEST_ROWS, seed)
        few, seconds = fitted(model, Table(rows.X[:n], y[:n]), seed)
        X, f, sd = rows.X[n:], rows.f[n:], rows.sd[n:]
        found = told(few, X)
        noise = z * float(sd.mean())
        oracle = 1 - 2 * float(np.quantile(np.abs(y[:n] - rows.f[:n]), LEVEL)) / found["width"]
        band = few.predict_center_interval(X)
        held = float(np.mean((band[:, 0] <= f) & (f <= band[:, 1])))
        known = {"true": 1 - noise / found["width"], "true_noise": noise, "oracle": oracle}
        yield {"rows": n, "held": held, "seconds": seconds, **known, **found}


def repeats(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    table = load(f"repeats/{name}")
    cell = table.X.groupby(list(table.X.columns)).ngroup().to_numpy()
    sizes = np.bincount(cell)
    order = np.random.RandomState(seed).permutation(len(table.y))
    by_cell = pd.Series(table.y).groupby(cell)
    low, high = (
        by_cell.apply(lambda y, q=q: np.quantile(y, q, method="median_unbiased"))
        for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    test = order[-TEST_ROWS:][sizes[cell[order[-TEST_ROWS:]]] >= FEWEST_IN_CELL]
    noise = float((high - low).to_numpy()[cell[test]].mean())
    mean = by_cell.mean().to_numpy()[cell[test]]
    for n in (500, 4000):
        few, seconds = fitted(model, table.take(order[:n]), seed)
        X = table.take(test).X
        found, band = told(few, X), few.predict_center_interval(X)
        held = float(np.mean((band[:, 0] <= mean) & (mean <= band[:, 1])))
        known = {"true": 1 - noise / found["width"], "true_noise": noise}
        yield {"rows": n, "held": held, "seconds": seconds, **known, **found}


KINDS = {
    "forecast": (forecast, PAPER),
    "simulated": (simulated, list(SIMULATIONS)),
    "repeats": (repeats, REPEATS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--model", choices=MODELS, default="default")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    done = set()
    if given.file.exists():
        there = pd.read_csv(given.file)
        done = set(zip(there.kind, there.model, there.table, there.seed, strict=True))
    check, names = KINDS[given.kind]
    with given.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for seed in given.seeds:
            for name in given.only or names:
                key = {"kind": given.kind, "model": given.model, "table": name, "seed": seed}
                if tuple(key.values()) in done:
                    continue
                for row in check(name, given.model, seed):
                    rounded = {
                        k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()
                    }
                    writer.writerow(key | rounded)
                    file.flush()
                    print(key, rounded, flush=True)


if __name__ == "__main__":
    main()
