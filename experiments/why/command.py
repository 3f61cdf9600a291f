"""The command `why`, which asks whether the reason given for wide intervals is the true one."""

from __future__ import annotations

from typing import Any

from experiments.why import ablation, check, curves, peers, prior


def add_commands(commands: Any) -> None:
    help_ = "noise, ignorance and forecasts, held against the truth"
    parser = commands.add_parser("why", help=help_, description=help_)
    own = parser.add_subparsers(required=True, metavar="what")
    for part in (curves, prior, check, ablation, peers):
        part.add_command(own)
