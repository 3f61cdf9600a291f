"""Features of dates."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from clearbands import TableEncoder
from clearbands.tables.dates import PARTS, DateParts

EPOCH = dt.datetime(1970, 1, 1)


@pytest.mark.parametrize(
    "moment",
    [
        dt.datetime(1969, 12, 31, 23, 59, 59),
        dt.datetime(2024, 2, 29, 13, 45),
        dt.datetime(1900, 1, 1),
        dt.datetime(2100, 12, 31, 1),
    ],
)
def test_parts_are_those_of_the_calendar(moment):
    seconds = np.array([(moment - EPOCH).total_seconds()])
    found = {name: int(read(seconds)[0]) for name, read in PARTS.items() if "_" not in name}
    assert found == {
        "year": moment.year,
        "month": moment.month,
        "weekday": moment.weekday(),
        "hour": moment.hour,
    }


def test_the_year_ends_where_it_began():
    ends = np.array(
        [(dt.datetime(2023, *day) - EPOCH).total_seconds() for day in ((1, 1), (12, 31), (7, 2))]
    )
    circle = np.column_stack([PARTS[name](ends) for name in ("season_sin", "season_cos")])
    first, last, middle = circle
    assert np.linalg.norm(first - last) < 0.03 < 1.9 < np.linalg.norm(first - middle)


def test_only_parts_that_vary_become_columns():
    hours = pl.datetime_range(
        dt.datetime(2024, 3, 4), dt.datetime(2024, 3, 4, 20), "1h", eager=True
    )
    encoder = TableEncoder().fit(pl.DataFrame({"at": hours}))
    assert encoder.get_feature_names_out().tolist() == ["at", "at_hour"]
    days = pl.date_range(dt.date(2020, 1, 1), dt.date(2023, 1, 1), "1d", eager=True)
    encoder = TableEncoder().fit(pl.DataFrame({"day": days}))
    assert encoder.get_feature_names_out().tolist() == [
        "day",
        *(f"day_{part}" for part in ("year", "month", "weekday", "season_sin", "season_cos")),
    ]
    seconds = TableEncoder(dates="seconds").fit(pl.DataFrame({"day": days}))
    assert seconds.transform(pl.DataFrame({"day": days})).shape[1] == 1


def test_a_missing_date_has_the_parts_of_the_usual_one():
    days = pl.DataFrame(
        {"day": [dt.date(2024, 1, 1), dt.date(2024, 5, 6), dt.date(2024, 9, 9), None]}
    )
    found = TableEncoder().fit(days).transform(days)
    names = TableEncoder().fit(days).get_feature_names_out().tolist()
    assert found[3, names.index("day_month")] == 5
    assert found[3, names.index("missingindicator_day")] == 1


def test_unknown_ways_are_refused():
    with pytest.raises(ValueError, match="dates must be"):
        TableEncoder(dates="words").fit(np.ones((3, 1)))


def test_constants_have_no_parts():
    assert DateParts.of(np.zeros(5)).block(np.zeros(3)).shape == (3, 0)
