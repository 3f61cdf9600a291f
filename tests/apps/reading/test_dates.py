"""Dates in the forms that people write; the whole column tells the order of day and month."""

import datetime as dt

import polars as pl
import pytest

from clearbands.apps.reading.dates import find_dates, find_times, read_dates


def find(*cells, **options):
    return find_dates({"d": pl.Series("d", cells)}, **options).get("d")


MAY = dt.date(2008, 5, 21)
QUARTER_TO_TWO = dt.datetime(2008, 5, 21, 13, 45)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("2008-05-21", MAY),
        ("2008/05/21", MAY),
        ("21.05.2008", MAY),
        ("21.05.08", MAY),
        ("21/5/2008", MAY),
        ("5/21/2008", MAY),
        ("5/21/08", MAY),
        ("21 May 2008", MAY),
        ("21-May-08", MAY),
        ("21. Mai 2008", MAY),
        ("May 21, 2008", MAY),
        ("Wed, 21 May 2008", MAY),
        ("2008-05", dt.date(2008, 5, 1)),
        ("05/2008", dt.date(2008, 5, 1)),
        ("2008-05-21 13:45", QUARTER_TO_TWO),
        ("2008-05-21T13:45:00.000", QUARTER_TO_TWO),
        ("5/21/2008 1:45 PM", QUARTER_TO_TWO),
        ("21.05.2008, 13:45", QUARTER_TO_TWO),
        ("2008-05-21T13:45:00Z", QUARTER_TO_TWO.replace(tzinfo=dt.UTC)),
        ("2008-05-21 15:45+02:00", QUARTER_TO_TWO.replace(tzinfo=dt.UTC)),
    ],
)
def test_forms_of_dates(cell, value):
    found = find(cell, None)
    assert found.column.to_list() == [value, None]
    assert found.in_words == ""


@pytest.mark.parametrize(
    "cell", ["1.2.10", "192.168.1.1", "555-12-1234", "3.1415", "Mai 5", "2008-02-30", "13/13/2008"]
)
def test_what_is_no_date(cell):
    assert find(cell) is None


def test_one_row_decides_for_the_whole_column():
    assert find("07/05/2008", "25/12/2008").column[0] == dt.date(2008, 5, 7)
    assert find("07/05/2008", "12/25/2008").column[0] == dt.date(2008, 7, 5)


def test_another_column_decides():
    texts = {"a": pl.Series("a", ["07/05/2008"]), "b": pl.Series("b", ["25/05/2008"])}
    found = find_dates(texts)
    assert found["a"].order == "dmy"
    assert "'07/05/2008' read with the day first, though no row tells it" in found["a"].in_words


def test_the_order_of_the_rows_and_the_first_of_months_decide():
    days = ("01/02/2008", "02/02/2008", "03/02/2008", "04/02/2008", "01/03/2008")
    assert find(*days).order == "dmy"
    assert find("01/02/2008", "01/07/2008", "01/03/2008").order == "dmy"
    assert find("02/01/2008", "07/01/2008", "03/01/2008").order == "mdy"


def test_where_nothing_decides_it_is_told():
    cells = ("07/05/2008", "06/05/2008")
    assert (find(*cells).order, find(*cells).guess) == ("mdy", "07/05/2008")
    assert find(*cells, european=True).order == "dmy"
    known = find(*cells, known={"d": "dmy"})
    assert (known.order, known.guess) == ("dmy", "")
    assert find("05/05/2008", "06/06/2008").in_words == ""  # both orders give the same dates


def test_what_a_file_tells_counts_more_than_what_is_known_and_less_than_what_is_asked():
    for cells in (("2008-07-05",), ("5 July 2008",), ("07/05/2008", "12/25/2008")):
        for known in ("dmy", "mdy"):
            assert find(*cells, known={"d": known}).column[0] == dt.date(2008, 7, 5)
    assert find("2008-07-05", wanted={"d": "mdy"}).column[0] == dt.date(2008, 7, 5)
    assert find("07/05/2008", known={"d": "mdy"}, wanted={"d": "dmy"}).order == "dmy"


def test_a_few_bad_cells_are_missing_and_told():
    found = find(*["2008-05-21"] * 30, "soon")
    assert found.in_words == "1 cell read as missing, such as 'soon' in row 31 (counted from 1)"
    assert find("2008-05-21", "soon") is None
    assert read_dates(pl.Series("d", ["2008-05-21", "soon"])).strays[0].value == "soon"


def test_time_zones():
    several = find("2008-05-21T13:45+02:00", "2008-01-21T13:45+01:00")
    assert "several time zones (+01:00, +02:00), all turned into UTC" in several.in_words
    assert [moment.hour for moment in several.column] == [11, 12]
    some = find("2008-05-21T13:45+02:00", "2008-01-21T13:45")
    assert some.doubt == "text, because 1 of its moments have a time zone and 1 have none"


def test_times_of_day():
    for cell, value in (("13:45", dt.time(13, 45)), ("1:45:30 pm", dt.time(13, 45, 30))):
        assert find_times(pl.Series([cell, None])).to_list() == [value, None]
    assert find_times(pl.Series(["13:45", "noon"])) is None
    assert find_times(pl.Series(["25:00"])) is None


def test_a_log_of_some_days_took_days_and_not_months():
    days = [f"{day:02}/05/2023 {hour:02}:30" for day in range(1, 6) for hour in (8, 13, 20)]
    dates = find(*days)
    assert (dates.order, dates.column[-1].month) == ("dmy", 5)
    assert dates.guess == "01/05/2023 08:30"  # but it remains a guess
    assert find(*days[::3]).order == "mdy"  # at one hour a day, rows may be monthly


def test_dates_in_several_forms_stay_text_which_is_said():
    cells = ["2021-09-12", "08.09.2021", "2021-03-30", "9/30/2021"]
    found = find_dates({"when": pl.Series("when", cells)})["when"]
    assert found.doubt == (
        "text, because its dates are written in several ways, such as '08.09.2021' and '2021-09-12'"
    )
    assert "when" not in find_dates({"when": pl.Series("when", ["2021-09-12", "no", "yes"])})
