"""Widths by the values of a column of text; of many values, those with the most ignorance."""

from __future__ import annotations

import re
from itertools import chain

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
    panels = widths.panels(facts)
    whole = widths.longest(chain(*panels.values()))
    for layers in panels.values():
        assert sum(n for _, n, _ in layers) == 120
        assert max(sum(mean) for _, _, mean in layers) <= whole
    assert panels["town"][-1][0] == "missing"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d", panels["sold"][0][0])
    is_aa = np.array(facts.columns[1].values == "Aa")
    ((n, mean),) = [(n, mean) for label, n, mean in panels["town"] if label == "Aa"]
    assert n == is_aa.sum()
    np.testing.assert_allclose(mean, facts.widths[is_aa].mean(axis=0))


def test_a_bar_is_as_long_as_its_part_of_the_longest(facts, html):
    panels = widths.panels(facts)
    whole = widths.longest(chain(*panels.values()))
    label, _, (aleatoric, epistemic) = panels["town"][0]
    bars = "".join(
        f'<i class="{part}" style="width:{round(100 * width / whole, 2)}%"></i>'
        for part, width in (("aleatoric", aleatoric), ("epistemic", epistemic))
    )
    total = number(aleatoric + epistemic)
    row = f'{label}</th><td class="draw"><span class="stack">{bars}</span></td><td>{total}</td>'
    assert row in html
