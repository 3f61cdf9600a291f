"""Names in README, docs and CONTRIBUTING are names of the code."""

import builtins
import re
from pathlib import Path

import pytest

import clearbands

ROOT = Path(__file__).parents[2]
PACKAGE = Path(clearbands.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = [
    ROOT,
    PACKAGE,
    PACKAGE.parent,
    *(ROOT / name for name in ("docs", "docs/howto", "tests", "experiments", "benchmarks")),
]
CODE = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in (PACKAGE, ROOT / "experiments", ROOT / "benchmarks")
    for path in folder.rglob("*.py")
)
WORDS = set(re.findall(r"\w+", CODE)) | set(dir(builtins))
ELSEWHERE = {"PowerTransformer", "asfreq", "histogram_quantile", "make_reduction"}
"""Names of scikit-learn, pandas, Prometheus and sktime."""
NAMES = re.compile(r"(?:\w+\.)*([a-z]\w*_$|(?:[A-Z][a-z0-9]+){2,}(?=\(|$)|\w+(?=\())")
"""A pattern of fitted attributes, classes, and functions that are called."""


def quoted(page):
    """Return the texts between single backticks, outside of blocks of code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)


def unknown_names(page):
    found = filter(None, map(NAMES.match, quoted(page)))
    return sorted({match[1] for match in found} - WORDS - ELSEWHERE)


def missing_paths(page):
    paths = {words for words in quoted(page) if re.fullmatch(r"[\w./-]+(?:\.py|/)", words)}
    return sorted(path for path in paths if not any((folder / path).exists() for folder in FOLDERS))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_and_files_exist(page):
    assert (unknown_names(page), missing_paths(page)) == ([], [])


def test_what_is_nowhere_is_found_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "`bootstraps_` and `model.forget_all()` by `NoSuchModel` in `nowhere/`, `model.fit()`"
    )
    assert unknown_names(page) == ["NoSuchModel", "bootstraps_", "forget_all"]
    assert missing_paths(page) == ["nowhere/"]
