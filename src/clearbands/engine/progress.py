"""Progress of long fits: the caller of `fit(progress=...)` listens, and loops report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""A function that is called as `listener(stage, done, total)`."""

_listener: ContextVar[Listener | None] = ContextVar("clearbands_progress", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send the reports made inside the block to `listener`; None leaves things as they are."""
    if listener is None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(stage: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` steps of `stage` are finished."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


def expect(seconds: float) -> None:
    """Tell a listener that has a method `expect` how long the rest of the work will take."""
    listener = _listener.get()
    tell = getattr(listener, "expect", None)
    if tell is not None:
        tell(seconds)


def ignore(stage: str, done: int, total: int) -> None:
    """A listener for work whose steps are of no interest outside."""
