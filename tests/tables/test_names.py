"""Names of columns in sentences."""

import pytest

from clearbands.tables.names import first_names, nearest


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Prise", "did you mean 'price'?"),
        ("ROOMS", "did you mean 'rooms' or 'room'?"),
        ("year", "its columns are 'price', 'rooms', 'room'."),
    ],
)
def test_a_misspelt_name_gets_the_nearest_ones_or_else_the_first(name, sentence):
    assert nearest(name, ["price", "rooms", "room"]) == sentence


def test_the_first_eight_names_are_listed_and_the_others_counted():
    assert first_names(list("abcdefgh")) == "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'"
    assert first_names([str(i) for i in range(300)]).endswith("'6', '7' and 292 more")
