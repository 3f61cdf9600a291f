"""The behaviour of all commands: one line for each failure, interruption and warning."""

from __future__ import annotations

import inspect
import os
import select
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from clearbands.apps.cli import console
from clearbands.rows.messages import rows_of_a_file


class Group(TyperGroup):
    """The group of commands, which takes --debug at any place."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if "--debug" in args:
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)


RENAMED = {  # the old names of options, with the new names that may be meant
    "--together": {"--groups": "rows that belong together"},
    "--group": {
        "--groups": "rows that belong together",
        "--calibration-groups": "groups in each of which the level holds",
        "--by": "groups whose coverage is compared",
    },
}


class Command(TyperCommand):
    """A command: one sentence and exit code 2 for errors, 130 for Ctrl-C, one line for warnings."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        known = {name for param in self.params for name in param.opts}
        for old in (arg.partition("=")[0] for arg in args):
            meant = {new: what for new, what in RENAMED.get(old, {}).items() if new in known}
            if meant and old not in known:
                names = ", or ".join(f"{new} for {what}" for new, what in meant.items())
                console.print_error(f"Error: There is no option {old}: use {names}.")
                raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        try:
            with warnings.catch_warnings(), rows_of_a_file():
                warnings.showwarning = console.show_warning
                return super().invoke(ctx)
        except KeyboardInterrupt:
            console.print_error("Stopped; no file was left half-written.")
            raise typer.Exit(130) from None
        except Exception as error:
            if (
                isinstance(error, BrokenPipeError)
                and hasattr(select, "poll")
                and _is_output_closed()
            ):
                raise typer.Exit(0) from None
            if ctx.find_root().params.get("debug"):
                typer.echo(traceback.format_exc(), err=True, nl=False)
            else:
                console.print_error(console.sentence(error))
            raise typer.Exit(2) from error


def _is_output_closed() -> bool:
    """Whether nobody reads standard output any more, as in `clearbands forecast MODEL | head`."""
    output = select.poll()  # a broken pipe elsewhere is an ordinary error
    output.register(sys.stdout.fileno(), 0)
    if is_closed := any(event & select.POLLERR for _, event in output.poll(0)):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # it is flushed at the end
    return is_closed


def flatten_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return the command as typer sees it: each field of a dataclass parameter is an option."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    def parameters() -> Iterator[inspect.Parameter]:
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in groups:
                of = _with_option_name(name, hints[name])
                yield parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=of)
                continue
            own = get_type_hints(groups[name], include_extras=True)
            for each in fields(groups[name]):
                yield inspect.Parameter(
                    each.name,
                    parameter.KEYWORD_ONLY,
                    default=_default_of(each),
                    annotation=_with_option_name(each.name, own[each.name]),
                )

    def command(**values: Any) -> None:
        for name, group in groups.items():
            own = {each.name: values.pop(each.name) for each in fields(group)}
            values[name] = group(**own)  # type: ignore[operator]
        function(**values)

    laid = list(parameters())
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(laid)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in laid}
    return command


def _with_option_name(name: str, annotation: Any) -> Any:
    """Name an option after its parameter if it has no name; a flag gets no opposite."""
    if get_origin(annotation) is not Annotated:
        return annotation
    of, info = get_args(annotation)
    if isinstance(info, OptionInfo) and info.default is ...:
        info = copy(info)
        info.param_decls = (f"--{name.replace('_', '-')}",)
    return Annotated[of, info]


def _default_of(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default


def typed_command(ctx: typer.Context) -> str:
    """Return the running command with all its arguments and options, as one types it in a shell."""
    words = ["clearbands", ctx.info_name or ""]
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        value = ctx.params[param.name or ""]
        if param.param_type_name == "argument":
            words.append(str(value))
        elif value is True:  # a flag takes no value
            words.append(param.opts[0])
        else:
            values = value if isinstance(value, list | tuple) else [value]
            words += [f"{param.opts[0]}={each}" for each in values]
    return shlex.join(words)
