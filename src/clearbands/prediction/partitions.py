"""Dask DataFrames: a model at work on every partition, where the partition is."""

from __future__ import annotations

from typing import Any

from clearbands._compat import require
from clearbands.prediction.predictions import SIDES, bound_name
from clearbands.tables.native import FrameKind, make_frame


def interval_names(levels: list[float]) -> list[str]:
    """The names of the columns: prediction, and two bounds for every level.

    >>> interval_names([0.5, 0.9])
    ['prediction', 'lower_50', 'upper_50', 'lower_90', 'upper_90']
    """
    return ["prediction", *(bound_name(side, level) for level in levels for side in SIDES)]


def predict_partitions(model: Any, X: Any, levels: list[float], **asked: Any) -> Any:
    """A Dask DataFrame with the index of X: the intervals of a model, not computed yet.

    The model is part of the graph, so that a worker that dies takes nothing with it.
    """
    dask, pandas = _libraries()
    names = interval_names(levels)
    meta = pandas.DataFrame({name: pandas.Series(dtype=float) for name in names})
    return X.map_partitions(_predict, dask.delayed(model), names, asked, meta=meta)


def frame_partitions(model: Any, X: Any, levels: list[float], **asked: Any) -> Any:
    """The same for all columns of `predict_frame`."""
    dask, _ = _libraries()
    numbers = [*interval_names(levels), "aleatoric", "epistemic", "epistemic_share"]
    is_known = getattr(model, "familiar_", None) is not None
    row: dict[str, list[Any]] = {name: [0.0] for name in numbers}
    row |= {"dominant": ["noise"], "unfamiliar": [False if is_known else None]}
    meta = make_frame(row, FrameKind("pandas")).iloc[:0]
    return X.map_partitions(_predict_frame, dask.delayed(model), meta, asked, meta=meta)


def _libraries() -> tuple[Any, Any]:
    names = ("dask", "pandas")
    dask, pandas = (require(name, what="A Dask DataFrame", extra="dask") for name in names)
    return dask, pandas


def _predict(rows: Any, model: Any, names: list[str], asked: dict[str, Any]) -> Any:
    import pandas as pd

    if len(rows) == 0:
        return pd.DataFrame({name: pd.Series(dtype=float) for name in names}, index=rows.index)
    center, intervals = model.predict_interval(rows, **asked)
    bounds = intervals.transpose(0, 2, 1).reshape(len(center), -1)
    columns = dict(zip(names, [center, *bounds.T], strict=True))
    return pd.DataFrame(columns, index=rows.index)


def _predict_frame(rows: Any, model: Any, empty: Any, asked: dict[str, Any]) -> Any:
    return empty if len(rows) == 0 else model.predict_frame(rows, **asked)
