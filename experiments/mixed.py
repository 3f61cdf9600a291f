"""The default beside peers with native categories, on tables with text, dates and gaps.

A center is learned from all training rows and judged by its root mean square error. The intervals
of peers are conformalized quantiles: three quarters of the rows train a lower and an upper one, the
others calibrate them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from clearbands import ClearRegressor, fast
from clearbands.calibration.conformal import capped_rank, order_statistic
from clearbands.metrics import interval_score, picp
from experiments import mixed_data
from experiments.defaults import append
from experiments.mixed_data import Mixed

RESULTS = Path(__file__).parent / "results" / "mixed.csv"
LEVEL = 0.9
TAILS = (0.05, 0.95)
SEEDS = (0, 1)

Bounds = tuple[np.ndarray, np.ndarray]  # center (n,), intervals (n, 2)
Method = Callable[[Mixed, pl.DataFrame, int], Bounds]


def ours(make: Callable[..., Any]) -> Method:
    """A model of this package."""

    def run(train: Mixed, X: pl.DataFrame, seed: int) -> Bounds:
        model = make(confidence_level=LEVEL, random_state=seed).fit(train.X, train.y)
        center, bounds = model.predict_interval(X)
        return center, bounds[:, :, 0]

    return run


def conformalized(make: Callable[[float | None, int], Any]) -> Method:
    """A peer, which `make` sets up for a quantile, or with None for the mean."""

    def run(train: Mixed, X: pl.DataFrame, seed: int) -> Bounds:
        tables = native([train.X, X])
        center = make(None, seed).fit(tables[0], train.y).predict(tables[1])
        order = np.random.RandomState(seed).permutation(len(train.y))
        held_out, own = np.split(order, [len(order) // 4])
        low, high = (make(tail, seed).fit(tables[0].iloc[own], train.y[own]) for tail in TAILS)
        rows = tables[0].iloc[held_out]
        y = train.y[held_out]
        scores = np.maximum(low.predict(rows) - y, y - high.predict(rows))
        margin = order_statistic(scores, capped_rank(len(scores), LEVEL))
        bounds = np.sort([low.predict(tables[1]), high.predict(tables[1])], axis=0).T
        bounds = bounds + margin * np.array([-1, 1])
        return center, np.sort(bounds, axis=1)

    return run


def native(tables: list[pl.DataFrame]) -> list[pd.DataFrame]:
    """As pandas has them: text as categories that are the same in all, dates as seconds."""
    made = [table.to_pandas() for table in tables]
    for column, kind in tables[0].schema.items():
        if kind == pl.String:
            values = pd.concat([table[column] for table in made]).fillna("missing").astype(str)
            known = pd.CategoricalDtype(sorted(values.unique()))
            for table in made:
                table[column] = table[column].fillna("missing").astype(str).astype(known)
        elif kind.is_temporal():
            for table in made:
                table[column] = pd.to_datetime(table[column]).astype("int64") / 1e9
    return made


class CatBoost:
    """CatBoost with its defaults and its own categories."""

    def __init__(self, tail: float | None, seed: int) -> None:
        from catboost import CatBoostRegressor

        loss = "RMSE" if tail is None else f"Quantile:alpha={tail}"
        self.model = CatBoostRegressor(
            loss_function=loss, random_seed=seed, verbose=0, thread_count=1
        )

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> CatBoost:
        text = X.select_dtypes("category").columns.tolist()
        self.model.fit(X.astype(dict.fromkeys(text, str)), y, cat_features=text)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        text = X.select_dtypes("category").columns.tolist()
        return self.model.predict(X.astype(dict.fromkeys(text, str)))


def lightgbm(tail: float | None, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    loss = {} if tail is None else {"objective": "quantile", "alpha": tail}
    return LGBMRegressor(random_state=seed, n_jobs=1, verbose=-1, **loss)


def histograms(tail: float | None, seed: int) -> Any:
    """scikit-learn's; a column of more values than it takes as categories enters as codes."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    loss = {} if tail is None else {"loss": "quantile", "quantile": tail}
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=250
    )
    text = make_column_transformer(
        (codes, lambda X: X.select_dtypes("category").columns.tolist()), remainder="passthrough"
    )
    return make_pipeline(text, HistGradientBoostingRegressor(random_state=seed, **loss))


METHODS: dict[str, Method] = {
    "clear": ours(ClearRegressor),
    "clear fast": ours(fast),
    "catboost": conformalized(CatBoost),
    "lightgbm": conformalized(lightgbm),
    "histograms": conformalized(histograms),
}
PEERS = ("catboost", "lightgbm", "histograms")


def score(name: str, seed: int, method: str) -> dict[str, Any]:
    """One row of results."""
    train, test = mixed_data.load(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        center, bounds = METHODS[method](train, test.X, seed)
        seconds = time.process_time() - start
    return {
        "dataset": name,
        "seed": seed,
        "method": method,
        "rmse": float(np.sqrt(np.mean((test.y - center) ** 2))),
        "interval_score": interval_score(test.y, bounds, LEVEL),
        "picp": picp(test.y, bounds),
        "cpu_seconds": seconds,
    }


def table(results: pd.DataFrame) -> Iterator[str]:
    """Ours against the best peer, and against CatBoost; means over the seeds that both have."""
    yield "| table | seeds | RMSE to CatBoost | loss to the best peer | PICP | CPU s | CatBoost |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    changes = []
    for name, own in results.groupby("dataset", sort=False):
        if not {"clear", "catboost"} <= set(own["method"]):
            continue  # not done yet
        by = {m: own.pivot(index="seed", columns="method", values=m) for m in ("rmse", "picp")}
        loss = own.pivot(index="seed", columns="method", values="interval_score")
        seconds = own.pivot(index="seed", columns="method", values="cpu_seconds")
        peers = [peer for peer in PEERS if peer in loss]
        change = 100 * (loss["clear"] / loss[peers].mean().min() - 1).mean()
        rmse = 100 * (by["rmse"]["clear"] / by["rmse"]["catboost"] - 1).mean()
        changes.append((rmse, change))
        cost = " | ".join(f"{seconds[m].mean():.0f}" for m in ("clear", "catboost"))
        covered = by["picp"]["clear"].mean()
        yield f"| {name} | {len(loss)} | {rmse:+.1f} % | {change:+.1f} % | {covered:.3f} | {cost} |"
    means = " | ".join(f"{mean:+.1f} %" for mean in np.mean(changes, axis=0))
    yield f"| **mean** | | {means} | | | |"


def add_commands(commands) -> None:
    help_ = "the default beside peers with native categories, on tables with text and dates"
    parser = commands.add_parser("mixed", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=list(mixed_data.TABLES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    done = pd.read_csv(args.results) if args.results.exists() else pd.DataFrame()
    known = set(map(tuple, done.reindex(columns=["dataset", "seed", "method"]).to_numpy()))
    wanted = [(n, s, m) for s in args.seeds for n in args.datasets for m in args.methods]
    for name, seed, method in () if args.table else wanted:
        if (name, seed, method) not in known:
            append(score(name, seed, method), args.results)
    print("\n".join(table(pd.read_csv(args.results))))
    return 0
