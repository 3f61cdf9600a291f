"""How messages speak: names of rows, old names of arguments, warnings at the line of the user."""

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
    """The name of a row in a message, which says how it was counted.

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
    """From 1: where a row stands in its file, however rows were chosen or ordered since.

    >>> with rows_of_a_file():
    ...     rows_stand_as(np.array([4, 2]))
    ...     row_number(0), row_number(1)
    (5, 3)
    """
    order = _order.get()
    return 1 + (index if order is None or index >= len(order) else int(order[index]))


def row_of_file(number: int) -> str:
    """The name of a row of a file below its header, whose first is 1.

    >>> row_of_file(8)
    'row 8 (counted from 1)'
    """
    return f"row {number:,} (counted from 1)"


@contextmanager
def rows_of_a_file() -> Iterator[None]:
    """Inside, rows are those of a file below its header, and are counted from 1."""
    in_file, order = _in_file.set(True), _order.set(None)
    try:
        yield
    finally:
        _in_file.reset(in_file)
        _order.reset(order)


@contextmanager
def some_rows(order: np.ndarray) -> Iterator[None]:
    """Inside, rows are these (n,) of those outside."""
    before = _order.get()
    rows_stand_as(order)
    try:
        yield
    finally:
        _order.set(before)


def rows_stand_as(order: np.ndarray) -> None:
    """Tell which of the rows (n,) stand where from now on, so that messages name them as before."""
    before = _order.get()
    _order.set(order if before is None else before[order])


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
    """Who failed, and with which error.

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
        """Turn an error into a warning, whatever it is: libraries have errors of their own.

        The error of one without rivals is nobody else's, and is raised.
        """
        return LeavingOut(self._errors, who, has_rivals)

    def none_left(self, sentence: str) -> ValueError:
        """The error to raise where no candidate is left, caused by the last one's."""
        by_words: dict[str, list[str]] = {}
        for who, error in self._errors.items():
            by_words.setdefault(in_words(error), []).append(who)
        reasons = "; ".join(f"{', '.join(who)}: {words}" for words, who in by_words.items())
        error = ValueError(f"{sentence} ({reasons}).")
        error.__cause__ = next(reversed(self._errors.values()), None)
        return error


class LeavingOut(NamedTuple):
    """Waits for an error; not made of a generator, for a warning is to point at the user's line."""

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
