"""Arguments by an old name: one sentence that gives the new one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MEANINGS = {
    "groups": "rows that belong together",
    "calibration_groups": "groups in each of which the level holds",
    "by": "labels of rows whose coverage is compared",
}


def renamed(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of functions whose arguments had other names.

    Parameters
    ----------
    **new_names
        The name of today for every old name; `MEANINGS` says what each of them holds.

    Examples
    --------
    >>> from clearbands.rows.renamed import renamed
    >>> @renamed(together="groups")
    ... def fit(groups=None):
    ...     return groups
    >>> fit(together=[1, 1, 2])
    Traceback (most recent call last):
    ...
    TypeError: fit has no argument 'together': give rows that belong together as groups.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            for old in sorted(new_names.keys() & options.keys()):
                new = new_names[old]
                raise TypeError(
                    f"{function.__name__} has no argument {old!r}: give {MEANINGS[new]} as {new}."
                )
            return function(*args, **options)

        return checked

    return decorate
