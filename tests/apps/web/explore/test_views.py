"""The page shows the numbers of the model."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient

import clearbands
from clearbands.apps.web.explore import create_page, make_scene, views
from tests.served import COLUMNS, ROW, far_houses, houses, linear_model, small_model
from tests.toys import linear_clear, noisy_line


def test_the_page_starts_from_a_real_row_along_the_column_that_tells_most():
    middle = {"size": 50.0, "other": 3.0, "fence": None}
    rows = [{"size": float(i), "other": 3.0 + (i % 2) * 2, "fence": "wood"} for i in range(40)]
    frame = pl.DataFrame([*rows, middle, *({**middle, "size": 90.0 + i} for i in range(40))])
    model = linear_model(frame, 2.0 * frame["size"].to_numpy())
    scene = make_scene({"a": model}, frame)
    assert [control.typical for control in scene.controls] == [50.0, 3.0, None]  # mostly None
    assert scene.rows[scene.first] == middle
    assert views.overview(scene)["column"] == "size"


def test_the_bands_are_those_of_the_model(scene):
    frame = houses(60, seed=1).select(COLUMNS)
    for number, model in enumerate((small_model(), small_model(1))):
        point, intervals = model.predict_interval(frame)
        for j, band in enumerate(views.overview(scene)["models"][number]["bands"]):
            assert band["prediction"] == point.tolist()
            assert band["lower"] == intervals[:, 0, j].tolist()
            assert band["upper"] == intervals[:, 1, j].tolist()
            inner = np.subtract(band["inner_upper"], band["inner_lower"])
            np.testing.assert_allclose(inner, band["aleatoric"])


def test_the_page_says_what_more_rows_would_do():
    X, y = noisy_line(150)
    model = clearbands.fast(random_state=0).fit(X, y)
    said = views.more_rows(model)
    assert said == model.forecast((10,)).sentence()
    assert "10 times the rows would make these intervals" in said
    assert views.more_rows(linear_clear().fit(X, y)) == ""


@pytest.mark.parametrize("column", COLUMNS)
def test_along_a_column_only_that_column_moves(scene, column):
    answer = views.along(scene, ROW, column)
    (here,) = answer["models"][0]["here"][0]["prediction"]
    frame = pl.DataFrame([ROW]).with_columns(pl.col("sold").str.to_date())
    assert here == small_model().predict(frame)[0]
    places = answer["places"]
    band = answer["models"][0]["bands"][0]
    assert len(band["prediction"]) == len(places)
    if column in ("age", "heated", "colour"):  # one of the places is the row's value
        assert band["prediction"][places.index(ROW[column])] == here


def test_the_chance_and_the_fan_are_those_of_the_model(scene):
    found = views.along(scene, ROW, "age", above=1.5)["models"][0]
    frame = pl.DataFrame([ROW]).with_columns(pl.col("sold").str.to_date())
    assert found["chance"] == small_model().predict_probability(frame, above=1.5)[0]
    assert views.along(scene, ROW, "age")["models"][0]["chance"] is None
    assert [each["level"] for each in found["fan"]] == [0.95, 0.8, 0.5]
    for outer, inner in pairwise(found["fan"]):
        assert np.all(np.array(outer["lower"]) <= inner["lower"])
        assert np.all(np.array(inner["upper"]) <= outer["upper"])


def test_a_model_that_answers_at_its_own_levels_alone_has_neither(scene):
    model = copy(small_model())
    model.predictor_ = replace(model.predictor_, any_level=None)
    alone = make_scene({"a": model}, houses(60, seed=1))
    found = views.along(alone, ROW, "age", above=1.5)["models"][0]
    assert (found["fan"], found["chance"]) == ([], None)
    assert len(found["bands"]) == 2


def test_the_axis_reaches_to_a_value_beyond_the_data(scene):
    places = views.axis(scene.control("x"), 9.5)
    assert places[-1] == 9.5
    assert places[0] == scene.control("x").low


def test_an_outlier_does_not_flatten_the_picture_unless_it_is_asked_for():
    size = np.append(np.linspace(0, 10, 200), 1e6)
    frame = pl.DataFrame({"size": size, "even": np.linspace(0, 1, 201)})
    scene = make_scene({"a": linear_model(frame, 2.0 * size)}, frame)
    control = scene.control("size")
    assert (control.low, control.high) == (0, 1e6)
    assert views.axis(control, 5.0)[-1] < 10.01
    assert views.axis(control, 5.0, whole=True)[-1] == 1e6
    assert views.axis(control, 2e6)[-1] == 2e6  # a row beyond the others is always shown
    assert (scene.control("even").near_low, scene.control("even").near_high) == (0, 1)


def test_why_says_what_the_typical_value_would_change(scene):
    changes = {c["column"]: c for c in views.why(scene, ROW)["models"][0]["levels"][0]}
    assert list(changes) == COLUMNS
    frame = pl.DataFrame([ROW, ROW | {"x": changes["x"]["typical"]}])
    parts = small_model().predict_uncertainty(frame.with_columns(pl.col("sold").str.to_date()))
    own, other = parts.aleatoric.sum(axis=1)
    assert changes["x"]["aleatoric"] == own - other
    typical = ROW | {c.name: c.typical for c in scene.controls}
    for change in views.why(scene, typical)["models"][0]["levels"][0]:
        assert (change["aleatoric"], change["epistemic"]) == (0, 0)


def test_long_lists_are_cut_and_show_the_row_all_the_same():
    frame = pl.DataFrame({"count": [f"c{i:03}" for i in range(120)]})  # polars uses this name
    scene = make_scene({"a": linear_model(frame, np.arange(120.0))}, frame)
    (control,) = scene.controls
    assert len(control.choices) == 40
    assert views.axis(control, "c119")[-1] == "c119"
    assert views.axis(control, control.choices[0]) == list(control.choices)
    assert views.axis(control, None) == list(control.choices)


def test_far_outliers_leave_the_chances_along_a_column_numbers():
    frame, prices = far_houses()
    scene = make_scene({"far": linear_model(frame, prices, confidence_level=0.5)}, frame, prices)
    client = TestClient(create_page(scene), base_url="http://127.0.0.1:8000")
    asked = {"row": frame.row(0, named=True), "column": "area", "above": 1e9}
    answer = client.post("/along", json=asked)
    assert answer.status_code == 200
    assert 0 <= answer.json()["models"][0]["chance"] <= 1
