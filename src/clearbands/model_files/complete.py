"""Parameters that a class got after a model of it was saved."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import BaseEstimator

from clearbands.model_files.trust import OWN


def complete(model: Any) -> Any:
    """Give every part of this package the parameters it lacks, at their defaults.

    A file of an earlier version does not know them; without them a loaded model could neither be
    shown nor cloned.
    """
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            _add_defaults(part)
            waiting += vars(part).values()
    return model


def _add_defaults(part: object) -> None:
    if not isinstance(part, BaseEstimator) or type(part).__module__.split(".")[0] != OWN:
        return
    for name, parameter in inspect.signature(type(part)).parameters.items():
        if parameter.default is not parameter.empty:
            vars(part).setdefault(name, parameter.default)
