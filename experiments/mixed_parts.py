"""Tests of the default on gaps, new categories, names, time stamps, codes and many text columns.

Each part fits the plain default to some tables and scores rows in several ways. For example,
`python -m experiments mixed gaps` scores rows that lack one, two or half of their numbers, although
no training row lacked any. Rows are appended as they finish.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from clearbands import ClearRegressor
from clearbands.metrics import interval_score, picp
from experiments import datasets, mixed_data
from experiments.defaults import append
from experiments.mixed_data import Mixed
from experiments.mixed_peers import LEVEL

RESULTS = Path(__file__).parent / "results" / "mixed_parts.csv"
MOST_TO_TRAIN, MOST_TO_TEST = 1_000, 2_000

Scored = Iterator[tuple[str, dict[str, float]]]
"""The name of a way, and its scores."""


class Part(NamedTuple):
    """One question, the tables on which it is answered, and the ways that are compared."""

    question: str
    tables: Sequence[str]
    run: Callable[[str, int], Scored]
    ways: Sequence[str]  # the others are compared with the first


def fit(train: Mixed, seed: int) -> tuple[ClearRegressor, float]:
    """Return the fitted default and its CPU seconds."""
    start = time.process_time()
    model = ClearRegressor(confidence_level=LEVEL, random_state=seed, n_jobs=1)
    return model.fit(train.X, train.y), time.process_time() - start


def scores(model: ClearRegressor, test: Mixed) -> dict[str, float]:
    """Return coverage, width, ignorance, loss, error and the share of unfamiliar rows."""
    center, bounds = model.predict_interval(test.X)
    parts = model.predict_uncertainty(test.X)
    width = bounds[:, 1, 0] - bounds[:, 0, 0]
    return {
        "picp": picp(test.y, bounds[:, :, 0]),
        "width": float(width.mean()),
        "ignorance": float(np.mean(parts.epistemic.sum(axis=1))),
        "interval_score": interval_score(test.y, bounds[:, :, 0], LEVEL),
        "rmse": float(np.sqrt(np.mean((test.y - center) ** 2))),
        "unfamiliar": float(np.mean(model.unfamiliar(test.X))),
    }


def rows_of(table: Mixed, seed: int) -> tuple[Mixed, Mixed]:
    """Return seven tenths of the rows to train and others to test, with limits on both."""
    order = np.random.RandomState(seed).permutation(len(table.y))
    n_train = min(MOST_TO_TRAIN, int(0.7 * len(order)))
    return (
        take(table, order[:n_train]),
        take(table, order[n_train : n_train + MOST_TO_TEST]),
    )


def take(table: Mixed, rows: np.ndarray) -> Mixed:
    return Mixed(table.X[rows], table.y[rows])


def friedman(seed: int) -> Mixed:
    """Simulate rows in which five columns matter and five do not."""
    rng = np.random.RandomState(seed)
    X = rng.rand(MOST_TO_TRAIN + MOST_TO_TEST, 10)
    center = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    center += 10 * X[:, 3] + 5 * X[:, 4]
    return Mixed(pl.DataFrame(X, [f"x{j}" for j in range(10)]), center + rng.randn(len(X)))


def correlated(seed: int) -> Mixed:
    """Simulate eight columns that measure two hidden variables, and two further columns."""
    rng = np.random.RandomState(seed)
    n = MOST_TO_TRAIN + MOST_TO_TEST
    hidden = rng.randn(n, 2)
    X = np.hstack([np.repeat(hidden, 4, axis=1) + 0.3 * rng.randn(n, 8), rng.randn(n, 2)])
    center = 3 * hidden[:, 0] + np.sin(2 * hidden[:, 1]) + X[:, 8]
    return Mixed(pl.DataFrame(X, [f"x{j}" for j in range(10)]), center + 0.5 * rng.randn(n))


def of_numbers(name: str, seed: int) -> Mixed:
    """Return a table of numbers without gaps."""
    if name in MADE_UP:
        return MADE_UP[name](seed)
    X, y = datasets.load(name)
    return Mixed(pl.DataFrame(X, [f"x{j}" for j in range(X.shape[1])]), y)


MADE_UP = {"friedman": friedman, "correlated": correlated}


def gaps(name: str, seed: int) -> Scored:
    """Score rows without a gap, and the same rows without one, two and half of their numbers."""
    train, test = rows_of(of_numbers(name, seed), seed)
    model, seconds = fit(train, seed)
    yield "none", scores(model, test) | {"cpu_seconds": seconds}
    X, rng = test.X.to_numpy(), np.random.RandomState(seed)
    places = rng.rand(*X.shape).argsort(axis=1)  # numbers with the smallest places are removed
    for way, n_gone in (("one", 1), ("two", 2), ("half", X.shape[1] // 2)):
        gone = np.where(places < n_gone, np.nan, X)
        yield way, scores(model, Mixed(pl.DataFrame(gone, test.X.columns), test.y))


def towns(
    n_values: int,
    spread: float,
    seed: int,
    *,
    with_slopes: bool = False,
    are_unequal: bool = False,
    n_rows: int = 3_000,
) -> Mixed:
    """Simulate effects of towns and of numbers, and noise.

    With `with_slopes`, slopes differ by town. Of towns that `are_unequal`, the k-th is expected to
    have a k-th of the rows of the first.
    """
    rng = np.random.RandomState(seed)
    town, x, z = rng.randint(0, n_values, n_rows), rng.rand(n_rows), rng.rand(n_rows)
    if are_unequal:
        size = 1 / np.arange(1, n_values + 1)
        town = rng.choice(n_values, n_rows, p=size / size.sum())
    worth, slope = spread * rng.randn(n_values), 2 + with_slopes * 2 * rng.randn(n_values)
    y = worth[town] + slope[town] * x + np.sin(6 * z) + 0.5 * rng.randn(n_rows)
    return Mixed(pl.DataFrame({"town": [f"t{i}" for i in town], "x": x, "z": z}), y)


class Categories(NamedTuple):
    """A table, one of its columns, and the values of the column that no training row has.

    Without such values, chance says which those are.
    """

    table: Mixed
    column: str
    new: list[str]


def new_categories(name: str, seed: int) -> Scored:
    """Score rows with categories that were in the fit, and rows with new categories."""
    table, column, new = WITH_CATEGORIES[name](seed)
    is_new = table.X[column].is_in(new).fill_null(False).to_numpy()
    known_rows, new_rows = np.flatnonzero(~is_new), np.flatnonzero(is_new)
    train, test = rows_of(take(table, known_rows), seed)
    some = take(table, np.random.RandomState(seed).permutation(new_rows)[:MOST_TO_TEST])
    if not new:
        is_known = test.X[column].is_in(train.X[column].unique().to_list()).to_numpy()
        test, some = take(test, np.flatnonzero(is_known)), take(test, np.flatnonzero(~is_known))
    model, seconds = fit(train, seed)
    yield "known", scores(model, test) | {"cpu_seconds": seconds}
    yield "new", scores(model, some)


def _towns(n_known: int, spread: float, **options: bool) -> Callable[[int], Categories]:
    """Return a function that simulates `n_known` towns that train and a hundred others."""

    def make(seed: int) -> Categories:
        n_values = n_known + 100
        n_rows = (MOST_TO_TRAIN + 500) * n_values // n_known
        table = towns(n_values, spread, seed, n_rows=n_rows, **options)
        return Categories(table, "town", [f"t{i}" for i in range(n_known, n_values)])

    return make


def _fifth(name: str, column: str) -> Callable[[int], Categories]:
    """Return a function that reserves a fifth of the values of a column, at least two, as new."""

    def make(seed: int) -> Categories:
        table = mixed_data.TABLES[name](seed)
        values = table.X[column].drop_nulls().unique().sort().to_numpy()
        new = np.random.RandomState(seed).permutation(values)[: max(2, len(values) // 5)]
        return Categories(table, column, new.tolist())

    return make


WITH_CATEGORIES: dict[str, Callable[[int], Categories]] = {
    "8 towns": _towns(8, 2.0),
    "30 towns": _towns(30, 2.0),
    "30 towns that hardly differ": _towns(30, 0.3),
    "200 towns": _towns(200, 2.0),
    "100 towns with slopes": _towns(100, 1.0, with_slopes=True),
    "400 towns, some of few rows": lambda seed: Categories(
        towns(400, 2.0, seed, are_unequal=True), "town", []
    ),
    "travel_times": _fifth("travel_times", "route"),
    "texas_housing": _fifth("texas_housing", "city"),
    "diamonds": _fifth("diamonds", "clarity"),
}


def unique(name: str, seed: int) -> Scored:
    """Score a table without and with a column in which nearly every value is unique."""
    table = WITH_NAMES[name](seed)
    rng = np.random.RandomState(seed)
    train, test = rows_of(Mixed(table.X, table.y), seed)
    n = len(train.y) + len(test.y)
    names = np.array([f"n{i}" for i in rng.permutation(n)], object)
    twice = rng.permutation(n)[: n // 20]  # these rows get the name of another row
    names[twice] = names[(twice + 1) % n]
    listed = [
        Mixed(rows.X.with_columns(pl.Series("listing", own.tolist())), rows.y)
        for rows, own in zip((train, test), np.split(names, [len(train.y)]), strict=True)
    ]
    for way, (own_train, own_test) in (("without", (train, test)), ("with", listed)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, seconds = fit(own_train, seed)
        yield way, scores(model, own_test) | {"cpu_seconds": seconds}


WITH_NAMES: dict[str, Callable[[int], Mixed]] = {
    "friedman": friedman,
    "30 towns": lambda seed: towns(30, 2.0, seed),
    "saratoga_houses": lambda seed: mixed_data.TABLES["saratoga_houses"](seed),
    "diamonds": lambda seed: mixed_data.TABLES["diamonds"](seed),
}


def bicycles(seed: int) -> Mixed:
    """Simulate rides per hour by hour, weekday and season, with a trend over time."""
    rng, n = np.random.RandomState(seed), MOST_TO_TRAIN + MOST_TO_TEST
    hours = np.sort(rng.permutation(2 * 365 * 24)[:n])
    hour, weekday, day = hours % 24, (hours // 24) % 7, hours // 24
    at_work = np.exp(-(((hour - 8) / 1.5) ** 2)) + np.exp(-(((hour - 17) / 2) ** 2))
    at_leisure = np.exp(-(((hour - 14) / 4) ** 2))
    busy = np.where(weekday < 5, 3 * at_work, 2 * at_leisure)
    season = 1 - 0.5 * np.cos(2 * np.pi * day / 365.25)
    rain = rng.rand(n) < 0.2
    center = season * (1 + busy) * (1 + day / 2000) * np.where(rain, 0.5, 1.0)
    at = np.datetime64("2021-01-04T00:00:00") + hours.astype("timedelta64[h]")
    y = center * np.exp(0.15 * rng.randn(n))
    return Mixed(pl.DataFrame({"at": at.astype("datetime64[us]"), "rain": rain}), y)


def _timed(name: str, column: str) -> Callable[[int], tuple[Mixed, str]]:
    return lambda seed: (mixed_data.TABLES[name](seed), column)


WITH_TIMES: dict[str, Callable[[int], tuple[Mixed, str]]] = {
    "bicycles": lambda seed: (bicycles(seed), "at"),
    "flights": _timed("flights", "time_hour"),
    "storms": _timed("storms", "at"),
}


def stamp(name: str, seed: int) -> Scored:
    """Score a table with a time stamp as separate parts, and as it is."""
    table, column = WITH_TIMES[name](seed)
    at = pl.col(column)
    in_parts = table.X.select(
        pl.exclude(column),
        days=(at - at.min()).dt.total_seconds() / 86_400,
        year=at.dt.year(),
        month=at.dt.month(),
        weekday=at.dt.weekday(),
        hour=at.dt.hour(),
    )
    for way, X in (("parts", in_parts), ("stamp", table.X)):
        train, test = rows_of(Mixed(X, table.y), seed)
        model, seconds = fit(train, seed)
        yield way, scores(model, test) | {"cpu_seconds": seconds}


def codes(name: str, seed: int) -> Scored:
    """Score tables in which whole numbers that may be codes are numbers, text, or both."""
    table, columns = WITH_CODES[name](seed)
    as_text = [pl.col(column).cast(pl.String) for column in columns]
    both = table.X.with_columns(text.name.suffix(" as text") for text in as_text)
    ways = {"numbers": table.X, "text": table.X.with_columns(as_text), "both": both}
    for way, X in ways.items():
        train, test = rows_of(Mixed(X, table.y), seed)
        model, seconds = fit(train, seed)
        yield way, scores(model, test) | {"cpu_seconds": seconds}


def stores(seed: int) -> Mixed:
    """Simulate sixty stores whose numbers have no meaning."""
    table = towns(60, 2.0, seed)
    store = table.X["town"].str.slice(1).cast(pl.Int64)
    return Mixed(table.X.drop("town").with_columns(store=store), table.y)


def zip_codes(seed: int) -> Mixed:
    """Simulate zip codes with a smooth effect and an effect of each code."""
    rng, n = np.random.RandomState(seed), MOST_TO_TRAIN + MOST_TO_TEST
    place, x = rng.randint(0, 80, n), rng.rand(n)
    worth = 3 * np.sin(np.arange(80) / 12) + rng.randn(80)
    y = worth[place] + 2 * x + 0.5 * rng.randn(n)
    return Mixed(pl.DataFrame({"zip": 10_000 + 37 * place, "x": x}), y)


WITH_CODES: dict[str, Callable[[int], tuple[Mixed, list[str]]]] = {
    "stores": lambda seed: (stores(seed), ["store"]),
    "zip codes": lambda seed: (zip_codes(seed), ["zip"]),
    "travel_times": lambda seed: (mixed_data.TABLES["travel_times"](seed), ["month", "hour"]),
}


def wide_text(name: str, seed: int) -> Scored:
    """Score 800 rows of 25 columns, 20 of which are text."""
    rng, n = np.random.RandomState(seed), 1_600
    columns: dict[str, Any] = {}
    y = rng.randn(n)
    for j in range(20):
        n_values = rng.choice([3, 6, 12, 30, 80])
        value = rng.randint(0, n_values, n)
        y += rng.choice([0.0, 0.3, 1.0]) * rng.randn(n_values)[value]
        columns[f"t{j}"] = [f"v{i}" for i in value]
    for j in range(5):
        columns[f"x{j}"] = rng.randn(n)
        y += rng.choice([0.0, 0.5, 1.0]) * columns[f"x{j}"]
    table = Mixed(pl.DataFrame(columns), y)
    train, test = take(table, np.arange(800)), take(table, np.arange(800, n))
    fit(take(table, np.arange(100)), seed)  # compiles the kernels, which is not to be timed
    model, seconds = fit(train, seed)
    yield "default", scores(model, test) | {"cpu_seconds": seconds}


PARTS: dict[str, Part] = {
    "gaps": Part(
        "Do intervals cover rows with gaps where the fit had none?",
        ("friedman", "correlated", "concrete", "airfoil", "energy_efficiency"),
        gaps,
        ("none", "one", "two", "half"),
    ),
    "new-category": Part(
        "Do intervals cover rows with a category that nobody has seen?",
        tuple(WITH_CATEGORIES),
        new_categories,
        ("known", "new"),
    ),
    "unique": Part(
        "Does a column of names cost anything?", tuple(WITH_NAMES), unique, ("without", "with")
    ),
    "stamp": Part(
        "Does a time stamp tell what its parts do?", tuple(WITH_TIMES), stamp, ("parts", "stamp")
    ),
    "codes": Part(
        "Do codes that are numbers cost anything?",
        tuple(WITH_CODES),
        codes,
        ("numbers", "text", "both"),
    ),
    "wide-text": Part(
        "What do 800 rows with 20 columns of text cost?", ("made up",), wide_text, ("default",)
    ),
}


def run_missing(part: str, names: Sequence[str], seeds: Sequence[int], path: Path) -> None:
    """Compute the rows that are missing, and append them to the file."""
    done = pd.read_csv(path) if path.exists() else pd.DataFrame()
    known = set(map(tuple, done.reindex(columns=["part", "dataset", "seed"]).to_numpy()))
    for seed in seeds:
        for name in names:
            if (part, name, seed) in known:
                continue
            for way, measured in PARTS[part].run(name, seed):
                row = {"part": part, "dataset": name, "seed": seed, "way": way}
                append(row | {measure: measured.get(measure, np.nan) for measure in MEASURES}, path)


MEASURES = (
    "picp",
    "width",
    "ignorance",
    "interval_score",
    "rmse",
    "unfamiliar",
    "cpu_seconds",
)


def table(part: str, results: pd.DataFrame) -> Iterator[str]:
    """Yield the scores of each way on each table, relative to the first way in percent."""
    rows = results[results["part"] == part]
    yield "| table | seeds | way | PICP | width | ignorance | loss | RMSE | unfamiliar | CPU s |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, own in rows.groupby("dataset", sort=False):
        by_way = own.groupby("way")[list(MEASURES)].mean()
        first = by_way.loc[PARTS[part].ways[0]]
        for way in PARTS[part].ways:
            mean = by_way.loc[way]
            changes = " | ".join(
                f"{100 * (mean[m] / first[m] - 1):+.1f} %" if first[m] else "-"
                for m in ("width", "ignorance", "interval_score", "rmse")
            )
            cost = "-" if np.isnan(mean["cpu_seconds"]) else f"{mean['cpu_seconds']:.1f}"
            yield (
                f"| {name} | {own['seed'].nunique()} | {way} | {mean['picp']:.3f} | {changes} | "
                f"{mean['unfamiliar']:.3f} | {cost} |"
            )
    mean = rows.groupby("way")["picp"].mean()
    yield "PICP in the mean: " + ", ".join(f"{way} {mean[way]:.3f}" for way in PARTS[part].ways)
