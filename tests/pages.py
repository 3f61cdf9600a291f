"""The code on a page, run as a reader would: from top to bottom, in one session.

`python -m tests.pages docs/gallery.md` runs a page in its own folder; what it saves stays there.

Above a block, `<!-- needs NAME -->` names a package that it needs, and `<!-- not run: REASON -->`
says why nobody can run it here.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r"(?:^<!-- (?P<note>(?:needs|not run:) .*?) -->\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    code: str
    page: Path
    line: int
    needs: str = ""
    why_not: str = ""

    def run(self, names: dict[str, Any]) -> None:
        lines = "\n" * self.line  # so that errors name lines of the page
        exec(compile(lines + self.code, str(self.page), "exec"), names)


def python_blocks(page: Path) -> list[Block]:
    return _blocks(page, {"python"})


def commands(page: Path) -> list[list[str]]:
    """The arguments of every line that starts the command, in order."""
    found = []
    for block in _blocks(page, {"", "sh"}):
        lines = block.code.replace("\\\n", " ").splitlines()
        calls = [line.partition("  #")[0] for line in lines if line.startswith("clearbands ")]
        found += [shlex.split(call)[1:] for call in calls]
    return found


def _blocks(page: Path, kinds: set[str]) -> list[Block]:
    text = page.read_text()
    found = []
    for match in FENCE.finditer(text):
        if match["kind"] in kinds:
            how, _, what = (match["note"] or "").partition(" ")
            needs = what if how == "needs" else ""
            why_not = what.removeprefix("run: ") if how == "not" else ""
            line = text[: match.start("code")].count("\n")
            found.append(Block(match["code"], page, line, needs, why_not))
    return found


def as_text(html: str) -> str:
    """What a reader of the page sees, in one line."""
    without = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(without).split())


if __name__ == "__main__":
    for page in [Path(given).resolve() for given in sys.argv[1:]]:
        os.chdir(page.parent)
        names: dict[str, Any] = {}
        for block in python_blocks(page):
            if not block.why_not:
                block.run(names)
