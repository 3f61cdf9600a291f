"""Tables that commands write into pages, between two comments that name them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path


def add_options(parser: argparse.ArgumentParser, results: Path) -> None:
    """Add the options of a command that appends rows to a file and writes a table into a page."""
    parser.add_argument("--results", type=Path, default=results)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.add_argument("--write", type=Path, help="a page whose table is to be replaced")


def show(lines: Iterable[str], name: str, page: Path | None) -> None:
    """Print lines as they come, and then put them into the page, if one is given."""
    shown = []
    for line in lines:
        print(line, flush=True)
        shown.append(line)
    if page is not None:
        page.write_text(replaced(page.read_text(), name, shown))


def replaced(text: str, name: str, lines: Iterable[str]) -> str:
    """Return the text of a page with new lines between the comments of that name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(start)
    return before + start + "\n".join(lines) + "\n" + end + rest.split(end)[1]
