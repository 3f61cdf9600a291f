"""Coverage by part of the rows, on a track."""

from __future__ import annotations

import numpy as np

from clearbands.apps.report import whiskers
from clearbands.apps.report.facts import gather
from tests.apps.report.houses import houses


def test_the_axis_of_coverage_is_not_stretched_by_a_few_rows(facts):
    found = [w for cells in whiskers.whiskers(facts).values() for w in cells]
    assert all(0 <= w.low <= w.at <= w.high <= 100 for w in found)
    large = [w for w in found if w.n >= whiskers.MANY_ROWS]
    assert 0 < min(w.low for w in large) < 40


def test_coverage_by_parts_is_that_of_the_diagnosis(facts):
    shown = whiskers.whiskers(facts)
    assert set(shown) >= {"All rows", "Width of the interval", "size", "town", "sold", "new"}
    for cells in shown.values():
        for cell in cells:
            assert 0 <= cell.low <= cell.at <= cell.high <= 100
    by_size = [cell for cell in facts.diagnosis.by_feature if cell.by == "size"]
    assert [cell.n for cell in shown["size"]] == [cell.n for cell in by_size]
    assert [cell.label for cell in shown["town"]] == ["Aa", "Bb", "missing"]
    assert shown["size"][-1].label == "missing"


def test_groups_of_numbers_are_sorted_as_numbers(model):
    X, y = houses(120, seed=1)
    facts = gather(model, X, y, by=np.resize([1, 2, 10, 100], 120))
    assert [cell.label for cell in whiskers.whiskers(facts)["Group"]] == ["1", "2", "10", "100"]
