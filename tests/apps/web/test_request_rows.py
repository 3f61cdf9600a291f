"""Rows of a request as a table."""

import narwhals.stable.v1 as nw
import pytest

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.request_rows import frame_of
from clearbands.tables.kinds import KINDS, kind_of


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("number", 1),
        ("boolean", True),
        ("date", "2024-01-31"),
        ("datetime", "2024-01-31T13:45:00"),
        ("time", "13:45:00"),
        ("duration", 90),
        ("text", "a"),
    ],
)
def test_values_of_json_arrive_in_their_kind(kind, value):
    table = frame_of([{"c": value}, {"c": None}], [Feature("c", kind)])
    read_kind = kind_of(nw.from_native(table["c"], series_only=True), "c")
    assert kind in (read_kind, *KINDS[read_kind].alike)
