"""The command as it is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import clearbands
from clearbands.apps import cli
from tests.apps.cli.running import SCRIPT


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        'The command needs the extra "cli": pip install typer rich polars jinja2 matplotlib.\n'
    )


def test_help_loads_nothing_slow():
    code = (
        "import sys; import clearbands.apps.cli.commands; "
        "sys.exit(', '.join({'sklearn', 'numba', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_the_installed_script_tells_its_version_and_commands():
    version = subprocess.run([SCRIPT, "--version"], capture_output=True, text=True)
    assert (version.returncode, version.stdout) == (0, f"clearbands {clearbands.__version__}\n")
    shown = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0
    for command in ("demo", "fit", "predict", "evaluate", "report"):
        assert f"\n  {command} " in shown.stdout
