"""The tool `python -m tests.walks`, on a house of three files."""

import ast
import importlib
import sys

import pytest

from tests.walks import LIBRARY, code_lines, largest_knot, longest_chain, of_the_source, walk

FILES = {
    "__init__.py": "",
    "attic/__init__.py": "",
    "attic/lamp.py": '''"""A lamp."""
from typing import TYPE_CHECKING, NamedTuple
from lodge.cellar.fuse import check_fuse
if TYPE_CHECKING:
    from lodge.hall import Door

class Light(NamedTuple):
    """A value."""
    watts: int  # bright

def shine():
    check_fuse()
    return Light(1)
''',
    "cellar/__init__.py": "",
    "cellar/fuse.py": "from lodge.cellar.wire import conduct\ndef check_fuse():\n    conduct()\n",
    "cellar/wire.py": "def conduct():\n    pass\n",
    "hall.py": "from lodge.attic.lamp import shine\n\nclass Door:\n    pass\n",
}


@pytest.fixture
def lodge(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / "lodge" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "lodge"
    for name in [name for name in sys.modules if name.split(".")[0] == "lodge"]:
        del sys.modules[name]


def test_figures_of_the_source(lodge, tmp_path):
    figures = of_the_source(lodge, tmp_path)
    assert figures["code lines: core / apps"] == "17 / 0"
    assert figures["entries; longest chain of imports between them"] == "3; 3"
    assert figures["modules that exactly one other imports"] == "3"
    assert figures["entries in one knot through imports for types"] == "2"
    assert figures["modules without a test file of their path"] == "4"


def test_a_walk_leaves_leaves_out(lodge):
    hall = importlib.import_module("lodge.hall")
    figures = walk(hall.shine, lodge)
    assert figures.edges == {
        ("attic/lamp.py", "cellar/fuse.py"),
        ("cellar/fuse.py", "cellar/wire.py"),
    }
    assert str(figures) == "1 / 2 / 0"
    assert (figures.n_checks, figures.n_scans) == (1, 0)
    assert figures.carriers == {"lodge.attic.lamp.Light"}


def test_lines_of_comments_and_docstrings_do_not_count(tmp_path):
    file = tmp_path / "a.py"
    file.write_text('"""Two\nlines."""\n\n# words\nx = """one\ntwo"""\n')
    assert code_lines(file) == 2


def test_chains_and_knots():
    assert longest_chain({"a": {"b"}, "b": {"c"}, "c": set()}) == 3
    assert largest_knot({"a": {"b"}, "b": {"c"}, "c": set()}) == 0
    assert largest_knot({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == 2


VAGUE = {"asked", "found", "given", "kept", "made", "said", "shown", "told"}


def names_in(file):
    """Yield variables, arguments, fields, functions and classes, each with its line."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name.strip("_").lower(), node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def test_names_say_what_they_hold():
    """A participle fits any value: call a variable after what it is."""
    places = [(file, *place) for file in LIBRARY.rglob("*.py") for place in names_in(file)]
    vague = [
        f"{file.relative_to(LIBRARY)}:{line}: {name}"
        for file, name, line in places
        if name in VAGUE
    ]
    assert vague == []
