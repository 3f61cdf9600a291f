"""A last row that sums up the others, and one that only looks like it."""

import polars as pl
import pytest

from clearbands.apps.reading.decimals import Decimals
from clearbands.apps.reading.totals import is_total, partial_totals


def table(label, last, numbers=("1", "2", "3", "4")):
    return pl.DataFrame({"town": [*("abcdefg"[: len(numbers)]), label], "n": [*numbers, last]})


@pytest.mark.parametrize(
    ("label", "last"),
    [
        ("Total", "10"),
        ("Grand total:", "10"),
        ("Mean", "2.5"),
        ("Summe", "10"),
        ("TOTAL *", "10.05"),
    ],
)
def test_a_row_with_the_name_and_the_number_of_a_total(label, last):
    assert is_total(table(label, last), Decimals("."))


@pytest.mark.parametrize(
    ("label", "last"),
    [("Bern", "10"), ("Total", "11"), ("Total", "Total"), ("Total", None), ("Totals of May", "10")],
)
def test_a_name_alone_or_a_number_alone_is_none(label, last):
    assert not is_total(table(label, last), Decimals("."))


def test_decimals_are_read_by_their_sign():
    rows = table("Total", "3,5", ("1,5", "1", "1"))
    assert is_total(rows, Decimals(","))
    assert not is_total(rows, Decimals("."))


def test_two_rows_are_too_few_to_be_summed_up():
    assert not is_total(table("Total", "3", ("1", "2")), Decimals("."))


def test_gaps_are_left_out_of_the_sum():
    assert is_total(table("Total", "8", ("1", None, "3", "4")), Decimals("."))


def test_rows_named_like_sums_are_told_where_they_alone_lack_a_value():
    months = [["North", "1"], ["North", "2"], ["Total North", None], ["South", "1"]]
    rows = pl.DataFrame(months, ["region", "month"], orient="row")
    assert partial_totals(rows) == ["Total North"]
    assert partial_totals(rows.with_columns(month=pl.lit("3"))) == []
    assert partial_totals(rows.with_columns(region=pl.lit("Total War"))) == []
