"""How much a request may ask for, and how requests that ask for more are refused."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from clearbands.tables import check_count

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_ERRORS = 20  # of the values of one request


@dataclass(frozen=True)
class Limits:
    """What one request may take, and how many may be under way at once."""

    rows: int = 10_000
    bytes: int = 10_000_000
    seconds: float = 30.0
    requests: int = 64

    def __post_init__(self) -> None:
        check_count(self.rows, "The most rows of a request")
        check_count(self.bytes, "The most bytes of a request")
        check_count(self.requests, "The most requests at once")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"The timeout must be a positive number, got {self.seconds!r}.")


@dataclass(frozen=True)
class CellError:
    """What is wrong with one value, one row (no column) or one column (no row)."""

    message: str
    row: int | None = None
    column: str | None = None


class Refusal(Exception):
    """A request that is not served: the status, why, and which values are to blame."""

    def __init__(self, status: int, detail: str, errors: list[CellError] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors or []

    def to_json(self) -> dict[str, Any]:
        return {"detail": self.detail, "errors": [vars(error) for error in self.errors]}


def refuse_values(errors: list[CellError]) -> Refusal:
    """422 that lists the first errors, in the order of the rows."""
    ordered = sorted(errors, key=lambda error: -1 if error.row is None else error.row)
    first, count = ordered[0], len(errors)
    where = [f"row {first.row}"] if first.row is not None else []
    where += [f"column {first.column!r}"] if first.column is not None else []
    place = f"{', '.join(where)}: " if where else ""
    more = f" (and {count - 1} more)" if count > 1 else ""
    return Refusal(422, f"{place}{first.message}{more}", ordered[:MAX_ERRORS])


async def read_body(request: Request, limits: Limits, until: float) -> bytes:
    """The body, or 413 as soon as it is known to be too long, 408 if it does not come in time."""
    too_long = Refusal(413, f"The body is longer than the {limits.bytes:,} bytes allowed.")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limits.bytes:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout_at(until):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limits.bytes:
                    raise too_long
    except ClientDisconnect as error:
        raise Refusal(400, "The client went away before the body was there.") from error
    except TimeoutError as error:
        raise Refusal(408, f"The body did not arrive within {limits.seconds:g} s.") from error
    return bytes(body)
