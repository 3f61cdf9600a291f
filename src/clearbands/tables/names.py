"""Names of columns in messages: those that a misspelt name may mean, and the first of many."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from clearbands.rows.display import first_of

MAX_NAMED = 8


def nearest(name: str, names: Sequence[str]) -> str:
    """Return what to try instead of a name: similar names, or else the first names."""
    lowered = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), lowered, n=3)
    if close:
        return f"did you mean {' or '.join(repr(lowered[other]) for other in close)}?"
    return f"its columns are {first_names(names)}."


def first_names(names: Sequence[str]) -> str:
    """Return the first of the names in quotes, and how many more there are."""
    return first_of([repr(name) for name in names], MAX_NAMED)
