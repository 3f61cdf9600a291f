"""The table of extras names every extra that can be installed."""

from tests.extras import ADDS, NOTHING, PAGE, declared, read_lines, write

TEXT = PAGE.read_text("utf-8")


def test_every_extra_is_measured():
    assert set(ADDS) == declared() | {NOTHING}
    assert list(read_lines(TEXT)) == list(ADDS), "run python -m tests.extras"
    assert write(TEXT, read_lines(TEXT)) == TEXT


def test_a_line_is_replaced_and_the_others_stay():
    lines = read_lines(TEXT) | {"cli": "| `cli` | new | 1 | 2 |\n"}
    page = write(TEXT, lines)
    assert read_lines(page)["cli"] == "| `cli` | new | 1 | 2 |\n"
    assert read_lines(page)["serve"] == read_lines(TEXT)["serve"]
