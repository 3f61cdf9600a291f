"""The command line, put together from one file per command.

A command imports itself what is slow to import, so that help is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from clearbands import __version__
from clearbands.apps.cli.command import Command, Group, flatten_options
from clearbands.apps.cli.demo import demo
from clearbands.apps.cli.evaluate import evaluate
from clearbands.apps.cli.explore import explore
from clearbands.apps.cli.fit import fit
from clearbands.apps.cli.forecast import forecast
from clearbands.apps.cli.inspect import inspect
from clearbands.apps.cli.label import label
from clearbands.apps.cli.monitor import monitor
from clearbands.apps.cli.predict import predict
from clearbands.apps.cli.report import report
from clearbands.apps.cli.serve import serve
from clearbands.apps.cli.update import update
from clearbands.apps.cli.warm import warm

FUNCTIONS: tuple[Callable[..., None], ...] = (
    *(demo, inspect, fit, predict, evaluate, report, forecast),
    *(update, monitor, label, serve, explore, warm),
)
COMMANDS = tuple(map(flatten_options, FUNCTIONS))
"""The commands in the order of help."""

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its boxes cost half a second
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in COMMANDS:
    app.command(cls=Command)(command)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"clearbands {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
) -> None:
    """Prediction intervals you can trust, that say why they are wide."""
