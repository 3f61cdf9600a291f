"""Candidates that fail: each is left out with a warning that names it."""

from __future__ import annotations

from typing import NamedTuple

from clearbands.rows.numbers import in_words
from clearbands.rows.telling import warn


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
        said = "; ".join(f"{', '.join(who)}: {words}" for words, who in by_words.items())
        found = ValueError(f"{sentence} ({said}).")
        found.__cause__ = next(reversed(self._errors.values()), None)
        return found


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
