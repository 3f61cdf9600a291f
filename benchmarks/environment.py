"""The environment in which the authors' package is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".venv-authors"
PINS = Path(__file__).parent / "authors-pins.txt"
# The package imports torch, though nothing here calls it. Any build is enough; a build for the CPU,
# if pip is set up to find it, avoids a GPU runtime of some GB.
TORCH = "torch==2.13.0"


class EnvironmentFailure(Exception):
    """The environment could not be built; the message says why."""


def authors_python() -> Path:
    """Return the interpreter of the environment, which is built first if it is missing."""
    python, ready = FOLDER / "bin" / "python", FOLDER / "ready"
    if ready.exists() and ready.stat().st_mtime > PINS.stat().st_mtime:
        return python
    print(f"Building {FOLDER.name}; this takes some minutes.", flush=True)
    _call(sys.executable, "-m", "venv", str(FOLDER))
    install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _call(*install, "--no-deps", "-r", str(PINS))
    _call(*install, "--constraint", str(PINS), TORCH)
    _call(str(python), "-c", "import benchmarks.peer")
    ready.touch()
    return python


def _call(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentFailure(f"{' '.join(command[:6])} ... failed: {last[0]}")
