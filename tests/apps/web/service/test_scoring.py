"""The numbers of the service are those of the command."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from clearbands.apps.cli.commands import app as command
from clearbands.apps.web.service import create_app
from clearbands.persistence.origin import Origin
from tests.apps.web.asking import post_csv, post_rows
from tests.served import COLUMNS, ROW, houses, linear_model


def test_the_numbers_are_those_of_the_command_to_the_last_bit(client, service_files):
    out = service_files / "out.csv"
    done = CliRunner().invoke(
        command,
        [
            "predict",
            f"{service_files / 'model.cb'}",
            f"{service_files / 'rows.csv'}",
            "--out",
            f"{out}",
        ],
    )
    assert done.exit_code == 0, done.stderr
    content = (service_files / "rows.csv").read_bytes()
    assert post_csv(client, content, accept="text/csv").content == out.read_bytes()

    table = pl.read_csv(out)
    rows = [
        row | {"sold": row["sold"].isoformat()}
        for row in houses(60, seed=1).select(COLUMNS).iter_rows(named=True)
    ]
    for answer in (post_csv(client, content), post_rows(client, *rows)):
        assert answer.status_code == 200
        predictions = answer.json()["predictions"]
        found = pl.DataFrame(predictions)
        assert found.columns == table.columns
        for name in ("prediction", "lower_90", "upper_50", "epistemic", "dominant", "unfamiliar"):
            assert found[name].to_list() == table[name].to_list()


def test_missing_values_and_unknown_categories_are_answered(client):
    gaps = dict.fromkeys(COLUMNS)
    assert post_rows(client, gaps, ROW | {"colour": "violet"}).status_code == 200
    assert post_csv(client, ",".join(COLUMNS) + "\n,,,,\n").status_code == 200


def test_values_too_large_for_a_linear_model_are_named():
    frame = houses(60)
    model = linear_model(frame.select("x", "age"), frame["price"].to_numpy())
    with TestClient(create_app(model)) as client:
        answer = post_rows(client, {"x": 1, "age": 2}, {"x": 1.7e308, "age": -1.7e308})
    assert answer.status_code == 422
    assert "row 1" in answer.json()["detail"]


@pytest.mark.filterwarnings("ignore:.*calibration")
def test_infinite_bounds_are_null():
    frame = houses(24)
    model = linear_model(
        frame.select("x", "age"),
        frame["price"].to_numpy(),
        calibration="conformal",
        confidence_level=0.99,
    )
    with TestClient(create_app(model)) as client:
        (prediction,) = post_rows(client, {"x": 1, "age": 2}).json()["predictions"]
        assert np.isfinite(prediction["prediction"])
        assert prediction["lower_99"] is None
        (level,) = client.get("/model").json()["levels"]
        assert None in (level["gamma1"], level["gamma2"])


@pytest.fixture(scope="module")
def named_houses():
    """A service whose model knows from its fit which column names the rows."""
    frame = houses(60)
    model = linear_model(frame.select("x", "age"), frame["price"].to_numpy())
    model.origin_ = Origin(target="price", id="house")
    with TestClient(create_app(model)) as client:
        yield client


def test_the_column_that_names_the_rows_is_kept_as_predict_keeps_it(named_houses):
    rows = [{"house": "007", "x": 1, "age": 2}, {"house": None, "x": 2, "age": 3}]
    predictions = post_rows(named_houses, *rows).json()["predictions"]
    assert [next(iter(row.items())) for row in predictions] == [("house", "007"), ("house", None)]
    assert (
        post_rows(named_houses, {"house": 2**60 + 1, "x": 1, "age": 2}).json()["predictions"][0][
            "house"
        ]
        == 2**60 + 1
    )
    table = post_csv(named_houses, "x,house,age\n1,007,2\n", accept="text/csv").text
    assert table.startswith("house,prediction,")
    assert table.splitlines()[1].startswith("007,")
    example = named_houses.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]
    row = example["content"]["application/json"]["schema"]["properties"]["rows"]["items"]
    assert row["required"] == ["x", "age"]
    assert row["properties"]["house"]["anyOf"] == [
        {"type": ["string", "integer"]},
        {"type": "null"},
    ]


def test_rows_may_come_without_their_name(named_houses):
    (row,) = post_rows(named_houses, {"x": 1, "age": 2}).json()["predictions"]
    assert "house" not in row
    assert post_csv(named_houses, "x,age\n1,2\n").status_code == 200
    refused = post_rows(named_houses, {"x": 1, "age": 2, "house": 1.5})
    assert refused.status_code == 422
    assert "column 'house': expected text, a whole number or null" in refused.json()["detail"]
    mixed = post_rows(
        named_houses, {"x": 1, "age": 2, "house": 1}, {"x": 1, "age": 2, "house": "a"}
    )
    assert "values of one type only" in mixed.json()["detail"]
