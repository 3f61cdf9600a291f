"""Along a column of text: by its values, of many those with the most ignorance."""

from __future__ import annotations

import re

import numpy as np

from clearbands.apps.report import widths
from clearbands.apps.report.widths import _divide
from clearbands.rows.display import number
from clearbands.tables.columns import Column


def towns(names):
    return Column("town", "text", np.array(names, dtype=object))


def test_few_values_are_all_there_and_the_most_frequent_come_first():
    column = towns(["b", "a", "a", None])
    divided = _divide(column, 6, np.array([9.0, 1.0, 1.0, 5.0]))
    assert [(name, rows.tolist()) for name, rows in divided] == [
        ("a", [False, True, True, False]),
        ("b", [True, False, False, False]),
        ("missing", [False, False, False, True]),
    ]


def test_of_many_values_those_with_the_most_ignorance_are_named():
    names = [f"t{i}" for i in range(12) for _ in range(12 - i)]  # later ones have fewer rows
    ignorance = np.array([float(name[1:]) for name in names])
    divided = dict(_divide(towns(names), 6, ignorance))
    assert list(divided) == [*(f"t{i}" for i in range(11, 3, -1)), "4 other values"]
    assert divided["t11"].sum() == 1
    assert np.sum(list(divided.values())) == len(names)


def test_widths_along_features_are_means_of_the_rows(facts):
    for panel in widths.panels(facts):
        rows = [layers.n for layers in panel.layers]
        assert sum(rows) == 120
        assert max(x.aleatoric + x.epistemic for x in panel.layers) <= 100.01
    by_name = {panel.name: panel.layers for panel in widths.panels(facts)}
    assert [layers.label for layers in by_name["town"]][-1] == "missing"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d", by_name["sold"][0].label)
    own = facts.widths
    is_aa = np.array(facts.columns[1].values == "Aa")
    (aa,) = [layers for layers in by_name["town"] if layers.label == "Aa"]
    assert (aa.n, aa.total) == (is_aa.sum(), number(own[is_aa].sum(axis=1).mean()))
