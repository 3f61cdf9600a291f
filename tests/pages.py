"""The code on a page, run as a reader would: from top to bottom, in one session.

`python -m tests.pages docs/gallery.md` runs a page in its own folder; what it saves stays there.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[str]:
    """Each block behind as many empty lines as stand before it: errors name lines of the page."""
    text = page.read_text()
    return [
        "\n" * text[: found.start(1)].count("\n") + found.group(1) for found in FENCE.finditer(text)
    ]


def run(page: Path, names: dict[str, Any]) -> None:
    """Run the blocks in order; `names` are what the page takes for granted."""
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page = page.resolve()
        os.chdir(page.parent)
        run(page, {})
