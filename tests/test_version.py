"""The version is written once; all that repeats it must agree."""

import re
from importlib.metadata import version
from pathlib import Path

import clearbands

ROOT = Path(__file__).parents[1]


def test_the_installed_package_and_the_citation_say_the_same_version():
    assert version("clearbands") == clearbands.__version__
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [clearbands.__version__]
    assert f"## {clearbands.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_nothing_else_writes_it_down():
    written = re.compile(rf"version\w*\W+{re.escape(clearbands.__version__)}")
    files = [ROOT / "pyproject.toml", *(ROOT / "src").rglob("*.py")]
    assert [f.name for f in files if written.search(f.read_text("utf-8"))] == ["__init__.py"]
