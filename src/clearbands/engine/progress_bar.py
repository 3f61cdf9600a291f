"""One line that says how far a fit is and how long it will take, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from clearbands.engine.progress import Listener, listening

PLANS: dict[str, dict[str, float]] = {
    "choosing a center": {"choosing a center": 0.25, "epistemic": 0.3, "pairs": 0.45},
    "choosing a model": {"choosing a model": 0.2, "epistemic": 0.4, "aleatoric": 0.4},
    "epistemic": {"epistemic": 0.6, "aleatoric": 0.4},
    "first pass": {"first pass": 0.1, "second pass": 0.1, "epistemic": 0.4, "aleatoric": 0.4},
}
"""The rough share of the work that each stage is, by the first stage of a fit. All other stages are
steps inside of these."""

WIDTH = 24  # letters in the bar
PAUSE = 0.2  # seconds between two drawings


class ProgressBar:
    """A listener, as `fit(progress=...)` takes it, which draws a line on standard error.

    The time left is extrapolated from the work so far, until the fit itself knows better and calls
    `expect`. Each line replaces the one before it, and the last is removed at the end.

    Examples
    --------
    >>> import io
    >>> lines = io.StringIO()
    >>> with ProgressBar(lines, clock=iter([0.0, 10.0]).__next__) as bar:
    ...     bar("epistemic", 5, 12)
    >>> lines.getvalue().split("\\r")[1].rstrip()
    'epistemic [######                  ] 25 %, 30 s left'
    """

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._started = clock()
        self._drawn_at, self._longest = -PAUSE, 0
        self._plan: dict[str, float] = {}
        self._done: dict[str, float] = {}  # the share of each stage that is done
        self._expected: float | None = None  # seconds from the start to the end
        self._share_seen = 0.0

    def note(self, stage: str, done: int, total: int) -> bool:
        """Note a report; return whether it, or an expected time, tells how far the fit is."""
        self._plan = self._plan or PLANS.get(stage, {})
        if stage in self._plan and total > 0:
            self._done[stage] = max(done / total, self._done.get(stage, 0.0))
            return True
        return self._expected is not None

    def expect(self, seconds: float) -> None:
        """Note how many seconds the fit itself expects to take still."""
        self._expected = self._clock() - self._started + seconds

    def look(self) -> tuple[float, float, float | None]:
        """Return the seconds since the start, the share done and the seconds left, or None."""
        elapsed = self._clock() - self._started
        if self._expected is None:
            share = self.share
            left = elapsed * (1 - share) / share if 0 < share < 1 else None
        else:
            left = max(self._expected - elapsed, 0.0)
            share = elapsed / (elapsed + left) if left else 0.99
        self._share_seen = max(self._share_seen, share)
        return elapsed, self._share_seen, left

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not self.note(stage, done, total):
            return
        elapsed, share, seconds = self.look()
        if elapsed - self._drawn_at < PAUSE and done < total:
            return
        self._drawn_at = elapsed
        bar = "#" * round(WIDTH * share)
        left = "" if seconds is None else f", {in_words(seconds)} left"
        self._draw(f"{stage} [{bar:<{WIDTH}}] {100 * share:.0f} %{left}")

    @property
    def share(self) -> float:
        """The share of the work that is done; a stage is over when the next one has begun."""
        stages = list(self._plan)
        last = max((stages.index(stage) for stage in self._done), default=0)
        over = sum(self._plan[stage] for stage in stages[:last])
        now = stages[last] if stages else ""
        return over + self._plan.get(now, 0.0) * self._done.get(now, 0.0)

    def _draw(self, line: str) -> None:
        self._longest = max(self._longest, len(line))
        self._stream.write(f"\r{line:<{self._longest}}")
        self._stream.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._longest:
            self._stream.write(f"\r{'':<{self._longest}}\r")
            self._stream.flush()


@contextmanager
def showing(progress: Listener | None, verbose: int) -> Iterator[None]:
    """Send the reports made inside the block to `progress`, else to a bar if `verbose` asks."""
    if progress is not None or not verbose:
        with listening(progress):
            yield
        return
    with ProgressBar() as bar, listening(bar):
        yield


def in_words(seconds: float) -> str:
    """Return a time as people say it, such as 90 s or 3 min."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
