"""Candidates that fail: each is left out with a warning that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clearbands.words.numbers import in_words
from clearbands.words.telling import warn


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

    @contextmanager
    def leaving_out(self, who: str, has_rivals: bool = True) -> Iterator[None]:
        """Turn an error into a warning, whatever it is: libraries have errors of their own.

        The error of one without rivals is nobody else's, and is raised.
        """
        try:
            yield
        except Exception as error:
            if not has_rivals:
                raise
            self._errors[who] = error
            warn(f"{who} is left out: {in_words(error)}")

    def none_left(self, sentence: str) -> ValueError:
        """The error to raise where no candidate is left, caused by the last one's."""
        by_words: dict[str, list[str]] = {}
        for who, error in self._errors.items():
            by_words.setdefault(in_words(error), []).append(who)
        said = "; ".join(f"{', '.join(who)}: {words}" for words, who in by_words.items())
        found = ValueError(f"{sentence} ({said}).")
        found.__cause__ = next(reversed(self._errors.values()), None)
        return found
