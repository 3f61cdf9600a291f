"""Warnings that point at the line of the user's that called this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

OWN = __name__.partition(".")[0]

_unsaid: ContextVar[tuple[type[Warning], ...]] = ContextVar("unsaid", default=())


@contextmanager
def unsaid(category: type[Warning]) -> Iterator[None]:
    """Keep warnings of a kind back, of this thread alone, where what matters is said later."""
    token = _unsaid.set((*_unsaid.get(), category))
    try:
        yield
    finally:
        _unsaid.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """As `warnings.warn`, from the first line outside this package, however deep it was noticed.

    Python shows that line, and tells each such line once.
    """
    if issubclass(category, _unsaid.get()):
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == OWN
