"""Files that are written appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clearbands.apps.reading import files
from clearbands.apps.reading.reading import read_table


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".CSV"])
def test_a_table_comes_back_as_it_was_written(tmp_path, suffix):
    frame = pl.DataFrame({"x": [0.1 + 0.2, np.inf, None], "name": ["a,b", 'say "c"', None]})
    path = tmp_path / f"table [1]*{suffix}"  # a name, although it looks like a pattern
    files.write_table(frame, path)
    assert_frame_equal(read_table(path).frame, frame)


def test_a_dash_is_standard_output(capsys):
    files.check_output(Path("-"), table=True)
    files.write_table(pl.DataFrame({"x": [1]}), Path("-"))
    assert capsys.readouterr().out == "x\n1\n"


def test_outputs_are_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"There is no folder .*nope for out.csv; create it"):
        files.check_output(tmp_path / "nope" / "out.csv")
    with pytest.raises(
        ValueError, match=r"ends in '.txt'; tables are written to .csv, .parquet, .feather files"
    ):
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
        with files.atomic_path(path) as unfinished:
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
