"""Noise, ignorance and forecasts of fitted models, compared with the truth, one row per fit.

- `forecast`: a model of a tenth of the training rows of a real table forecasts the width with all
  of them (at most 8,000), and then a model of all of them is fitted.
- `simulated`: the noise is known, and so is the mean of y.
- `families`: the noise of other simulated tables is known, too; from them `prior` learns how models
  differ from the search of their curve.
- `repeats`: real rows with the same x stand in cells of at least 30, whose quantiles are noise.
- `same rows`: 500 rows of a real table, of which each seed should say the same.

A row of the file has the curve that the fit saw and what came true. Shares and forecasts follow
from the curve by the present numbers of `CurvePrior`, so other numbers need no new fits. `held` (by
the band for the mean) and `unclear` belong to the model that was fitted.

usage: python -m experiments why check [KIND ...] [--model default] [--seeds 0 1] [--only NAME]
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from clearbands import ClearRegressor, fast
from clearbands.calibration.calibration_set import scale
from clearbands.prediction.curve_posterior import (
    PRIOR,
    CurveMeans,
    CurvePrior,
    extrapolate,
)
from clearbands.selection.learning_curve import measure_curve
from experiments import results
from experiments.why.curves import rounded
from experiments.why.families import draw_family
from experiments.why.tables import PAPER, REPEATS, SIMULATIONS, Table, load, simulate

COLUMNS = [
    "kind", "model", "table", "seed", "rows", "curve", "own", "excess", "width",
    "former", "true_noise", "oracle", "times", "came", "held", "unclear", "seconds",
    "curve_seconds",
]  # fmt: skip
RESULTS = results.FOLDER / "why_checks.csv"
MOST, TEST_ROWS, LEVEL = 8_000, 2_000, 0.9
FEWEST_IN_CELL, SAME_ROWS = 30, 500
N_FAMILIES, FAMILY_TEST_ROWS = 71, 3_000
MODELS: dict[str, Callable[..., ClearRegressor]] = {
    "default": ClearRegressor,
    "fast": fast,
}


def fitted(model: str, table: Table, seed: int) -> tuple[ClearRegressor, dict[str, Any]]:
    """Return a fitted model, its CPU time, and the evidence about its learning curve."""
    start, curve_seconds = time.process_time(), 0.0

    def timed(*args: Any, **labels: Any) -> Any:
        nonlocal curve_seconds
        begun = time.process_time()
        curve = measure_curve(*args, **labels)
        curve_seconds += time.process_time() - begun
        return curve

    regressor = MODELS[model](confidence_level=LEVEL, n_jobs=1, random_state=seed)
    with (
        mock.patch("clearbands.selection.outlook.measure_curve", timed),
        mock.patch("clearbands.selection.outlook.extrapolate", wraps=extrapolate) as asked,
    ):
        regressor.fit(table.X, table.y)
    seconds = {"seconds": time.process_time() - start, "curve_seconds": curve_seconds}
    seen: dict[str, Any] = {name: round(each, 2) for name, each in seconds.items()}
    if asked.called:
        (means,), known = asked.call_args
        curve = {k: np.asarray(v).tolist() for k, v in means._asdict().items() if v is not None}
        seen["curve"] = json.dumps(rounded(curve))
        seen |= {"rows": known["rows"], "own": known["error"], "excess": known["excess"]}
    return regressor, seen


def told(model: ClearRegressor, X: Any) -> dict[str, Any]:
    """Return the mean width of new rows, its ignorance by lambda, and the share of unclear rows."""
    parts = model.predict_uncertainty(X)
    _, noise, ignorance = scale(model.calibrator_, model.components(X))
    return {
        "width": float(parts.widths.sum(axis=1).mean()),
        "former": float(ignorance.sum() / (noise + ignorance).sum()),
        "unclear": float(np.mean(parts.dominant == "unclear")),
    }


def forecast(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    table = load(name)
    order = np.random.RandomState(seed).permutation(len(table.y))
    n_test = min(TEST_ROWS, len(order) // 5)
    test, train = order[:n_test], order[n_test:][:MOST]
    few, seen = fitted(model, table.take(train[: len(train) // 10]), seed)
    X = table.take(test).X
    many, _ = fitted(model, table.take(train), seed)
    came = {"times": len(train) / few.n_train_, "came": told(many, X)["width"]}
    yield {"rows": few.n_train_} | seen | told(few, X) | came


def simulated(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    z = 2 * 1.6448536269514722
    for n in (300, 1200):
        rows, y = simulate(name, n + TEST_ROWS, seed)
        few, seen = fitted(model, Table(rows.X[:n], y[:n]), seed)
        X, f, sd = rows.X[n:], rows.f[n:], rows.sd[n:]
        band = few.predict_center_interval(X)
        known = {
            "true_noise": z * float(sd.mean()),
            "oracle": 2 * float(np.quantile(np.abs(y[:n] - rows.f[:n]), LEVEL)),
            "held": float(np.mean((band[:, 0] <= f) & (f <= band[:, 1]))),
        }
        yield {"rows": n} | seen | told(few, X) | known


def families(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    number = int(name.split()[1])
    few = int(np.exp(np.random.RandomState(number + 77).uniform(np.log(70), np.log(420))))
    n = few if number % 2 else 4 * few
    rows, y, _ = draw_family(number, n + FAMILY_TEST_ROWS)
    regressor, seen = fitted(model, Table(rows.X[:n], y[:n]), number)
    shape = (y[n:] - rows.f[n:]) / rows.sd[n:]
    low, high = np.quantile(shape, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    known = {"true_noise": float(rows.sd[n:].mean() * (high - low))}
    yield {"rows": n} | seen | told(regressor, rows.X[n:]) | known


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
        few, seen = fitted(model, table.take(order[:n]), seed)
        X = table.take(test).X
        band = few.predict_center_interval(X)
        held = float(np.mean((band[:, 0] <= mean) & (mean <= band[:, 1])))
        yield {"rows": n} | seen | told(few, X) | {"held": held, "true_noise": noise}


def same_rows(name: str, model: str, seed: int) -> Iterator[dict[str, Any]]:
    table = load(name)
    order = np.random.RandomState(0).permutation(len(table.y))
    regressor, seen = fitted(model, table.take(order[:SAME_ROWS]), seed)
    yield seen | told(regressor, table.take(order[-TEST_ROWS:]).X)


KINDS = {
    "forecast": (forecast, PAPER),
    "simulated": (simulated, list(SIMULATIONS)),
    "families": (families, [f"family {number}" for number in range(N_FAMILIES)]),
    "repeats": (repeats, REPEATS),
    "same rows": (same_rows, ["kin8nm"]),
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
                    short = {k: rounded(v) if isinstance(v, float) else v for k, v in row.items()}
                    writer.writerow(key | short)
                    file.flush()
                    print(key, {k: v for k, v in short.items() if k != "curve"}, flush=True)


def evidence_of(fit: Any) -> dict[str, Any]:
    """Return the arguments that `extrapolate` got from a fit, a row of the file."""
    curve = json.loads(fit.curve)
    means = CurveMeans(**{name: np.array(values) for name, values in curve.items()})
    own = None if np.isnan(fit.own) else fit.own
    return {"means": means, "rows": fit.rows, "error": own, "excess": fit.excess}


def with_answers(fits: pd.DataFrame, priors: dict[str, CurvePrior] | None = None) -> pd.DataFrame:
    """Add the share of ignorance or the forecast over the present width, its range and the truth.

    Tables that `priors` do not name have the numbers of the package. Another column, `line`, has
    the forecast of a straight line through the logarithms of the curve.
    """
    fits = fits[fits["curve"].notna()].reset_index(drop=True)
    answers, lines = [], []
    for fit in fits.itertuples():
        evidence = evidence_of(fit)
        posterior = extrapolate(**evidence, prior=(priors or {}).get(fit.table, PRIOR))
        is_forecast = fit.kind == "forecast"
        answers.append(posterior.factors(fit.times) if is_forecast else posterior.shares())
        means = evidence["means"]
        slope = np.polyfit(np.log(means.sizes), np.log(means.errors), 1)[0]
        lines.append(fit.times ** min(slope, 0.0))
    found = pd.DataFrame(answers, columns=["middle", "low", "high"])
    true = np.where(fits["kind"] == "forecast", fits["came"], fits["width"] - fits["true_noise"])
    return pd.concat([fits, found.assign(true=true / fits["width"], line=lines)], axis=1)


def interval_score(came: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the interval scores of ranges of 80 %."""
    return high - low + 10 * np.maximum(low - came, 0) + 10 * np.maximum(came - high, 0)


