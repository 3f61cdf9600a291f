"""A column keeps its kind from fit to prediction, in whatever table it comes."""

import datetime as dt
from decimal import Decimal

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands import TableEncoder
from clearbands.tables.kinds import KINDS, kind_of, numbers_of, remark_on, texts_of, value_of

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]
MOMENTS = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2, 12)]
OF_KIND = {
    "number": [1.0, 2.0],
    "boolean": [True, False],
    "date": DAYS,
    "datetime": MOMENTS,
    "time": [dt.time(1), dt.time(2)],
    "duration": [dt.timedelta(hours=1), dt.timedelta(hours=2)],
    "text": ["a", "b"],
}
OTHER_KINDS = [
    (before, after)
    for before in OF_KIND
    for after in OF_KIND
    if after not in (before, *KINDS[before].alike)
]


def series(values, frame=pl.Series, **options):
    return nw.from_native(frame(values, **options), series_only=True)


@pytest.mark.parametrize("kind", OF_KIND)
def test_objects_have_the_kind_of_their_values(kind):
    typed, objects = series(OF_KIND[kind]), series([*OF_KIND[kind], None], pd.Series, dtype=object)
    assert kind_of(typed, "c") == kind_of(objects, "c") == kind
    if kind == "text":
        assert texts_of(objects) == ["a", "b", None]
    else:
        np.testing.assert_array_equal(
            numbers_of(objects, "c"), [*numbers_of(typed, "c").tolist(), np.nan]
        )


def test_objects_of_several_types_are_text():
    mixed = series([1, "a", None, 2.0], pd.Series, dtype=object)
    assert kind_of(mixed, "c") == "text"
    assert texts_of(mixed) == ["1", "a", None, "2"]


def test_decimals_and_numpy_scalars_are_numbers():
    column = series([Decimal("1.5"), np.int8(2), np.float32(3)], pd.Series, dtype=object)
    assert numbers_of(column, "c").tolist() == [1.5, 2.0, 3.0]


