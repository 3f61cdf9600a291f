"""The command inside a test, and houses for it."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import polars as pl
from typer.testing import CliRunner

from clearbands.apps.cli.commands import app

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")
FEATURES = ["x", "age", "colour"]


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def assert_fails(result, *said):
    """Check for one sentence on standard error, exit code 2, and no output."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for words in said:
        assert words in result.stderr


def houses(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    colour = rng.choice(["red", "green", None], n_rows)
    noise = rng.normal(size=n_rows) * (1 + np.abs(x))
    return pl.DataFrame(
        {
            "x": x,
            "age": rng.integers(20, 80, n_rows),
            "colour": colour.tolist(),
            "price": 3 * x + (colour == "red") + noise,
        }
    )


def write(table, path):
    table.write_csv(path)
    return path
