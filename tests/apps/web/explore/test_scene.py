"""The content of the page: controls, models and rows."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.explore import create_page, make_scene
from clearbands.apps.web.explore.scene import MAX_ROWS
from tests.served import COLUMNS, houses, linear_model, small_model


def test_a_control_for_every_column_with_the_range_of_the_data(scene):
    frame = houses(60, seed=1)
    controls = {control.name: control for control in scene.controls}
    assert list(controls) == COLUMNS
    assert (controls["x"].low, controls["x"].high) == (frame["x"].min(), frame["x"].max())
    assert controls["x"].typical in frame["x"].to_list()
    assert controls["age"].is_whole
    assert controls["heated"].choices == (False, True)
    assert set(controls["colour"].choices) == {"red", "green"}
    assert controls["colour"].has_gaps
    assert not controls["x"].has_gaps
    assert re.fullmatch(r"202\d-\d\d-\d\d", controls["sold"].typical)


def test_a_file_whose_dates_are_all_empty_is_scored():
    frame = houses(60, seed=1)
    page = create_page(make_scene({"a": small_model()}, frame, None))
    client = TestClient(page, base_url="http://127.0.0.1:8000")
    lines = [",".join(COLUMNS), *(f"{x},2,,,red" for x in (0.5, 1.5))]
    answer = client.post("/score/0", content="\n".join(lines), headers={"content-type": "text/csv"})
    assert answer.status_code == 200, answer.text
    empty = frame[:2].select(COLUMNS).with_columns(
        x=pl.Series([0.5, 1.5]), age=2, heated=pl.lit(None, pl.Boolean),
        sold=pl.lit(None, frame["sold"].dtype), colour=pl.lit("red"),
    )  # fmt: skip
    said = pl.read_csv(answer.content)["prediction"].to_list()
    assert said == pytest.approx(small_model().predict(empty).tolist())


def test_many_rows_are_thinned_out_evenly():
    frame = pl.concat([houses(60, seed=1)] * 20)
    scene = make_scene({"a": small_model()}, frame)
    assert (len(scene.rows), scene.n_rows) == (MAX_ROWS, 1200)
    assert (scene.numbers[0], scene.numbers[-1]) == (1, 1200)
    assert max(np.diff(scene.numbers)) == 2
    assert scene.rows[-1]["x"] == frame["x"][-1]


def test_models_without_a_common_level_cannot_be_compared():
    frame = houses(60)
    other = linear_model(
        frame.select("x", "age"), frame["price"].to_numpy(), confidence_level=0.8, encoder=None
    )
    with pytest.raises(
        ValueError, match=r"no confidence level in common: \[0.9, 0.5\] and \[0.8\]"
    ):
        make_scene({"a": small_model(), "b": other}, frame)
    # Where the encoder does not tell the kinds of columns, the table does.
    assert [c.kind for c in make_scene({"b": other}, frame).controls] == ["number", "number"]


def test_models_that_differ_about_a_column_cannot_be_compared():
    frame = houses(60)
    y = frame["price"].to_numpy()
    as_text = frame.select(pl.col("age").cast(pl.String))
    models = {"a": linear_model(frame.select("age"), y), "b": linear_model(as_text, y)}
    with pytest.raises(ValueError, match=r"what column 'age' holds \(number and text\)"):
        make_scene(models, frame)
