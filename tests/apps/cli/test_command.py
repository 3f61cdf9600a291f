"""How every command fails and warns: in one line each."""

from __future__ import annotations

import os
import select
import sys

import pytest

from clearbands.apps.cli.commands import app
from tests.apps.cli.running import assert_fails, houses, run


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_each(tmp_path):
    data, out = tmp_path / "small.csv", tmp_path / "model.cb"
    houses(20).write_csv(data)
    result = run("fit", data, "--target", "price", "--out", out, "--preset", "b")
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: ")
    assert result.stderr.count("\n") == 1


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path):
    args = ["fit", tmp_path / "nope.csv", "--target", "y", "--out", tmp_path / "m.cb"]
    for result in (run("--debug", *args), run(*args, "--debug")):
        assert result.exit_code == 2
        assert "Traceback" in result.stderr
        assert "ValueError: There is no file" in result.stderr


@pytest.mark.skipif(not hasattr(select, "poll"), reason="Windows has no such pipes")
def test_a_reader_that_has_enough_ends_a_command_quietly(tmp_path, monkeypatch, capsys):
    houses(30).write_csv(tmp_path / "houses.csv")
    to_read, to_write = os.pipe()
    os.close(to_read)
    with os.fdopen(to_write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(SystemExit) as ended:
            app(["inspect", str(tmp_path / "houses.csv")])
    assert not ended.value.code
    assert capsys.readouterr().err == ""


def test_usage_errors_exit_with_2(house_files):
    assert run("fit", house_files / "train.csv").exit_code == 2
    assert run("fit", "--preset", "z").exit_code == 2
    assert run("nonsense").exit_code == 2


@pytest.mark.parametrize(
    ("command", "old", "words"),
    [
        ("fit", "--together", "use --groups for rows that belong together"),
        ("fit", "--group", "or --calibration-groups for groups in each of which the level holds"),
        ("report", "--group=town", "use --by for groups whose coverage is compared"),
    ],
)
def test_an_old_option_gets_a_sentence_that_gives_the_new_one(command, old, words):
    result = run(command, "houses.csv", old, "town")
    assert_fails(result, words)
    assert result.stderr.count("\n") == 1
