import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearbands.rows.time_order import (
    TimeOrderWarning,
    check_time,
    show_time,
    time_blocks,
    time_ranks,
)

DAYS = np.arange("2026-01-01", "2026-01-31", dtype="datetime64[D]")


@given(
    st.lists(st.integers(0, 2), min_size=8, max_size=60).map(np.cumsum),
    st.integers(0, 4),
)
def test_nobody_judges_who_saw_the_future_or_the_gap(place, gap):
    try:
        found = time_blocks(place, gap)
    except ValueError:
        assert len(np.unique(place)) < 8 + 2 * gap  # only too few moments leave no block
        return
    judged = np.concatenate([stage.block for stage in found])
    assert len(np.unique(judged)) == len(judged)  # no row twice
    assert np.all(np.diff(judged) == 1)  # and no row is left out after the first judged row
    assert judged[-1] == len(place) - 1
    for past, block in found:
        assert place[past].max() < place[block].min() - gap
        # Every row that may train does.
        assert np.array_equal(past, np.flatnonzero(place < place[block].min() - gap))


def test_rows_of_one_moment_are_not_parted():
    place = np.repeat(np.arange(20), 7)
    for past, block in time_blocks(place, gap=0):
        assert not set(place[past]) & set(place[block])
        assert len(block) % 7 == 0


@pytest.mark.parametrize(
    "given",
    [
        DAYS,
        DAYS.tolist(),  # dates
        DAYS.astype(str),
        pd.Series(DAYS),
        pl.Series(DAYS),
        pd.date_range("2026-01-01", periods=30, tz="UTC"),
        [dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(n) for n in range(30)],
    ],
    ids=lambda given: type(given).__name__,
)
def test_dates_of_all_kinds_are_the_same_moments(given):
    assert np.array_equal(check_time(given, 30), DAYS)


def test_clocks_that_are_set_back_do_not_make_time_fall():
    local = pd.date_range("2026-10-25 00:00", periods=6, freq="h", tz="Europe/Zurich")
    steps = np.diff(check_time(local, 6))
    assert np.all(steps == np.timedelta64(1, "h"))


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ([0, 2, 1], r"time must not fall, but row 2 \(counted from 0\), 1, comes after 2: sort"),
        (["2026-01-02", "2026-01-01"], r"row 1 .*, 2026-01-01, comes after 2026-01-02"),
        ([0, np.nan, 1], r"time is missing in row 1 \(counted from 0\); drop such rows"),
        ([dt.date(2026, 1, 1), None], "time is missing in row 1"),
        ([0, 1], r"time must have shape"),
        (["one", "two", "three"], "time must be numbers, dates or times, got 'one'"),
    ],
)
def test_times_that_cannot_be(time, words):
    with pytest.raises(ValueError, match=words):
        check_time(time, 2 if len(time) == 2 and not isinstance(time[0], int) else 3)


def test_repeated_rows_are_told_of_but_not_many_shops_of_one_day():
    with pytest.warns(TimeOrderWarning, match="1 of 11 rows have the time of the row before"):
        check_time([*range(10), 9], 11)
    assert len(check_time(np.repeat(np.arange(10), 3), 30)) == 30


def test_missing_rows_are_told_of_but_not_weekends():
    hours = np.r_[0:50, 60:100]
    with pytest.warns(TimeOrderWarning, match="1 step.s. more than 5 times .* after 49"):
        check_time(hours, len(hours))
    weekdays = DAYS[np.is_busday(DAYS)]
    assert len(check_time(weekdays, len(weekdays))) == len(weekdays)


def test_moments_are_shown_without_empty_digits():
    assert show_time(np.datetime64("2026-01-02T00:00:00.000000")) == "2026-01-02"
    assert show_time(np.datetime64("2026-01-02T03:04:05.000000")) == "2026-01-02 03:04:05"


def test_places_count_moments():
    assert time_ranks(3).tolist() == [0, 1, 2]
    assert time_ranks(4, DAYS[[0, 3, 3, 9]]).tolist() == [0, 1, 1, 2]
