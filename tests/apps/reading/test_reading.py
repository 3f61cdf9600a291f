"""Files as people write them are read as they were meant, and what was changed is reported."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clearbands.apps.reading.formats import read_content
from clearbands.apps.reading.reading import Fitted, read_table
from tests.apps.reading.written import CSV, TABLE, write


def test_the_usual_words_for_missing_are_missing(csv):
    frame = read_table(csv("x,colour\n1,red\nNA,N/A\nNaN,\n")).frame
    assert frame["x"].to_list() == [1, None, None]
    assert frame["colour"].to_list() == ["red", None, None]


def test_a_column_may_turn_out_to_be_text_in_its_last_rows(csv):
    frame = read_table(csv("x\n" + "1\n" * 500 + "many\n" * 500)).frame
    assert frame["x"].dtype == pl.String


def test_codes_keep_their_leading_zeros(csv):
    path = csv("zip,x\n01067,0\n8001,0.5\n")
    reading = read_table(path)
    assert reading.frame["zip"].to_list() == ["01067", "8001"]
    assert reading.codes == ("zip",)
    numbers = read_table(path, columns_as={"zip": "number"})
    assert numbers.frame["zip"].to_list() == [1067, 8001]
    assert read_table(path, fitted=Fitted({"zip": "number"})).frame["zip"].to_list() == [1067, 8001]


def test_the_columns_of_a_model_are_read_in_its_kinds(csv):
    path = csv('zip,x,sold\n8001,"1,710",2024-01-31\n8002,?,\n')
    reading = read_table(path, fitted=Fitted({"zip": "text", "x": "number", "sold": "date"}))
    assert reading.frame["zip"].to_list() == ["8001", "8002"]
    assert reading.frame["x"].to_list() == [1710, None]
    assert reading.frame["sold"].to_list() == [dt.date(2024, 1, 31), None]
    assert reading.mended["x"].in_words == (
        "1 cell such as '1,710' read as numbers such as 1710 and 1 cell read as missing, such as "
        "'?' in row 2 (counted from 1)"
    )


@pytest.mark.parametrize(
    ("cell", "kind", "said"),
    [
        ("low", "number", "must hold numbers, but row 2 .counted from 1. holds 'low'"),
        ("31st", "date", "must hold dates, but row 2 .counted from 1. holds '31st'"),
        ("yes", "boolean", "must hold true and false, but row 2 .counted from 1. holds 'yes'"),
        ("noon", "time", "must hold times of day, but row 2 .counted from 1. holds 'noon'"),
    ],
)
def test_a_cell_that_a_model_cannot_take_is_named(csv, cell, kind, said):
    good = {"number": "1", "date": "2024-01-31", "boolean": "true", "time": "12:00:00"}[kind]
    with pytest.raises(ValueError, match=f"Column 'x' {said}"):
        read_table(csv(f"x\n{good}\n{cell}\n"), fitted=Fitted({"x": kind}))


TYPED = pl.DataFrame(
    {
        "rooms": [3, 4, None],
        "floors": [1.0, 2.5, None],
        "heated": [True, False, None],
        "sold": [dt.date(2026, 1, 31), None, dt.date(2026, 2, 1)],
        "flag": [True, None, False],
    }
)
AS_TEXT = pl.DataFrame(
    {
        "rooms": ["3", "4", None],
        "floors": ["1", "2.5", None],
        "heated": ["True", "False", None],
        "sold": ["2026-01-31", None, "2026-02-01"],
        "flag": [1, None, 0],
    }
)


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_every_format_is_read_in_the_kinds_of_a_model(tmp_path, ending):
    path = write(TYPED, tmp_path / f"data.{ending}")
    texts = {"rooms": {"3", "4"}, "floors": {"1", "2.5"}, "heated": {"True", "False"}}
    kinds = dict.fromkeys(["rooms", "floors", "heated", "sold"], "text") | {"flag": "number"}
    assert_frame_equal(read_table(path, fitted=Fitted(kinds, texts)).frame, AS_TEXT)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_that_a_fit_knew_as_other_text_are_told(tmp_path, ending):
    path = write(pl.DataFrame({"store": [1, 2, None]}), tmp_path / f"data.{ending}")
    for known in (["1.0", "s2"], []):  # some values are known, or none are told
        read_table(path, fitted=Fitted({"store": "text"}, {"store": known}))
    said = "Column 'store' was text such as 's1' in fit, but now holds numbers, none of which"
    with pytest.warns(UserWarning, match=said):
        read_table(path, fitted=Fitted({"store": "text"}, {"store": ["s1", "s2"]}))


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_text_in_typed_files_is_what_a_csv_file_would_hold(tmp_path, ending):
    texts = AS_TEXT.select("heated", "sold", "rooms")
    path = write(texts, tmp_path / f"data.{ending}")
    fitted = Fitted({"heated": "boolean", "sold": "date", "rooms": "number"})
    expected = TYPED.select("heated", "sold", "rooms")
    assert_frame_equal(read_table(path, fitted=fitted).frame, expected)
    write(texts.with_columns(sold=pl.lit("soon")), path)
    with pytest.raises(ValueError, match=r"'sold' must hold dates, but row 1 .counted from 1."):
        read_table(path, fitted=fitted)


def test_a_typed_column_asked_for_as_text_is_that_of_a_csv_file(tmp_path):
    kinds = dict.fromkeys(["rooms", "sold"], "text")
    read = [
        read_table(write(TYPED, tmp_path / f"data.{ending}"), columns_as=kinds).frame
        for ending in ("csv", "parquet", "feather")
    ]
    for frame in read[1:]:
        assert_frame_equal(frame.select(*kinds), read[0].select(*kinds))
    floats = write(TYPED.with_columns(pl.col("rooms").cast(pl.Float64)), tmp_path / "gaps.parquet")
    assert read_table(floats, columns_as=kinds).frame["rooms"].to_list() == ["3", "4", None]


def test_columns_are_read_as_asked(csv):
    path = csv("x,y,ok,town\n1,1,true,Bern\n2,low,false,Chur\n")
    assert read_table(path, columns_as={"x": "text"}).frame["x"].to_list() == ["1", "2"]
    assert read_table(path, columns_as={"ok": "number"}).frame["ok"].to_list() == [1, 0]
    mended = read_table(path, columns_as={"y": "number"})
    assert mended.frame["y"].to_list() == [1, None]
    assert (
        mended.mended["y"].in_words
        == "1 cell read as missing, such as 'low' in row 2 (counted from 1)"
    )
    for name, kind, said in (
        ("town", "number", "'town' holds no number, but cells such as 'Bern'"),
        ("town", "date", "'town' must hold dates, but row 1 .counted from 1. holds 'Bern'"),
        ("x", "colour", "read as number, text, date, dmy or mdy, got 'colour' for 'x'"),
        ("z", "text", "has no column 'z'"),
    ):
        with pytest.raises(ValueError, match=said):
            read_table(path, columns_as={name: kind})


def test_unnamed_columns_that_count_the_rows_or_are_empty_are_left_out(csv):
    for name in ("", "Unnamed: 0"):
        reading = read_table(csv(f"{name},x,\n0,5,\n1,6,\n2,7,\n"))
        assert reading.frame.columns == ["x"]
        assert reading.notes == (
            "column 1 has no name and only counts the rows: left out",
            "column 3 has neither a name nor a value: left out",
        )
    assert read_table(csv(",x\n7,5\n3,6\n")).frame.columns == ["column_1", "x"]


def test_a_column_without_values_is_read_as_numbers(csv):
    assert read_table(csv("x,y\n,1\n,2\n")).frame["x"].dtype == pl.Float64


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.csv", content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("ending", "pack"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zip", zipped)],
)
def test_packed_files_are_unpacked(csv, ending, pack):
    for name in (f"data.csv.{ending}", f"data.{ending}"):
        assert_frame_equal(read_table(csv(pack(CSV.encode()), name)).frame, TABLE)
    with pytest.raises(ValueError, match=f"broken.csv.{ending} cannot be unpacked"):
        read_table(csv(pack(CSV.encode())[:-15], f"broken.csv.{ending}"))


def test_standard_input_may_be_text_parquet_or_packed(monkeypatch):
    parquet = io.BytesIO()
    TABLE.write_parquet(parquet)
    for content in (CSV.encode(), gzip.compress(CSV.encode()), parquet.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert_frame_equal(read_table(Path("-")).frame, TABLE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(ValueError, match="Standard input is empty"):
        read_content(Path("-"))


def test_excel_files_are_read_where_the_library_is_there(csv, tmp_path):
    if find_spec("fastexcel") is None:
        with pytest.raises(ImportError, match='needs the extra "excel": pip install fastexcel'):
            read_table(csv(b"PK", "data.xlsx"))
        return
    xlsxwriter = pytest.importorskip("xlsxwriter")
    TABLE.write_excel(tmp_path / "data.xlsx")
    assert_frame_equal(read_table(tmp_path / "data.xlsx").frame, TABLE)
    with xlsxwriter.Workbook(tmp_path / "titled.xlsx") as book:
        sheet = book.add_worksheet("houses")
        sheet.write("A1", "Houses, exported in May")
        TABLE.write_excel(book, "houses", position="A3")
    titled = read_table(tmp_path / "titled.xlsx")
    assert_frame_equal(titled.frame, TABLE)
    assert titled.notes == ("2 rows above the header left out",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.doc", b"x", r"ends in '.doc'; tables are files that end in .csv, .tsv"),
        ("data", b"x", "has no ending; tables are files"),
        ("data.csv", b"", r"data.csv is empty \(0 bytes\)"),
        ("data.csv", b"x,y\n", "data.csv has column names but no rows"),
        ("data.csv", b"x,y\n1,2,3\n", "data.csv could not be read as a csv file: found more"),
        ("data.csv", b"x,y\n1,\x00\n", "data.csv is no text file"),
        ("data.parquet", b"PAR1", "data.parquet could not be read as a parquet file: "),
        ("data.feather", b"ARROW1", "data.feather could not be read as a feather file: "),
    ],
)
def test_unreadable_files_say_what_is_wrong(csv, name, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_table(csv(content, name))
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"There is no file .*nope.csv"):
        read_table(tmp_path / "nope.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match=r"folder.csv is a folder"):
        read_table(tmp_path / "folder.csv")
