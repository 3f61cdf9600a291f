"""docs/method.md maps the paper's symbols to names and files: each name stands in its file."""

import re
from pathlib import Path

import pytest

import clearbands

ROOT = Path(__file__).parents[2]
SOURCE = Path(clearbands.__file__).parent
PAGE = (ROOT / "docs" / "method.md").read_text()


def rows():
    """Of the table: names and files."""
    lines = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| .* \|$", line)]
    return [
        pytest.param(*(re.findall(r"`([^`]+)`", cell) for cell in cells[-2:]), id=cells[0])
        for cells in lines[1:]
    ]


def text_of(name):
    path = SOURCE / name
    assert path.exists(), f"{name} is no file of the library"
    return "\n".join(p.read_text() for p in (path.rglob("*.py") if path.is_dir() else [path]))


@pytest.mark.parametrize(("names", "files"), rows())
def test_names_stand_in_the_files_beside_them(names, files):
    assert names
    assert files
    words = set(re.findall(r"\w+", "\n".join(map(text_of, files))))
    for name in names:
        for word in re.findall(r"[A-Za-z]\w*", name):
            assert word in words, f"`{name}` is not in {', '.join(files)}"


def test_names_and_files_in_the_text_exist():
    text = "\n".join(line for line in PAGE.splitlines() if not line.startswith(("|", "    ")))
    words = set(re.findall(r"\w+", text_of(".")))
    for name in re.findall(r"`([^`]+)`", text):
        if name.endswith(".py"):
            text_of(name)
        elif re.fullmatch(r"[a-z]\w*(=.*)?", name):
            assert name.split("=")[0] in words, f"`{name}` is nowhere in the library"
