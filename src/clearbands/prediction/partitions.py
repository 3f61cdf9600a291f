"""Dask DataFrames: a model at work on every partition, where the partition is."""

from __future__ import annotations

from typing import Any

from clearbands._compat import require


def interval_names(levels: list[float]) -> list[str]:
    """point, lower, upper; with several levels lower_0.9, upper_0.9, ...

    >>> interval_names([0.5, 0.9])
    ['point', 'lower_0.5', 'upper_0.5', 'lower_0.9', 'upper_0.9']
    """
    endings = [f"_{level}" if len(levels) > 1 else "" for level in levels]
    return ["point", *(f"{bound}{end}" for end in endings for bound in ("lower", "upper"))]


def predict_partitions(model: Any, X: Any, levels: list[float], **asked: Any) -> Any:
    """A Dask DataFrame with the index of X: the intervals of a model, not computed yet.

    The model is part of the graph, so that a worker that dies takes nothing with it.
    """
    dask = require("dask", what="A Dask DataFrame", extra="dask")
    pandas = require("pandas", what="A Dask DataFrame", extra="dask")
    names = interval_names(levels)
    meta = pandas.DataFrame({name: pandas.Series(dtype=float) for name in names})
    return X.map_partitions(_predict, dask.delayed(model), names, asked, meta=meta)


def _predict(rows: Any, model: Any, names: list[str], asked: dict[str, Any]) -> Any:
    import pandas as pd

    if len(rows) == 0:
        return pd.DataFrame({name: pd.Series(dtype=float) for name in names}, index=rows.index)
    point, intervals = model.predict_interval(rows, **asked)
    bounds = intervals.transpose(0, 2, 1).reshape(len(point), -1)
    columns = dict(zip(names, [point, *bounds.T], strict=True))
    return pd.DataFrame(columns, index=rows.index)
