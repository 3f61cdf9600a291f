"""Rows of csv bodies: numbers and dates as people write them, and what could mean two things."""

import datetime as dt

import pytest

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.csv_rows import rows_from_csv
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal


def features(decimal="", order=""):
    size, sold = Feature("size", "number", written=decimal), Feature("sold", "date", written=order)
    return [size, sold]


@pytest.mark.parametrize(
    ("body", "decimal", "order", "size"),
    [
        ('size,sold\n"$1,710",2008-07-05\n', "", "", 1710),
        ("size;sold\n1.710,50 €;05.07.2008\n", "", "", 1710.5),
        ("size;sold\n1.710;07/05/2008\n", ",", "mdy", 1710),
        ("size;sold\n1.710;05/07/2008\n", ".", "dmy", 1.71),
    ],
)
def test_cells_are_read_as_in_a_file(body, decimal, order, size):
    frame = rows_from_csv(body.encode(), features(decimal, order), Limits())
    assert frame.row(0) == (size, dt.datetime(2008, 7, 5))


@pytest.mark.parametrize("row", ["1.710;2008-07-05", "5;07/05/2008", "?;2008-07-05"])
def test_what_could_mean_two_things_is_refused(row):
    with pytest.raises(Refusal, match=r"row 0 \(counted from 0\), column"):
        rows_from_csv(f"size;sold\n{row}\n".encode(), features(), Limits())
