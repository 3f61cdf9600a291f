"""Pictures of the page: thinned, with their tooltips and axes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np

from clearbands.apps.report import figures
from clearbands.rows.display import number
from tests.apps.report.houses import houses
from tests.apps.report.page import Page


def tooltips(html, name):
    figure = re.search(rf'id="plot-{name}".*?</figure>', html, re.DOTALL).group()
    return json.loads(re.search(r"<script[^>]*>(.*?)</script>", figure, re.DOTALL).group(1))


def test_hovering_tells_the_row(model, html):
    X, y = houses(120, seed=1)
    parts = model.predict_uncertainty(X)
    told = tooltips(html, "bands")
    assert len(told) == 120
    assert [spot[0] for spot in told] == sorted(spot[0] for spot in told)
    row = int(np.argmax(parts.center))
    low, high = parts.interval[row]
    words = told[-1][2].split("\n")
    assert words[:3] == [
        f"Row {row + 1}",
        f"prediction {number(parts.center[row])}",
        f"interval {number(low)} to {number(high)}",
    ]
    assert number(y[row]) in words[3]


def test_many_rows_are_thinned_and_the_page_says_so(model, monkeypatch):
    monkeypatch.setattr(figures, "MOST_BARS", 30)
    monkeypatch.setattr(figures, "MOST_DOTS", 40)
    html = model.report(*houses(90, seed=1)).html
    assert len(tooltips(html, "bands")) == 30
    assert len(tooltips(html, "rows")) == 40
    text = Page(html).text
    assert "Shown are 30 of 90 rows, evenly spaced by prediction." in text
    assert "Shown are 40 of 90 rows; the widest are listed below." in text


def test_a_row_far_wider_than_all_others_does_not_set_the_scale(facts):
    epistemic = facts.parts.epistemic.copy()
    epistemic[7] *= 1000
    wide = replace(facts, parts=replace(facts.parts, epistemic=epistemic))
    usual, shown = figures.parts_of_rows(facts), figures.parts_of_rows(wide)
    assert len(shown.tooltips) < len(usual.tooltips) == 120
    assert not any(spot.words.startswith("Row 8\n") for spot in shown.tooltips)
    assert shown.y_range[1] <= usual.y_range[1]


def test_a_row_far_beyond_all_others_does_not_flatten_the_bands(facts):
    y = facts.y.copy()
    y[7] = 1e6
    usual, shown = figures.bands(facts), figures.bands(replace(facts, y=y))
    assert usual.beyond == 0
    assert shown.beyond >= 1
    assert shown.y_range[1] < 2 * usual.y_range[1]
    (mark,) = [mark for mark in shown.marks if mark.kind == "beyond"]
    assert mark.path.endswith(" 0.0h.01")  # the mark is on the upper edge
    (spot,) = [spot for spot in shown.tooltips if spot.words.startswith("Row 8\n")]
    assert spot.top < 0  # so that zooming in on the row reaches it


def test_the_path_of_lambda_is_drawn_with_its_three_points(model, html):
    path = model.lambda_paths_[0]
    told = tooltips(html, "lambda")
    assert len(told) == len(path.lambdas)
    assert told[0][2].startswith("λ = 0\n")
    for kind in ("chosen", "ratio-one", "gamma-one"):
        assert html.count(f'<path class="{kind}"') == 2  # once in the legend, once in the plot
    assert f"Chosen: λ = {number(path.chosen.lambda_)}" in Page(html).text


def test_rows_are_told_apart_as_dominant_tells_them_apart(facts):
    """Parts are compared by squares: ignorance dominates above 0.29, where the line is drawn."""
    plain = facts.parts.split_by(np.full((3, 120, 2), 0.5))  # both parts are equally wide
    shown = figures.parts_of_rows(replace(facts, parts=plain))
    assert {mark.kind for mark in shown.marks} == {"equal", "square"}
    assert "Ignorance dominates" in shown.keys.values()
    either = facts.parts.split_by(np.array([0.7, 0.2, 0.9])[:, None, None] * np.ones((3, 120, 2)))
    shown = figures.parts_of_rows(replace(facts, parts=either))
    assert {mark.kind for mark in shown.marks} == {"equal", "unclear"}
    assert list(shown.keys) == ["unclear", "equal"]
    (x, y) = (np.diff(ends)[0] for ends in (shown.x_range, shown.y_range))
    (path,) = [mark.path for mark in shown.marks if mark.kind == "equal"]
    start, end = (np.array(point.split(" "), float) for point in path[1:].split("L"))
    slope = (start[1] - end[1]) * y / ((end[0] - start[0]) * x)
    np.testing.assert_allclose(slope, np.sqrt(2) - 1, rtol=0.01)
