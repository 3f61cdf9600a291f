"""Errors and widths of the report's own rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from clearbands.apps.report import widths
from clearbands.metrics import interval_score
from clearbands.rows.bands import covered
from clearbands.rows.display import number, with_unit
from tests.pages import as_text


def test_the_errors_are_those_of_these_rows(facts, html):
    y, center = facts.y, facts.parts.center
    errors = widths.errors(facts)
    assert errors["mae"] == pytest.approx(mean_absolute_error(y, center))
    assert errors["rmse"] == pytest.approx(root_mean_squared_error(y, center))
    assert errors["r2"] == pytest.approx(r2_score(y, center))
    text, mae = as_text(html), with_unit(errors["mae"], "EUR").replace("\xa0", " ")
    assert f"Mean absolute error (MAE) {mae}" in text
    assert f"(R²) {errors['r2']:.3f}" in text


def test_a_constant_target_has_no_share_of_variance(facts):
    assert widths.errors(replace(facts, y=np.full(120, 300.0)))["r2"] is None


def test_the_constant_is_the_least_width_that_holds_as_many_rows(facts):
    own, constant = widths.own_widths(facts), widths.constant_width(facts)
    assert own["mean"] == pytest.approx(facts.widths.sum(axis=1).mean())
    assert own["n_covered"] == constant["n_covered"] == facts.inside.sum()
    center, half = facts.parts.center, constant["mean"] / 2
    assert np.isclose(np.abs(facts.y - center), half).any()  # the width just reaches one row
    narrower = np.stack([center - 0.999 * half, center + 0.999 * half], axis=1)
    assert covered(facts.y, narrower).sum() < own["n_covered"]
    around = np.stack([center - half, center + half], axis=1)
    score = interval_score(facts.y, around, 0.8)
    assert constant["interval_score"] == pytest.approx(score, rel=1e-6)


def test_where_the_noise_grows_the_constant_is_wider_or_scores_worse(facts, html):
    own, constant = widths.own_widths(facts), widths.constant_width(facts)
    assert own["interval_score"] < constant["interval_score"]
    assert f"Mean width (EUR) {number(own['mean'])} {number(constant['mean'])}" in as_text(html)
