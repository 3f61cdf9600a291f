"""Every public name has an example in its docstring, which gives the output that it shows."""

import ast
import doctest
import importlib
import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import clearbands

NEEDS = {
    "CatBoostVirtualEnsemble": "catboost",
    "DeepEnsemble": "torch",
    "GaussianNetwork": "torch",
    "MCDropout": "torch",
    "NGBoostAleatoric": "ngboost",
    "NetworkClassifier": "torch",
    "NetworkQuantiles": "torch",
    "SimultaneousQuantiles": "torch",
    "mean_pool": "xgboost",
    "variant_c": "xgboost",
    "variant_deep": "torch",
}
"""Libraries without which an example cannot run, by the name it is for."""

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_names():
    """Yield classes and functions; constants and modules have no docstring of their own."""
    for name in sorted(clearbands.__all__):
        value = getattr(clearbands, name)
        if not isinstance(value, ModuleType) and callable(value):
            yield name


def examples_of(name):
    """Return the examples in the docstrings of a name and of its methods."""
    value = getattr(clearbands, name)
    module = importlib.import_module(value.__module__)
    found = doctest.DocTestFinder().find(value, name, module=module, globs=vars(module).copy())
    return [test for test in found if test.examples]


def test_every_public_name_shows_how_it_is_used():
    assert [name for name in public_names() if not examples_of(name)] == []


@pytest.mark.skipif(np.__version__ < "2", reason="older NumPy prints numbers in another way")
@pytest.mark.parametrize("name", list(public_names()))
def test_what_is_shown_is_what_comes_out(name, tmp_path, monkeypatch):
    if (library := NEEDS.get(name)) and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    monkeypatch.chdir(tmp_path)  # some examples write files
    for test in examples_of(name):
        said: list[str] = []
        result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
        assert not result.failed, "".join(said)


SOURCE = Path(clearbands.__file__).parent
WITH_EXAMPLES = [
    ".".join(("clearbands", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.skipif(np.__version__ < "2", reason="older NumPy prints numbers in another way")
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_what_private_functions_show_is_what_comes_out(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for examples that write files
    module = pytest.importorskip(name, exc_type=ModuleNotFoundError)
    if name.startswith("clearbands.plots."):
        pytest.importorskip("matplotlib")
    public = {id(getattr(clearbands, each)) for each in public_names()}
    for value in vars(module).values():
        is_own = callable(value) and getattr(value, "__module__", None) == name
        if not is_own or id(value) in public or not hasattr(value, "__name__"):
            continue
        for test in doctest.DocTestFinder().find(value, value.__name__, module=module):
            said: list[str] = []
            result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
            assert not result.failed, "".join(said)


LACKS_A_NOUN = re.compile(r"(Of|By|As|That|Are|Is|And|From|Than|Has|So) ")


def test_no_docstring_begins_with_a_word_that_lacks_its_noun():
    riddles = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            text = node.value.value if is_text else None
            if isinstance(text, str) and LACKS_A_NOUN.match(text):
                riddles.append(f"{path.name}:{node.lineno}: {text.splitlines()[0]}")
    assert riddles == []


def test_an_example_that_shows_something_else_is_found():
    def wrong():
        """
        >>> 1 + 1
        3
        """

    (test,) = doctest.DocTestFinder().find(wrong, "wrong", globs={})
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test, out=lambda text: None).failed == 1
