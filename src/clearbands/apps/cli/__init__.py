"""The entry of the command `clearbands`, which starts even without the extra."""

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
    except KeyboardInterrupt:  # before or after a command, which handles its own
        sys.exit(130)
