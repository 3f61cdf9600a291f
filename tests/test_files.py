"""Tables in files: what can be wrong with them is said, and they appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clearbands import files


@pytest.fixture
def csv(tmp_path):
    def write(text: str, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".CSV"])
def test_a_table_comes_back_as_it_was_written(tmp_path, suffix):
    frame = pl.DataFrame({"x": [0.1 + 0.2, np.inf, None], "name": ["a,b", 'say "c"', None]})
    path = tmp_path / f"table [1]*{suffix}"  # no pattern of names: this very file
    files.write_table(frame, path)
    assert_frame_equal(files.read_table(path), frame)


def test_the_usual_words_for_missing_are_missing(csv):
    frame = files.read_table(csv("x,colour\n1,red\nNA,N/A\nNaN,\n"))
    assert frame["x"].to_list() == [1, None, None]
    assert frame["colour"].to_list() == ["red", None, None]


def test_a_column_may_turn_out_to_be_text_in_its_last_row(csv):
    frame = files.read_table(csv("x\n" + "1\n" * 500 + "many\n"))
    assert frame["x"].dtype == pl.String


def test_categories_keep_their_leading_zeros(csv):
    path = csv("zip,x\n01067,1\n")
    assert files.read_table(path)["zip"].to_list() == [1067]
    assert files.read_table(path, text=["zip", "not there"])["zip"].to_list() == ["01067"]


def test_bytes_are_read_as_the_file_they_would_be(csv):
    content = "x,zip,sold\n1,01067,2024-01-31\nNA,,\n"
    assert_frame_equal(
        files.read_csv(content.encode(), "The upload", text=["zip"]),
        files.read_table(csv(content), text=["zip"]),
    )
    for wrong, said in ((b"", "is empty"), (b"x\n1,2\n", "could not be read as a csv file")):
        with pytest.raises(ValueError, match=f"The upload {said}"):
            files.read_csv(wrong, "The upload")


def test_a_column_without_values_is_read_as_numbers(csv):
    assert files.read_table(csv("x,y\n,1\n,2\n"))["x"].dtype == pl.Float64


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.xlsx", b"x", r"ends in '.xlsx'; tables are files that end in .csv or .parquet"),
        ("data", b"x", "has no ending; tables are files"),
        ("data.csv", b"", r"data.csv is empty \(0 bytes\)"),
        ("data.csv", b"x,y\n", "data.csv has column names but no rows"),
        ("data.csv", b"x,y\n1,2,3\n", "data.csv could not be read as a csv file: found more"),
        ("data.parquet", b"PAR1", "data.parquet could not be read as a parquet file: "),
    ],
)
def test_unreadable_files_say_what_is_wrong(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        files.read_table(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"There is no file .*nope.csv"):
        files.read_table(tmp_path / "nope.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match=r"folder.csv is a folder"):
        files.read_table(tmp_path / "folder.csv")


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        ("Price,x\n1,2\n", "price", "has no column 'price'; did you mean 'Price'"),
        ("price,prize,x\n1,2,3\n", "prise", "did you mean 'prize' or 'price'"),
        ("x,y\n1,2\n", "price", "its columns are 'x', 'y'"),
        ("y,x\ncheap,1\n", "y", "'y' holds text such as 'cheap'; it must be numbers"),
        ("y,x\n2024-01-31,1\n", "y", "'y' holds values of type Date such as '2024-01-31'"),
        ("y,x\n1,2\n,3\nNaN,4\n", "y", "'y' is missing in 2 rows of 3; fill them in or remove"),
        ("y,x\n1.5,2\n,3\n", "y", "'y' is missing in 1 row of 2"),
        ("y,x\ninf,2\n1.5,3\n", "y", "'y' is infinite in 1 row of 2"),
    ],
)
def test_targets_say_what_is_wrong_with_them(csv, content, target, message):
    path = csv(content)
    with pytest.raises(ValueError, match=message):
        files.take_target(files.read_table(path), target, path)


def test_true_and_false_are_numbers_too(csv):
    path = csv("y,x\ntrue,1\nfalse,2\n")
    assert files.take_target(files.read_table(path), "y", path).tolist() == [1.0, 0.0]


def test_a_target_alone_makes_no_model(csv):
    path = csv("y\n1\n2\n")
    with pytest.raises(ValueError, match="no column besides the target 'y'"):
        files.drop_target(files.read_table(path), "y", path)


def test_missing_columns_are_named_but_not_hundreds_of_them(csv):
    path = csv("x\n1\n")
    frame = files.read_table(path)
    with pytest.raises(ValueError, match="lacks the column the model was fitted on: 'a'; add"):
        files.take_features(frame, ["x", "a"], path)
    with pytest.raises(ValueError, match=r"lacks 300 columns .* 'c7' and 292 more; add"):
        files.take_features(frame, [f"c{i}" for i in range(300)], path)


def test_outputs_are_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"There is no folder .*nope for out.csv; create it"):
        files.check_output(tmp_path / "nope" / "out.csv")
    with pytest.raises(ValueError, match=r"ends in '.txt'; tables are files"):
        files.check_output(tmp_path / "out.txt", table=True)
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        files.check_output(tmp_path)
    data = tmp_path / "data.csv"
    data.write_text("x\n1\n")
    with pytest.raises(ValueError, match="is an input and would be overwritten"):
        files.check_output(tmp_path / "." / "data.csv", inputs=[data])
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_write_protected_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match=r"cannot be written \(Permission denied\)"):
        files.check_output(tmp_path / "out.csv")


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, interruption):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail_half_way():
        with files.written_whole(path) as unfinished:
            unfinished.write_text("hal")
            raise interruption

    with pytest.raises(interruption):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real.csv")
    files.write_table(pl.DataFrame({"x": [1]}), link)
    assert link.is_symlink()
    assert (tmp_path / "real.csv").read_text() == "x\n1\n"
