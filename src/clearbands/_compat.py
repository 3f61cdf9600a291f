"""Libraries that are installed only where they are wanted, and the one sentence without them."""

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
"""What each extra installs: advice that works for a clone and for a release alike."""


def require(module: str, *, what: str, extra: str) -> Any:
    """The module, or one sentence that says how to get it; `what` is what needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(advice(what, extra)) from error


def has_extra(extra: str) -> bool:
    """Whether all libraries of the extra are installed."""
    return all(find_spec(name.replace("-", "_")) is not None for name in EXTRAS[extra].split())


def advice(what: str, extra: str) -> str:
    """How to get what `what` needs."""
    return f'{what} needs the extra "{extra}": pip install {EXTRAS[extra]}.'
