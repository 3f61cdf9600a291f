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
    if page is None:
        return
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(before + start + "\n".join(shown) + "\n" + end + rest.split(end)[1])
