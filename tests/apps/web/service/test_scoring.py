"""The numbers of the service are those of the command."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from clearbands.apps.cli.commands import app as command
from clearbands.apps.web.service import create_app
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
