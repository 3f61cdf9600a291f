"""Coverage by part of the rows, on a track."""

from __future__ import annotations

import numpy as np

from clearbands.apps.report import whiskers
from clearbands.apps.report.facts import gather_facts
from tests.apps.report.houses import houses


def test_the_axis_of_coverage_is_not_stretched_by_a_few_rows(facts):
    cells = [cell for labelled in whiskers.whiskers(facts).values() for _, cell in labelled]
    axis = whiskers.Track.around(facts.diagnosis.cells, facts.confidence_level)
    ends = [(axis.place(c.low), axis.place(c.coverage), axis.place(c.high)) for c in cells]
    assert all(0 <= low <= at <= high <= 100 for low, at, high in ends)
    large = [axis.place(cell.low) for cell in cells if cell.n >= whiskers.MANY_ROWS]
    assert 0 < min(large) < 40


def test_coverage_by_parts_is_that_of_the_diagnosis(facts):
    shown = whiskers.whiskers(facts)
    assert set(shown) >= {"All rows", "Width of the interval", "size", "town", "sold", "new"}
    by_size = [cell for cell in facts.diagnosis.by_feature if cell.by == "size"]
    assert [cell for _, cell in shown["size"]] == by_size
    assert [label for label, _ in shown["town"]] == ["Aa", "Bb", "missing"]
    assert shown["size"][-1][0] == "missing"


def test_groups_of_numbers_are_sorted_as_numbers(model):
    X, y = houses(120, seed=1)
    facts = gather_facts(model, X, y, by=np.resize([1, 2, 10, 100], 120))
    assert [label for label, _ in whiskers.whiskers(facts)["Group"]] == ["1", "2", "10", "100"]
