"""Tables of random columns through fit and predict."""

from __future__ import annotations

import datetime as dt
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles
from tests.fuzz.campaign import Target

START = dt.datetime(2020, 1, 1)


def attempt(rng: np.random.Generator) -> None:
    n = int(rng.integers(25, 60))
    kinds = rng.choice(list(COLUMNS), size=rng.integers(1, 6))
    columns = {f"{kind} {i}": COLUMNS[kind](rng, n) for i, kind in enumerate(kinds)}
    y = rng.normal(size=n) * 10.0 ** rng.integers(-5, 6)
    table, head, one = _tables(columns, bool(rng.integers(2)))
    linear = LinearQuantiles()
    model = ClearRegressor(
        PCSEnsemble({"linear": linear}, n_bootstraps=3),
        ResidualQuantiles(linear, n_bootstraps=3),
        calibration="joint",
        random_state=0,
    )
    try:
        model.fit(table, y)
    except (ValueError, TypeError) as error:
        if not is_refusal(error):
            raise
        return
    point, intervals = model.predict_interval(head)
    assert np.isfinite(point).all(), "a point that is not finite"
    assert (intervals[:, 0, 0] <= point).all(), "a lower bound above the point"
    assert (point <= intervals[:, 1, 0]).all(), "an upper bound below the point"
    alone = model.predict(one)
    np.testing.assert_allclose(
        alone[0], point[0], rtol=1e-9, err_msg="a row alone and among others"
    )


def is_refusal(error: Exception) -> bool:
    """Whether an error comes from this package or from scikit-learn's checks of arguments."""
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    return "clearbands" in innermost or "sklearn/utils/validation" in innermost


def _tables(columns: dict[str, list[Any]], as_polars: bool) -> tuple[Any, Any, Any]:
    """Return a table of all rows, and the first ten and the first with columns in another order."""
    if as_polars:
        frame = pl.DataFrame(columns, strict=False)
        other = frame.select(frame.columns[::-1])
        return frame, other.head(10), other.head(1)
    table = pd.DataFrame(columns)
    other_table = table[table.columns[::-1]]
    return table, other_table.iloc[:10], other_table.iloc[:1]


def _numbers(rng: np.random.Generator, n: int) -> list[Any]:
    return (rng.normal(size=n) * 10.0 ** rng.integers(-8, 9)).tolist()


def _sparse(rng: np.random.Generator, n: int) -> list[Any]:
    return [
        None if gap else x for gap, x in zip(rng.random(n) < 0.4, _numbers(rng, n), strict=True)
    ]


def _whole(rng: np.random.Generator, n: int) -> list[Any]:
    return rng.integers(-(2 ** rng.integers(1, 50)), 2 ** rng.integers(1, 50), n).tolist()


def _flags(rng: np.random.Generator, n: int) -> list[Any]:
    return rng.choice([True, False], n).tolist()


def _words(rng: np.random.Generator, n: int) -> list[Any]:
    words = ["red", "Red", " red", "", "1", "nan", "ü", "a" * 300, "<b>", "\n"]
    return rng.choice(words[: rng.integers(1, len(words) + 1)], n).tolist()


def _gappy_words(rng: np.random.Generator, n: int) -> list[Any]:
    return [None if gap else x for gap, x in zip(rng.random(n) < 0.3, _words(rng, n), strict=True)]


def _names(rng: np.random.Generator, n: int) -> list[Any]:
    return [f"row {i}" for i in rng.permutation(n)]


def _dates(rng: np.random.Generator, n: int) -> list[Any]:
    return [(START + dt.timedelta(days=int(day))).date() for day in rng.integers(0, 9000, n)]


def _times(rng: np.random.Generator, n: int) -> list[Any]:
    return [START + dt.timedelta(seconds=int(s)) for s in rng.integers(0, 10**9, n)]


def _zoned(rng: np.random.Generator, n: int) -> list[Any]:
    return [time.replace(tzinfo=dt.UTC) for time in _times(rng, n)]


def _constant(rng: np.random.Generator, n: int) -> list[Any]:
    return [float(rng.normal())] * n


def _nothing(rng: np.random.Generator, n: int) -> list[Any]:
    return [None] * n


COLUMNS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "numbers": _numbers,
    "gaps": _sparse,
    "whole": _whole,
    "flags": _flags,
    "words": _words,
    "gappy words": _gappy_words,
    "names": _names,
    "dates": _dates,
    "times": _times,
    "zoned": _zoned,
    "constant": _constant,
    "nothing": _nothing,
}

TARGET = Target(
    "tables",
    "fitted and predicted, a row alone as among others; or refused in a sentence",
    attempt,
)
