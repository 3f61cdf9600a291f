"""The limits of requests and connections, whose defaults stand here and nowhere else."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one request, and the number of requests that may be under way at once.

    A request takes one of the `requests` places in line when its body is there, so that clients
    who send slowly keep nobody waiting. All bodies that are being read together may be as large as
    the bodies of `requests` requests.

    >>> Limits(rows=1_000).bytes
    10000000
    >>> Limits(rows=0)
    Traceback (most recent call last):
    ValueError: The most rows of a request must be a whole number of at least 1, got 0.
    """

    rows: int = 10_000
    bytes: int = 10_000_000
    seconds: float = 30.0
    requests: int = 64

    def __post_init__(self) -> None:
        from clearbands.rows.checks import check_count

        check_count(self.rows, "The most rows of a request")
        check_count(self.bytes, "The most bytes of a request")
        check_count(self.requests, "The most requests at once")
        check_seconds(self.seconds, "The timeout")

    @property
    def buffered_bytes(self) -> int:
        """The bytes of all bodies together that are being read."""
        return self.requests * self.bytes


@dataclass(frozen=True)
class Patience:
    """The time that a server waits for its clients, and the number of connections.

    With one connection more, the one that has kept the server waiting longest is closed.
    """

    header_seconds: float = 10.0
    connections: int = 500

    def __post_init__(self) -> None:
        from clearbands.rows.checks import check_count

        check_seconds(self.header_seconds, "The time for a header")
        check_count(self.connections, "The most connections at once")


def check_seconds(seconds: float, name: str) -> None:
    """Raise unless `seconds` is positive and finite."""
    if not 0 < seconds < math.inf:
        raise ValueError(f"{name} must be a positive number, got {seconds!r}.")
