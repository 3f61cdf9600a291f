"""The answer at the top of the page says what was measured."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clearbands import ClearCalibrator, FixedRatioCalibrator, diagnostics, fast
from clearbands.rows.display import number
from tests.apps.report.houses import houses, small_clear
from tests.apps.report.page import Page


def test_the_answer_on_top_is_what_was_measured(model, text):
    X, y = houses(120, seed=1)
    _, intervals = model.predict_interval(X)
    parts = model.predict_uncertainty(X)
    cell = diagnostics.coverage(y, intervals[:, :, 0])
    assert f"{cell.n_covered} of 120 true values lie inside their 80 % intervals." in text
    low, high = diagnostics.chance_range(120, 0.8, model.n_calibration_)
    chance = f"By chance alone {100 * low:.1f} % to {100 * high:.1f} %"
    assert f"Coverage {100 * cell.coverage:.1f} % Promised: 80 %. {chance}" in text
    typical = np.median(intervals[:, 1, 0] - intervals[:, 0, 0])
    assert f"A typical interval for price is {number(typical)} EUR wide" in text
    share = parts.epistemic.sum() / (parts.epistemic + parts.aleatoric).sum()
    assert 0.29 < share < 0.5  # the larger part by its square, as `dominant` has it
    words = f"What dominates Ignorance {100 * (1 - share):.0f} % of the mean width is noise"
    assert words in text
    assert f"{100 * share:.0f} % of the mean width is ignorance of the model" in text


def test_the_reason_starts_with_what_more_rows_would_do():
    model = fast(random_state=0).fit(*houses(90))
    text = Page(model.report(*houses(60, seed=1)).html).text
    assert "10 times the rows would make these intervals" in text
    parts = model.predict_uncertainty(houses(60, seed=1)[0])
    assert f"{100 * parts.mean_share:.0f} % of the mean width is ignorance" in text
    assert f"What dominates {parts.mean_dominant.capitalize()}" in text
    larger, unclear = ((parts.dominant == name).sum() for name in ("ignorance", "unclear"))
    assert unclear > 0
    assert f"outweighs noise in {larger} of 60 rows; in {unclear} either may." in text


@pytest.mark.parametrize(("ratio", "said"), [(0.0, "noise alone"), (math.inf, "ignorance alone")])
def test_a_lambda_of_zero_or_infinity_is_said_in_plain_words(ratio, said):
    fitted = small_clear(FixedRatioCalibrator(ratio=ratio)).fit(*houses(90))
    text = Page(fitted.report(*houses(60, seed=1)).html).text
    assert text.count(f"the intervals are {said}") == 2  # at the top, and with the coverage
    assert "Row by row" not in text
    assert "Epistemic over aleatoric width" not in text
    absent = "ignorance" if ratio == 0 else "noise"
    assert text.count(f"None: {absent} has no part in these intervals.") == 1


def test_findings_and_verdict_follow_the_coverage(model):
    X, y = houses(90, seed=2)
    far = model.report(X, y + 400).html
    text = Page(far).text
    assert text.count("The intervals promise more than they hold on these rows.") == 1
    assert "Calibrate the model again on rows like these before you rely on them." in text
    assert "Under-covers by" in text
    assert '<tr class="off">' in far
    center = Page(model.report(X, model.predict(X)).html).text
    assert "The intervals are wider than they need to be on these rows." in center
    assert "Over-covers by 20 points over 90 rows." in center


def test_a_weight_that_was_raised_as_far_as_rows_allow_says_so():
    calibrator = ClearCalibrator(least_epistemic=0.6, usual_epistemic=0.7)
    text = Page(small_clear(calibrator).fit(*houses(120)).report(*houses(60, seed=1)).html).text
    assert "at least 60 % of the mean width, or up to 70 % if these rows cannot tell" in text
    assert "tell the difference. With less, intervals would hardly grow" in text


@pytest.mark.parametrize("least", [0.0, 0.6])
def test_a_weight_that_is_not_the_one_of_least_loss_says_why(least):
    fitted = small_clear(ClearCalibrator(least_epistemic=least)).fit(*houses(120))
    path = fitted.lambda_paths_[0]
    assert (path.chosen.loss > 1.001 * np.nanmin(path.losses)) == bool(least)
    text = Page(fitted.report(*houses(60, seed=1)).html).text
    assert ("leave ignorance at least 60 % of the mean width" in text) == bool(least)
    assert ("the value with the smallest quantile loss on these rows won. " in text) != bool(least)
