"""The style of pictures, and the checks of what they are given."""

from __future__ import annotations

import sys

import pytest

from clearbands.plots import band_by_rank


def test_without_matplotlib_the_extra_is_named(parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r'A picture needs the extra "report": pip install jinja2'
    ):
        band_by_rank(parts, [20, 10, 30])
