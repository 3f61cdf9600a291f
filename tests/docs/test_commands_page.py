"""The page about the commands is what their help says."""

from tests.commands_page import PAGE, write_page


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == write_page(), "run python -m tests.commands_page"


def test_every_option_of_fit_is_on_it():
    text = write_page()
    for words in ("`--columns-as COLUMN=KIND`", "By default `0`.", "## inspect", "`--json`"):
        assert words in text
