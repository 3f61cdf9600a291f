"""clearbands report writes a page that says how to repeat it."""

from __future__ import annotations

import hashlib
import html
import platform
import re
import shlex

import clearbands
from tests.apps.cli.running import assert_fails, run


def test_report_writes_a_page_that_tells_how_to_repeat_it(house_files, house_model, tmp_path):
    out = tmp_path / "page.html"
    args = ["report", house_model, house_files / "test.csv", "--target", "price", "--out", out]
    result = run(*args, "--unit", "EUR", "--by", "id", "--drop-missing-target")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"Wrote {out} (a report on 60 rows).\n"
    page = html.unescape(out.read_text(encoding="utf-8"))
    assert "EUR wide" in page
    assert "<caption>Group</caption>" in page
    command = re.search("<code>(clearbands report .*)</code>", page).group(1)
    assert run(*shlex.split(command)[1:]).exit_code == 0
    assert html.unescape(out.read_text(encoding="utf-8")) == page
    assert hashlib.sha256((house_files / "test.csv").read_bytes()).hexdigest()[:32] in page
    assert f"clearbands {clearbands.__version__}, python {platform.python_version()}" in page


def test_report_checks_its_arguments(house_files, house_model, tmp_path):
    args = ["report", house_model, house_files / "test.csv", "--target"]
    assert_fails(run(*args, "price", "--out", house_files / "test.csv"), "is an input")
    assert_fails(run(*args, "prices", "--out", tmp_path / "a.html"), "did you mean 'price'?")
    wrong = run(*args, "price", "--out", tmp_path / "a.html", "--by", "color")
    assert_fails(wrong, "has no column 'color'; did you mean 'colour'?")
    assert list(tmp_path.iterdir()) == []
