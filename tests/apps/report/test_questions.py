"""Parts of the page: the fan, groups, unfamiliar rows, and rows that the model was fitted on."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from clearbands import diagnose
from clearbands.apps.report import make_report
from clearbands.apps.report.facts import gather_facts
from clearbands.apps.report.figures import fan
from clearbands.prediction.questions import fan_levels
from tests.apps.report.houses import houses, small_clear


def test_the_fan_is_made_of_the_intervals_of_the_model(model, facts, html):
    X, _ = houses(120, seed=1)
    assert list(facts.fan) == [0.95, 0.8, 0.5]
    for level, bounds in facts.fan.items():
        np.testing.assert_array_equal(
            bounds, model.predict_interval(X, confidence_level=level)[1][:, :, 0]
        )
    assert {mark.kind for mark in fan(facts).marks} == {"fan-0", "fan-1", "fan-2", "line", "dot"}
    assert [each.confidence_level for each in facts.levels] == [0.95, 0.8, 0.5]
    assert [each.factors is None for each in facts.levels] == [True, False, False]
    assert 'id="plot-fan"' in html


def test_levels_that_the_rows_are_too_few_for_are_left_out():
    fitted = small_clear(confidence_level=0.5).fit(*houses(60))  # 15 rows calibrate
    assert fan_levels(fitted) == [0.8, 0.5]


def test_unfamiliar_rows_are_counted_and_marked(model):
    X, y = houses(120, seed=1)
    strange = X.with_columns(pl.col("size").fill_null(100) * 50)
    page = model.report(strange, y).html
    assert "120 of 120 rows (100\N{NO-BREAK SPACE}%) are unlike the rows of the fit" in page
    assert "of these rows are unlike those of the fit, where 5 % would be ordinary" in page
    usual = model.report(X, y).html
    n = int(model.unfamiliar(X).sum())
    assert f"{n} of 120 rows" in usual
    assert usual.count(', "yes", "yes"]') + usual.count(', "yes", "no"]') == n


@pytest.mark.parametrize(
    ("n_seen", "said"),
    [
        (0, None),
        (3, None),  # 3 of 120 may be chance
        (60, "60 of the 120 rows of this page took part in the fit"),
        (120, "All 120 rows of this page took part in the fit"),
    ],
)
def test_rows_of_the_very_fit_are_said_above_all_else(model, n_seen, said):
    page = make_report(model, *houses(120, seed=1), n_seen=n_seen).html
    assert ("The model has seen these rows." in page) == (said is not None)
    verdict = page[page.index("<h1>") : page.index("</h1>")]
    assert ("cannot tell whether the intervals hold" in verdict) == (said is not None)
    if said is not None:
        assert page.index(said) < page.index("<h1>")


def test_groups_are_shown_before_and_after():
    X, y = houses(400)
    towns = X["town"].to_list()
    model = small_clear().fit(X, y, calibration_groups=towns)
    new, prices = houses(200, seed=1)
    labels = new["town"].to_list()
    found = gather_facts(model, new, prices, by=labels).diagnosis
    pooled = model.without_calibration_groups().predict_interval(new)[1][:, :, 0]
    inside = (pooled[:, 0] <= prices) & (prices <= pooled[:, 1])
    assert [cell.n_covered for cell in found.by_group_together] == [
        int(inside[[label == name for label in labels]].sum()) for name in ("Aa", "Bb", None)
    ]
    assert found.by_group != found.by_group_together
    by_name = small_clear().fit(X, y, calibration_groups="town")
    by_itself = diagnose(by_name, new, prices)
    assert by_itself.by_group == found.by_group
    assert by_itself.by_group_together == found.by_group_together
    assert "coverage, groups together" in by_itself.to_frame()["diagnostic"].to_list()
    assert "had all been calibrated together" in by_name.report(new, prices).html
    with pytest.raises(ValueError, match="give calibration_groups, a label for every row"):
        diagnose(model, new, prices)