def table_of(fits: pd.DataFrame, priors: dict[str, CurvePrior] | None = None) -> str:
    """Return how far shares, noise and forecasts are off, by kind and number of rows."""
    rows = with_answers(fits, priors)
    rows["held_by_range"] = rows["true"].clip(0).between(rows["low"], rows["high"])
    tables = []
    shares = rows[rows["kind"].isin(["simulated", "repeats"])]
    for (kind, is_large), some in shares.groupby(["kind", shares["rows"] >= 1_000]):
        means = some.groupby("table")[["rows", "true", "middle", "former"]].mean()
        off, former = (means[name] - means["true"] for name in ("middle", "former"))
        noise = (1 - some["middle"]) / (1 - some["true"])
        oracle = (some["oracle"] / some["true_noise"] - 1).abs().mean()
        whose = "" if np.isnan(oracle) else f" (who knows the mean of y: {oracle:.3f})"
        tables.append(
            f"{kind}, {'from' if is_large else 'below'} 1,000 rows, {len(some)} fits: mean share "
            f"off by {off.abs().mean():.3f} (split of the calibrator {former.abs().mean():.3f}), "
            f"bias {off.mean():+.3f}, range holds {some['held_by_range'].mean():.2f}, noise off by "
            f"{(noise - 1).abs().mean():.3f}{whose}, in median of "
            f"abs(log) {np.log(noise).abs().median():.3f}, band holds {some['held'].mean():.2f}, "
            f"unclear rows {some['unclear'].mean():.2f}\n{means.round(3).to_string()}"
        )
    some = rows[rows["kind"] == "forecast"]
    if len(some):
        tables.append(table_of_forecasts(some))
    for name, some in rows[rows["kind"] == "same rows"].groupby("table"):
        spread = some["middle"].max() - some["middle"].min()
        tables.append(
            f"{name}, the same rows, {len(some)} seeds: shares {some['middle'].round(3).tolist()}, "
            f"largest - smallest {spread:.3f}"
        )
    cost = rows["curve_seconds"] / (rows["seconds"] - rows["curve_seconds"])
    tables.append(
        f"CPU of the curve over that of the rest of the fit: median {cost.median():.2f}, of 1,000 "
        f"rows or more {cost[rows['rows'] >= 1_000].median():.2f}"
    )
    return "\n\n".join(tables)


def table_of_forecasts(rows: pd.DataFrame) -> str:
    """Return the errors of forecasts of the mean width with all rows over that with a tenth."""
    designs = {
        "forecast": (rows["middle"], rows["low"], rows["high"]),
        "nothing changes": (np.ones(len(rows)),) * 3,
        "straight line": (rows["line"],) * 3,
    }
    tables = [f"a tenth to all, {rows['table'].nunique()} tables, {len(rows)} fits"]
    for name, (middle, low, high) in designs.items():
        off = (middle / rows["true"] - 1).abs().groupby(rows["table"]).mean().median()
        score = interval_score(rows["true"], low, high).mean()
        tables.append(
            f"{name}: off by {off:.3f} (median of tables), bias "
            f"{(middle - rows['true']).mean():+.3f}, range holds "
            f"{rows['true'].between(low, high).mean():.2f}, its interval score {score:.3f}"
        )
    columns = ["table", "seed", "rows", "times", "middle", "low", "high", "true", "line"]
    return "\n".join([*tables, rows[columns].round(3).to_string(index=False)])
