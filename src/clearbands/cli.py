"""The command `clearbands`: its door, which opens without the extra being installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "polars", "jinja2", "matplotlib")


def main() -> None:
    """Run the command; without its extra, say in one sentence how to get it."""
    if any(find_spec(name) is None for name in NEEDED):
        sys.stderr.write('The command needs its extra: pip install "clearbands[cli]".\n')
        sys.exit(2)
    try:
        from clearbands.commands import app

        app(prog_name="clearbands")
    except KeyboardInterrupt:  # before or after the work of a command, which handles its own
        sys.exit(130)
