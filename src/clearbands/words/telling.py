"""Warnings that point at the line of the user's that called this package."""

from __future__ import annotations

import sys
import warnings

OWN = __name__.partition(".")[0]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """As `warnings.warn`, from the first line outside this package, however deep it was noticed.

    Python shows that line, and tells each such line once.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == OWN
