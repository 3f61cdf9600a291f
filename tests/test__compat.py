"""Optional libraries: the advice names what pyproject.toml says that an extra installs."""

import re
import tomllib
from pathlib import Path

import pytest

from clearbands._compat import EXTRAS, advice, has_extra, require

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
INSTALLED = PYPROJECT["project"]["optional-dependencies"]
NO_ADVICE = {"clearbands", "xgboost"}
"""Extras of other extras, and the part that macOS replaces."""


def libraries(extra):
    """Return all libraries that an extra installs, also through other extras."""
    names = set()
    for line in INSTALLED[extra]:
        inner = re.match(r"clearbands\[([\w,]+)\]", line)
        for other in inner[1].split(",") if inner else ():
            names |= libraries(other)
        names.add(re.match(r"[\w-]+", line)[0])
    return names - NO_ADVICE


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_the_advice_is_what_the_extra_installs(extra):
    assert set(EXTRAS[extra].split()) == libraries(extra)


def test_every_extra_but_all_has_advice():
    assert set(EXTRAS) == set(INSTALLED) - {"all"}


def test_what_is_installed_is_returned_and_what_is_not_is_advised():
    assert require("json", what="x", extra="deep").loads("1") == 1
    with pytest.raises(ImportError, match='Networks needs the extra "deep": pip install torch'):
        require("no_such_module", what="Networks", extra="deep")
    assert advice("f", "excel") == 'f needs the extra "excel": pip install fastexcel.'


def test_an_extra_is_there_only_with_all_of_its_libraries(monkeypatch):
    monkeypatch.setitem(EXTRAS, "deep", "json email")
    assert has_extra("deep")
    monkeypatch.setitem(EXTRAS, "deep", "json no-such-module")
    assert not has_extra("deep")
