"""The command `clearbands`: its door, which opens without the extra being installed."""

from __future__ import annotations

import sys

from clearbands._compat import advice, has_extra


def main() -> None:
    """Run the command; without its extra, say in one sentence how to get it."""
    if not has_extra("cli"):
        sys.stderr.write(advice("The command", "cli") + "\n")
        sys.exit(2)
    try:
        from clearbands.apps.cli.commands import app

        app(prog_name="clearbands")
    except KeyboardInterrupt:  # before or after the work of a command, which handles its own
        sys.exit(130)
