"""The place of the table in a text file."""

import pytest

from clearbands.apps.reading.layout import read_cells, unique_names

ROWS = "a,b,c\n1,2,3\n4,5,6\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ROWS, ()),
        (f"Report\n{ROWS}", ("1 line above the header left out, such as 'Report'",)),
        (f"Report,,\n\n{ROWS}", ("1 line above the header left out, such as 'Report'",)),
        (f"{ROWS}Source: us\n", ("1 line below the rows left out, such as 'Source: us'",)),
        (f"{ROWS},,\n,,\n", ("2 empty rows at the end left out",)),
        ("a,b,c\n1,2,3\na, b,c\n4,5,6\n", ("1 row repeats the header: left out",)),
    ],
)
def test_what_is_no_row_is_left_out_and_told(text, said):
    table = read_cells(text, ",")
    assert table.frame.columns == ["a", "b", "c"]
    assert table.frame.rows() == [("1", "2", "3"), ("4", "5", "6")]
    assert table.notes == said


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,,\n2,,\n",  # every row has one value only
        "a,b,c\n1,2,3\n,2,\nx,,\n5,6,7\n,1,\n",
        "a,b\n1,2\nx,\n",  # with two columns one value is no title
    ],
)
def test_rows_with_gaps_are_rows(text):
    table = read_cells(text, ",")
    assert (table.frame.height, table.notes) == (text.count("\n") - 1, ())


def test_a_column_without_a_name_and_a_header_without_numbers():
    assert read_cells(",x,\n0,5,\n1,6,\n", ",").frame.columns == ["column_1", "x", "column_3"]
    years = read_cells("Title\nland,1990,2000\nCH,1,2\nFR,3,4\n", ",")
    assert years.frame.columns == ["land", "1990", "2000"]


def test_names_of_rows_as_r_writes_them():
    table = read_cells("x,y\na,1,2\nb,3,4\n", ",")
    assert table.frame.columns == ["column_1", "x", "y"]
    assert table.notes == ("rows have a field more than the header, which names all but the first",)
    ends = read_cells("x,y\n1,2,\n3,4,\n", ",")
    assert ends.frame.columns == ["x", "y", "column_3"]


def test_a_first_line_of_numbers_is_a_row():
    table = read_cells("5.1,3.5,setosa\n4.9,3.0,setosa\n", ",")
    assert table.frame.rows() == [("5.1", "3.5", "setosa"), ("4.9", "3.0", "setosa")]
    assert "the first line holds numbers such as '5.1' and no names" in table.notes[0]
    assert read_cells("0,1,2\n4.9,3.0,1\n", ",").frame.columns == ["0", "1", "2"]


def test_names_are_made_unique():
    names, said = unique_names(["x", "x_2", "x", "x"])
    assert names == ["x", "x_2", "x_3", "x_4"]
    assert said[0] == "column 3 is named 'x' like another, so it is called 'x_3'"
