"""From the body of a request to the body of the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clearbands.predictions import table_of
from clearbands.tables.features import Feature, typical_row
from clearbands.web.bands import predict_rows
from clearbands.web.csv_rows import rows_from_csv
from clearbands.web.json_rows import rows_from_json
from clearbands.web.limits import Limits
from clearbands.web.refusals import Refusal
from clearbands.web.service.schemas import as_json

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

JSON, CSV = "application/json", "text/csv"
READERS = {JSON: rows_from_json, CSV: rows_from_csv}


@dataclass(frozen=True)
class Answer:
    """The body of an answer, and what the metrics tell of it."""

    content: bytes
    media_type: str
    n_rows: int
    widths: dict[float, np.ndarray]  # (n,) of the intervals of each level
    unfamiliar: np.ndarray | None  # (n,) of bool, where the model tells


@dataclass(frozen=True)
class Scorer:
    """Answers requests with one model."""

    model: ClearRegressor
    features: Sequence[Feature]
    limits: Limits

    def answer(self, body: bytes, given: str, wanted: str) -> Answer:
        """The bands of the rows in a body of the type `given`, in the type `wanted`."""
        rows = READERS[given](body, self.features, self.limits)
        levels = predict_rows(self.model, rows)
        can_tell = getattr(self.model, "familiar_", None) is not None
        return Answer(
            content=table_of(levels).write_csv().encode() if wanted == CSV else as_json(levels),
            media_type=wanted,
            n_rows=rows.height,
            widths={parts.confidence_level: np.ptp(parts.interval, axis=1) for parts in levels},
            unfamiliar=self.model.unfamiliar(rows) if can_tell else None,
        )

    def example(self) -> object:
        """The answer to a typical row, or None where it takes more to know one."""
        body = json.dumps({"rows": [typical_row(self.features)]}).encode()
        try:
            return json.loads(self.answer(body, JSON, JSON).content)
        except Refusal:
            return None
