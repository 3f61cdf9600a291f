"""Tables that commands write into pages, between two comments that name them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def show(lines: Iterable[str], name: str, page: Path | None) -> None:
    """Print the lines as they come; then replace those of the page, where one is given."""
    shown = []
    for line in lines:
        print(line, flush=True)
        shown.append(line)
    if page is not None:
        page.write_text(replaced(page.read_text(), name, shown))


def replaced(text: str, name: str, lines: Iterable[str]) -> str:
    """The text of a page with other lines between the comments of that name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(start)
    return before + start + "\n".join(lines) + "\n" + end + rest.split(end)[1]