def test_objects_of_numbers_are_encoded_as_the_same_numbers():
    numbers = pd.DataFrame({"x": np.arange(50.0)})
    expected = TableEncoder().fit_transform(numbers)
    np.testing.assert_array_equal(TableEncoder().fit_transform(numbers.astype(object)), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(("before", "after"), OTHER_KINDS)
def test_a_column_may_not_change_its_kind(frame, before, after):
    encoder = TableEncoder().fit(frame({"c": OF_KIND[before]}))
    said = f"Column 'c' held {KINDS[before].in_words} in fit, but now holds {KINDS[after].in_words}"
    with pytest.raises(ValueError, match=said):
        encoder.transform(frame({"c": OF_KIND[after]}))


def test_dates_and_moments_are_alike():
    encoder = TableEncoder().fit(pl.DataFrame({"c": DAYS}))
    moments = pl.DataFrame({"c": DAYS}).cast(pl.Datetime("ms"))
    np.testing.assert_array_equal(
        encoder.transform(moments), encoder.transform(pl.DataFrame({"c": DAYS}))
    )


@pytest.mark.parametrize("kind", OF_KIND)
def test_a_column_of_gaps_fits_every_kind(kind):
    encoder = TableEncoder().fit(pl.DataFrame({"c": OF_KIND[kind]}))
    for gaps in (pl.Series([None], dtype=pl.Float64), pl.Series([None], dtype=pl.Null)):
        assert encoder.transform(pl.DataFrame({"c": gaps})).shape[0] == 1


def test_the_row_that_turned_numbers_into_text_is_named():
    encoder = TableEncoder().fit(pl.DataFrame({"size": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="such as 'large' in row 1"):
        encoder.transform(pl.DataFrame({"size": ["1.5", "large"]}))


def test_the_category_1_is_the_category_1_point_0_but_no_number():
    encoder = TableEncoder().fit(pd.DataFrame({"grade": pd.Categorical([1, 2])}))
    floats = pd.DataFrame({"grade": pd.Categorical([1.0, 2.0])})
    assert encoder.transform(floats).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="'grade' held text in fit, but now holds numbers"):
        encoder.transform(pd.DataFrame({"grade": [1.0, 2.0]}))


def test_moments_with_a_time_zone_count_in_utc():
    there = pd.Series(pd.to_datetime(["2024-07-01 12:00", None])).dt.tz_localize("Europe/Zurich")
    utc = pd.Series(pd.to_datetime(["2024-07-01 10:00", None]))
    for column in (there, there.astype(object), pl.Series(there)):
        narwhals = nw.from_native(column, series_only=True)
        np.testing.assert_array_equal(
            numbers_of(narwhals, "c"), numbers_of(nw.from_native(utc, series_only=True), "c")
        )


@pytest.mark.parametrize("kind", [k for k in OF_KIND if KINDS[k].read])
def test_numbers_lead_back_to_their_values(kind):
    value = value_of(kind, numbers_of(series(OF_KIND[kind]), "c")[1])
    given = OF_KIND[kind][1]
    if kind == "duration":
        assert value == given.total_seconds()
    else:
        assert value == (given.isoformat() if hasattr(given, "isoformat") else given)


class Thing:
    """A value whose text is an address in memory."""


@pytest.mark.parametrize("value", [[1, 2], (1, 2), {"a": 1}, b"a", np.zeros(2), Thing()])
def test_values_that_are_no_text_are_refused_as_in_typed_columns(value):
    column = pd.DataFrame({"a": pd.Series([value, value], dtype=object)})
    with pytest.raises(TypeError, match=f"Column 'a' has the type {type(value).__name__}"):
        TableEncoder().fit(column)


def test_a_type_that_only_pandas_knows_is_named():
    months = pd.DataFrame({"a": pd.period_range("2024", periods=3, freq="M")})
    with pytest.raises(TypeError, match=r"has the type period\[M\]"):
        TableEncoder().fit(months)


@pytest.mark.parametrize(("fitted", "now"), [("1", "1.0"), ("1.0", "1"), ("-3", "-3.00")])
def test_a_category_in_another_spelling_is_refused(fitted, now):
    encoder = TableEncoder().fit(pl.DataFrame({"a": [fitted, "x"]}))
    with pytest.raises(ValueError, match=f"the text '{now}', which fit knew as '{fitted}'"):
        encoder.transform(pl.DataFrame({"a": [now]}))
    encoder.fit(pl.DataFrame({"a": [now, "x"]}))  # a new fit forgets the old one
    other = TableEncoder().fit(pl.DataFrame({"a": ["1067", "x"]}))
    other.transform(pl.DataFrame({"a": ["01067", "new"]}))  # other codes, not other spellings


def test_columns_without_text_for_names_are_known_by_their_names_too():
    table = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]])
    encoder = TableEncoder().fit(table)
    np.testing.assert_array_equal(encoder.transform(table[[1, 0]]), table.to_numpy())
    with pytest.raises(ValueError, match="X has no column 0, which was there in fit"):
        encoder.transform(table.set_axis([7, 8], axis=1))
    after_array = TableEncoder().fit(table.to_numpy())
    np.testing.assert_array_equal(after_array.transform(table.set_axis([7, 8], axis=1)), table)


def test_empty_text_is_missing_and_nul_at_the_end_is_no_text():
    column = nw.from_native(pl.Series(["a\0", "a", "", "\0", None]), series_only=True)
    assert texts_of(column) == ["a", "a", None, None, None]


def test_gaps_in_several_spellings_are_told():
    values = pd.Series([np.nan, None, "", "nan", "a"], dtype=object)
    column = nw.from_native(values, series_only=True)
    assert texts_of(column) == [None, None, None, "nan", "a"]
    assert "has gaps and the text 'nan' in 1 row" in remark_on(column, "c", "text")
    full = nw.from_native(pl.Series(["None", "a"]), series_only=True)
    assert remark_on(full, "c", "text") is None


def test_moments_of_several_time_zones():
    moments = [dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=h))) for h in (1, 2)]
    several = nw.from_native(pd.Series(moments, dtype=object), series_only=True)
    assert kind_of(several, "t") == "datetime"
    assert "several time zones; all are turned into UTC" in remark_on(several, "t", "datetime")
    some = pd.Series([moments[0], dt.datetime(2024, 1, 1)], dtype=object)
    with pytest.raises(ValueError, match="moments with a time zone and moments without one"):
        kind_of(nw.from_native(some, series_only=True), "t")
