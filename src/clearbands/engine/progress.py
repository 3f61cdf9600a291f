"""Progress out of long fits: whoever calls `fit(progress=...)` listens, whoever loops reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""Called as `listener(stage, done, total)`."""

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
    """Tell a listener that wants to know it how long all that is still to come will take."""
    listener = _listener.get()
    tell = getattr(listener, "expect", None)
    if tell is not None:
        tell(seconds)


def ignore(stage: str, done: int, total: int) -> None:
    """A listener for work whose steps are of no interest outside."""
