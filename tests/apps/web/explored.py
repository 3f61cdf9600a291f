"""The command's output for rows of the page, and the page as users start it."""

from __future__ import annotations

import re
import signal
import subprocess
import sysconfig
from contextlib import contextmanager
from pathlib import Path

from typer.testing import CliRunner

from clearbands.apps.cli.commands import app as command

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")


def predicted(folder, model="model.cb"):
    """Return the bytes that `clearbands predict` writes for the rows."""
    out = folder / "out.csv"
    arguments = [folder / model, folder / "rows.csv", "--out", out]
    done = CliRunner().invoke(command, ["predict", *map(str, arguments)])
    assert done.exit_code == 0, done.stderr
    return out.read_bytes()


@contextmanager
def served(*arguments, complaints=""):
    """Run the command as users do; yield the page's address, then compare its standard error."""
    process = subprocess.Popen(
        [SCRIPT, "explore", *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = process.stdout.readline()
        yield re.search(r"http://127\.0\.0\.1:\d+", said)[0]
        process.send_signal(signal.SIGTERM)
        _, complained = process.communicate(timeout=30)
        assert (process.returncode, complained) == (0, complaints)
    finally:
        process.kill()
        process.stdout.close()
        process.stderr.close()


def band(page, name="epistemic"):
    return page.locator(f"#bands figure:first-child polygon.{name}").get_attribute("points")
