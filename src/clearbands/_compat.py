"""Optional libraries, and the sentence that says how to install one that is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

EXTRAS = {
    "boost": "xgboost-cpu",
    "cli": "typer rich polars jinja2 matplotlib",
    "dask": "dask distributed pandas polars pyarrow",
    "deep": "torch",
    "excel": "fastexcel",
    "forest": "quantile-forest",
    "mlflow": "mlflow-skinny pandas",
    "report": "jinja2 matplotlib",
    "serve": "fastapi fastapi-offline uvicorn prometheus-client "
    "typer rich polars jinja2 matplotlib",
}
"""The libraries of each extra. Naming them gives advice that holds for clones and releases."""


def require(module: str, *, what: str, extra: str) -> Any:
    """Import an optional module for `what`; raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(advice(what, extra)) from error


def has_extra(extra: str) -> bool:
    """Whether all libraries of the extra are installed."""
    return all(find_spec(name.replace("-", "_")) is not None for name in EXTRAS[extra].split())


def advice(what: str, extra: str) -> str:
    """Say how to install what `what` needs."""
    return f'{what} needs the extra "{extra}": pip install {EXTRAS[extra]}.'
