"""docs/commands.md from the help of the commands; `python -m tests.commands_page` writes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from clearbands.apps.cli.commands import COMMANDS

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
START = """# Commands

What `clearbands COMMAND --help` says, on one page; `python -m tests.commands_page` writes it.
The command needs the extra `cli`; `serve` and `explore` need the extra `serve` as well.
The [glossary](glossary.md) says what the words of this page mean.

Exit code 0 means that the work was done. An error is one sentence on standard error, with exit
code 2; `--debug`, anywhere in the line, shows where it happened. Results go to standard output,
warnings and progress to standard error.
"""


class Given(NamedTuple):
    """An argument or an option of a command."""

    info: ArgumentInfo | OptionInfo
    type: Any
    default: Any

    @property
    def is_needed(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def choices(self) -> list[str]:
        types = get_args(self.type) if get_origin(self.type) is not Literal else (self.type,)
        return [each for t in types if get_origin(t) is Literal for each in get_args(t)]

    @property
    def spelled(self) -> str:
        if isinstance(self.info, ArgumentInfo):
            return str(self.info.metavar)
        (name,) = self.info.param_decls or (self.info.default,)  # typer puts the first name there
        if self.type is bool:
            return name
        return f"{name} {self.info.metavar or name.removeprefix('--').upper()}"


def write_page() -> str:
    return "\n".join([START, *(_section(command) for command in COMMANDS)])


def _section(command: Callable[..., None]) -> str:
    given = _given(command)
    name = command.__name__
    usage = " ".join(["clearbands", name, *(each.spelled for each in given if each.is_needed)])
    return "\n".join(
        [
            f"## {name}\n",
            f"{inspect.cleandoc(command.__doc__ or '')}\n",
            f"```text\n{usage}\n```\n",
            "| | |",
            "|---|---|",
            *map(_row, given),
            "",
        ]
    )


def _given(command: Callable[..., None]) -> list[Given]:
    parameters = inspect.signature(command).parameters
    given = []
    for name, hint in get_type_hints(command, include_extras=True).items():
        infos = [i for i in get_args(hint) if isinstance(i, ArgumentInfo | OptionInfo)]
        given += [Given(info, get_args(hint)[0], parameters[name].default) for info in infos]
    return given


def _row(given: Given) -> str:
    said = [given.info.help or ""]
    if given.choices:
        said.append(f"One of {', '.join(f'`{choice}`' for choice in given.choices)}.")
    if not given.is_needed and given.default is not False and given.default not in (None, "", []):
        values = given.default if isinstance(given.default, list) else [given.default]
        said.append(f"By default {', '.join(f'`{value}`' for value in values)}.")
    words = " ".join(word for word in said if word).replace("|", "\\|")
    return f"| `{given.spelled}` | {words} |"


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
