"""The package runs as a module."""

from __future__ import annotations

import subprocess
import sys

import pytest

import clearbands

pytest.importorskip("typer", reason="the extra `cli` is not installed")


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "clearbands", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"clearbands {clearbands.__version__}\n")
