"""Affixes that people write around a number, and text that belongs to no number."""

import pytest

from clearbands.apps.reading.affixes import Affix, read_affix


@pytest.mark.parametrize(
    ("before", "after", "affix"),
    [
        ("", "", Affix()),
        ("-", "", Affix(is_negative=True)),
        ("", "-", Affix(is_negative=True)),
        ("(", ")", Affix(is_negative=True)),
        ("+", "", Affix()),
        ("CHF ", ".–", Affix(currency="chf")),
        ("", " Euro", Affix(currency="euro")),
        ("$", "M", Affix(currency="$", factor=1e6)),
        ("$", "m", Affix(currency="$", factor=1e6)),  # dollars have no metres
        ("", " m", Affix(unit="m")),
        ("", "k€", Affix(currency="€", factor=1e3)),
        ("", " Mio. EUR", Affix(currency="eur", factor=1e6)),
        ("", " bn", Affix(factor=1e9)),
        ("", "%", Affix(unit="%")),
        ("", " percent", Affix(unit="%")),
        ("", " km/h", Affix(unit="km/h")),
        ("", " sq. ft", Affix(unit="sqft")),
    ],
)
def test_signs_currencies_units_and_factors(before, after, affix):
    assert read_affix(before, after) == affix


def test_one_pound_and_several_are_of_one_unit():
    assert read_affix("", " lbs.") == read_affix("", " lb") == Affix(unit="lb")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("-", "-"),  # two signs
        ("(-", ")"),
        ("", "+"),  # 10,000+ means at least as many
        ("$", "€"),
        ("", "kg m"),
        ("", "% %"),
        ("No. ", ""),
        ("", " rooms"),
    ],
)
def test_what_belongs_to_no_number(before, after):
    assert read_affix(before, after) is None
