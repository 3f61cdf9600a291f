"""Counters of requests, rows and widths."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app
from tests.apps.web.changed import Changed, metrics_of
from tests.served import ROW, houses, linear_model, small_model


def test_metrics_count_requests_rows_refusals_and_widths():
    with TestClient(create_app(small_model())) as client:
        rows = [ROW | {"x": float(x)} for x in range(5)]
        bands = client.post("/predict", json={"rows": rows}).json()["predictions"]
        client.post("/predict", json={"rows": [ROW | {"x": "far"}]})
        client.get("/nothing")
        found = metrics_of(client)
    assert found['clearbands_requests_total{path="/predict",status="200"}'] == 1
    assert found['clearbands_requests_total{path="/predict",status="422"}'] == 1
    assert found['clearbands_requests_total{path="other",status="404"}'] == 1
    assert found['clearbands_refusals_total{status="422"}'] == 1
    assert found['clearbands_request_seconds_count{path="/predict"}'] == 2
    assert found['clearbands_request_seconds_sum{path="/predict"}'] > 0
    assert found["clearbands_rows_total"] == 5
    for level, name in (("0.9", "90"), ("0.5", "50")):
        widths = [row[f"upper_{name}"] - row[f"lower_{name}"] for row in bands]
        label = f'{{confidence_level="{level}"}}'
        assert found[f"clearbands_finite_intervals_total{label}"] == 5
        assert found[f"clearbands_infinite_intervals_total{label}"] == 0
        assert found[f"clearbands_interval_width_total{label}"] == pytest.approx(sum(widths))
        rolling = found[f"clearbands_rolling_interval_width{label}"]
        assert rolling == pytest.approx(np.mean(widths))
    assert 0 <= found["clearbands_unfamiliar_rows_total"] <= 5


def test_the_rolling_width_forgets():
    with TestClient(create_app(small_model())) as client:
        for x, count in ((0.0, 300), (4.0, 1000)):
            client.post("/predict", json={"rows": [ROW | {"x": x}] * count})
        band = client.post("/predict", json={"rows": [ROW | {"x": 4.0}]}).json()["predictions"][0]
        wide = band["upper_90"] - band["lower_90"]
        rolling = metrics_of(client)['clearbands_rolling_interval_width{confidence_level="0.9"}']
    assert rolling == pytest.approx(wide)


def test_unfamiliar_rows_are_counted_where_a_model_tells():
    model = Changed(unfamiliar=lambda X: X["x"].to_numpy() > 2)
    with TestClient(create_app(model)) as client:
        client.post("/predict", json={"rows": [ROW | {"x": float(x)} for x in range(5)]})
        found = metrics_of(client)
    assert found["clearbands_unfamiliar_rows_total"] == 2
    assert found["clearbands_rolling_unfamiliar_share"] == pytest.approx(0.4)


@pytest.mark.filterwarnings("ignore:.*calibration")
def test_infinite_intervals_do_not_count_as_widths():
    frame = houses(24)
    y = frame["price"].to_numpy()
    model = linear_model(frame.select("x"), y, calibration="conformal", confidence_level=0.99)
    with TestClient(create_app(model)) as client:
        client.post("/predict", json={"rows": [{"x": 1}]})
        found = metrics_of(client)
    assert found['clearbands_infinite_intervals_total{confidence_level="0.99"}'] == 1
    assert found['clearbands_interval_width_total{confidence_level="0.99"}'] == 0
