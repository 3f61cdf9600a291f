"""Messages: names of rows, old names of arguments, and warnings that point at the user's line."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

from clearbands.rows.display import in_words

_in_file: ContextVar[bool] = ContextVar("in_file", default=False)
_order: ContextVar[np.ndarray | None] = ContextVar("order", default=None)


def row_name(index: int) -> str:
    """Return the name of a row in a message, which says how rows are counted.

    >>> row_name(7)
    'row 7 (counted from 0)'
    >>> with rows_of_a_file():
    ...     row_name(7)
    'row 8 (counted from 1)'
    """
    if not _in_file.get():
        return f"row {index:,} (counted from 0)"
    return row_of_file(row_number(index))


def row_number(index: int) -> int:
    """Return the place of a row in its file, from 1, however rows were chosen or ordered since.

    >>> with rows_of_a_file():
    ...     record_order(np.array([4, 2]))
    ...     row_number(0), row_number(1)
    (5, 3)
    """
    order = _order.get()
    return 1 + (index if order is None or index >= len(order) else int(order[index]))


def row_of_file(number: int) -> str:
    """Return the name of a row of a file; the first row below the header is 1.

    >>> row_of_file(8)
    'row 8 (counted from 1)'
    """
    return f"row {number:,} (counted from 1)"


@contextmanager
def rows_of_a_file() -> Iterator[None]:
    """Count rows in messages from 1 inside the block, as rows of a file below its header."""
    in_file, order = _in_file.set(True), _order.set(None)
    try:
        yield
    finally:
        _in_file.reset(in_file)
        _order.reset(order)


@contextmanager
def name_rows_by(order: np.ndarray) -> Iterator[None]:
    """Name rows in messages inside the block as rows `order` (n,) of those outside."""
    before = _order.get()
    record_order(order)
    try:
        yield
    finally:
        _order.set(before)


def record_order(order: np.ndarray) -> None:
    """Record that rows now stand in this order (n,), so that messages name them as before."""
    before = _order.get()
    _order.set(order if before is None else before[order])


OWN = __name__.partition(".")[0]

_suppressed: ContextVar[tuple[type[Warning], ...]] = ContextVar("suppressed", default=())


@contextmanager
def suppress_warnings(category: type[Warning]) -> Iterator[None]:
    """Suppress warnings of a category in this thread, inside the block."""
    token = _suppressed.set((*_suppressed.get(), category))
    try:
        yield
    finally:
        _suppressed.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as `warnings.warn` does, from the first line outside this package.

    Python shows that line, and shows a warning once for each line.
    """
    if issubclass(category, _suppressed.get()):
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == OWN


P = ParamSpec("P")
R = TypeVar("R")

MEANINGS = {
    "groups": "rows that belong together",
    "calibration_groups": "groups in each of which the level holds",
    "by": "labels of rows whose coverage is compared",
}


def renamed(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions whose arguments had other names.

    Parameters
    ----------
    **new_names
        The present name for every old name; `MEANINGS` says what each of them holds.

    Examples
    --------
    >>> from clearbands.rows.messages import renamed
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


class Failures:
    """The candidates that failed, and their errors.

    Examples
    --------
    >>> import warnings
    >>> failures = Failures()
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     with failures.leaving_out("The model 'line'"):
    ...         raise ValueError("there are too few rows.")
    >>> print(said[0].message)
    The model 'line' is left out: there are too few rows.
    >>> failures.none_left("Every model of the pool failed")
    ValueError("Every model of the pool failed (The model 'line': there are too few rows.).")
    """

    def __init__(self) -> None:
        self._errors: dict[str, Exception] = {}

    def __len__(self) -> int:
        return len(self._errors)

    def leaving_out(self, who: str, has_rivals: bool = True) -> LeavingOut:
        """Turn any error inside the block into a warning: libraries raise errors of their own.

        If the candidate has no rivals, its error is raised.
        """
        return LeavingOut(self._errors, who, has_rivals)

    def none_left(self, sentence: str) -> ValueError:
        """Return the error to raise if no candidate is left; its cause is the last error."""
        by_words: dict[str, list[str]] = {}
        for who, error in self._errors.items():
            by_words.setdefault(in_words(error), []).append(who)
        reasons = "; ".join(f"{', '.join(who)}: {words}" for words, who in by_words.items())
        error = ValueError(f"{sentence} ({reasons}).")
        error.__cause__ = next(reversed(self._errors.values()), None)
        return error


class LeavingOut(NamedTuple):
    """A context manager that turns errors into warnings.

    It is no generator, because the warning is to point at the user's line.
    """

    errors: dict[str, Exception]
    who: str
    has_rivals: bool

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: object
    ) -> bool:
        if not isinstance(error, Exception) or not self.has_rivals:
            return False
        self.errors[self.who] = error
        warn(f"{self.who} is left out: {in_words(error)}")
        return True
