"""The code on a page, run as a reader would run it: from top to bottom, in one session.

`python -m tests.pages docs/gallery.md` runs the Python of a page in its own folder; the files that
it saves stay there. `python -m tests.pages --tutorials` runs whole tutorials with their commands,
each in a folder of its own, and copies their pictures to docs/images/tutorials.

Above a block, `<!-- needs NAME -->` names a package that it needs, and `<!-- not run: REASON -->`
says why nobody can run it here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
PORT = "8000"
"""The port that pages name; `run_shell` takes a free one instead."""

FENCE = re.compile(
    r"(?:^<!-- (?P<note>(?:needs|not run:) .*?) -->\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    code: str
    page: Path
    line: int
    kind: str
    needs: str = ""
    why_not: str = ""

    def run(self, names: dict[str, Any]) -> None:
        lines = "\n" * self.line  # so that errors name lines of the page
        exec(compile(lines + self.code, str(self.page), "exec"), names)


def python_blocks(page: Path) -> list[Block]:
    return _blocks(page, {"python"})


def commands(page: Path) -> list[list[str]]:
    """Return the arguments of every line that starts the command, in order."""
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
            found.append(Block(match["code"], page, line, match["kind"], needs, why_not))
    return found


def steps(page: Path) -> list[Block]:
    """Return the blocks of Python and of commands, in the order of the page."""
    return _blocks(page, {"python", "sh"})


@contextmanager
def shell(folder: Path) -> Iterator[Any]:
    """Yield a function that runs blocks of commands in `folder`; end their processes at last."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    groups: list[int] = []

    def run(block: Block) -> None:
        output = folder / "output.txt"
        with output.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", block.code.replace(PORT, port)],
                cwd=folder, stdout=file, stderr=file, env=environment, start_new_session=True,
            )  # fmt: skip
            groups.append(process.pid)
            code = process.wait(timeout=300)
        place = f"{block.page.name}, line {block.line}"
        assert code == 0, f"{place}: {block.code}{output.read_text()}"

    try:
        yield run
    finally:
        for group in groups:
            try:
                os.killpg(group, signal.SIGTERM)
            except ProcessLookupError:
                continue


def take_pictures() -> None:
    """Run every tutorial in a folder of its own; its pictures go to docs/images/tutorials."""
    for page in sorted(TUTORIALS.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder, shell(Path(folder)) as run_shell:
            os.chdir(folder)
            names: dict[str, Any] = {}
            for block in steps(page):
                if block.kind == "sh":
                    run_shell(block)
                else:
                    block.run(names)
            for picture in Path(folder).glob("*.png"):
                shutil.copy(picture, ROOT / "docs" / "images" / "tutorials")
            os.chdir(ROOT)


def as_text(html: str) -> str:
    """Return the text that a reader of the page sees, in one line."""
    without = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(without).split())


if __name__ == "__main__":
    if sys.argv[1:] == ["--tutorials"]:
        take_pictures()
        sys.exit()
    for page in [Path(argument).resolve() for argument in sys.argv[1:]]:
        os.chdir(page.parent)
        names: dict[str, Any] = {}
        for block in python_blocks(page):
            if not block.why_not:
                block.run(names)
