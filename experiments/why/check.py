"""Noise, ignorance and forecasts of fitted models, held against the truth: rows as they come.

- `forecast`: a model of a tenth of the training rows of a real table says what all of them would
  bring (at most 8,000), and then a model of all of them is fitted.
- `simulated`: the noise is known, and so is the mean of y.
- `repeats`: real rows with the same x, in cells of at least 30: their quantiles are noise.

usage: python -m experiments why check [KIND ...] [--model default] [--seeds 0 1] [--only NAME]
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clearbands import ClearRegressor, fast
from clearbands.calibration.calibration_set import scale
from experiments import results
from experiments.why.tables import PAPER, REPEATS, SIMULATIONS, Table, load, simulate

COLUMNS = [
    "kind", "model", "table", "seed", "rows", "share", "low", "high", "former", "true",
    "noise", "true_noise", "oracle", "width", "times", "forecast", "forecast_low", "forecast_high",
    "came", "held", "unclear", "seconds",
]  # fmt: skip
RESULTS = results.FOLDER / "why_checks.csv"
MOST, TEST_ROWS, LEVEL = 8_000, 2_000, 0.9
FEWEST_IN_CELL = 30
MODELS: dict[str, Callable[..., ClearRegressor]] = {
    "default": ClearRegressor,
    "fast": fast,
}


def fitted(model: str, table: Table, seed: int) -> tuple[ClearRegressor, float]:
    start = time.process_time()
    regressor = MODELS[model](confidence_level=LEVEL, n_jobs=1, random_state=seed)
    return regressor.fit(table.X, table.y), round(time.process_time() - start, 1)


def told(model: ClearRegressor, X: Any) -> dict[str, Any]:
    parts = model.predict_uncertainty(X)
    shares = {"share": parts.mean_share, "low": parts.share_low, "high": parts.share_high}
    unclear = float(np.mean(parts.dominant == "unclear"))
    widths = parts.widths.mean(axis=0)
    _, noise, ignorance = scale(model.calibrator_, model.components(X))
    former = ignorance.sum() / (noise + ignorance).sum()
    shares |= {"former": float(former), "unclear": unclear}
    return shares | {"noise": widths[0], "width": widths.sum()}


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


def add_command(commands: Any) -> None:
    help_ = "noise, ignorance and forecasts of fitted models, against the truth"
    parser = commands.add_parser("check", help=help_, description=help_)
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--model", choices=MODELS, default="default")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which none is begun")
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args)
    print(table_of(pd.read_csv(args.file)))
    return 0


def run_missing(args: argparse.Namespace) -> None:
    warnings.filterwarnings("ignore")
    start, known = time.monotonic(), set()
    if args.file.exists():
        there = pd.read_csv(args.file)
        known = set(zip(there.kind, there.model, there.table, there.seed, strict=True))
    with args.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
        for seed, kind in product(args.seeds, args.kinds):
            check, names = KINDS[kind]
            for name in args.only or names:
                key = {"kind": kind, "model": args.model, "table": name, "seed": seed}
                if tuple(key.values()) in known or time.monotonic() - start > args.seconds:
                    continue
                for row in check(name, args.model, seed):
                    rounded = {
                        k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()
                    }
                    writer.writerow(key | rounded)
                    file.flush()
                    print(key, rounded, flush=True)


def table_of(rows: pd.DataFrame) -> str:
    """What is off, by kind and number of rows."""
    lines = []
    for (kind, n), some in rows[rows.kind != "forecast"].groupby(["kind", "rows"]):
        means = some.groupby("table")[["share", "former", "true"]].mean()
        off, former = ((means[name] - means.true).abs().mean() for name in ("share", "former"))
        held = ((some.true >= some.low) & (some.true <= some.high)).mean()
        lines.append(
            f"{kind}, {n:,} rows, {some.seed.nunique()} seeds: mean share off by {off:.3f} "
            f"(split of the calibrator {former:.3f}), range holds {held:.2f}, noise off by "
            f"{np.exp(np.abs(np.log(some.noise / some.true_noise)).mean()) - 1:.2f}, band holds "
            f"{some.held.mean():.2f}, unclear rows {some.unclear.mean():.2f}\n"
            + means.round(3).to_string()
        )
    some = rows[rows.kind == "forecast"]
    if len(some):
        off = (some.forecast / some.came - 1).abs()
        unchanged = (some.width / some.came - 1).abs().median()
        held = ((some.came >= some.forecast_low) & (some.came <= some.forecast_high)).mean()
        lines.append(
            f"forecast, {some.table.nunique()} tables: off by {off.median():.3f} (median), "
            f"range holds {held:.2f}; nothing changes: {unchanged:.3f}\n"
            + some[["table", "rows", "width", "forecast", "forecast_low", "forecast_high", "came"]]
            .round(4)
            .to_string(index=False)
        )
    return "\n\n".join(lines)
