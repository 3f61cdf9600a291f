"""Answers to requests that are refused: a status, a sentence, and the values to blame."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.responses import Response

MAX_ERRORS = 20  # errors in values that one answer lists
MAX_KINDS = 3  # kinds of errors that its sentence names


@dataclass(frozen=True)
class CellError:
    """An error in one value, in one row (no column) or in one column (no row).

    >>> print(CellError("expected a finite number or null", row=3, column="area"))
    row 3 (counted from 0), column 'area': expected a finite number or null
    """

    message: str
    row: int | None = None
    column: str | None = None
    seen: str | None = field(default=None, compare=False)  # what stood there instead

    @property
    def sentence(self) -> str:
        return self.message if self.seen is None else f"{self.message}, got {self.seen}"

    def __str__(self) -> str:
        where = [f"row {self.row} (counted from 0)"] if self.row is not None else []
        where += [f"column {self.column!r}"] if self.column is not None else []
        return f"{', '.join(where)}: {self.sentence}" if where else self.sentence


class Refusal(Exception):
    """A request that is refused: the status, the reason, and the values to blame."""

    def __init__(self, status: int, detail: str, errors: Sequence[CellError] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the answer in ASCII, as UTF-8 cannot encode all names of wrong columns."""
        errors = [
            {"message": error.sentence, "row": error.row, "column": error.column}
            for error in self.errors
        ]
        body = json.dumps({"detail": self.detail, "errors": errors})
        return Response(body, self.status, headers, "application/json")


def refuse_values(errors: Sequence[CellError]) -> Refusal:
    """Return a 422 that lists the first errors in the order of rows, and the first of every kind.

    >>> wrong = [CellError("expected a number", row, "x") for row in range(30)]
    >>> refuse_values([*wrong, CellError("expected 5 values", 31)]).detail
    "row 0 (counted from 0), column 'x': expected a number; row 31 (counted from 0): expected 5 \
values (and 29 more)"
    """
    ordered = sorted(errors, key=lambda error: -1 if error.row is None else error.row)
    firsts: dict[str, CellError] = {}  # errors of one kind have the same message
    for error in ordered:
        firsts.setdefault(error.message, error)
    of_kinds = list(firsts.values())
    chosen = set(list(dict.fromkeys(map(id, [*of_kinds, *ordered])))[:MAX_ERRORS])
    listed = [error for error in ordered if id(error) in chosen]
    named = of_kinds[:MAX_KINDS]
    left = len(errors) - len(named)
    more = f" (and {left} more)" if left else ""
    return Refusal(422, "; ".join(map(str, named)) + more, listed)
