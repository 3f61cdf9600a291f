"""For the people who run the service: state, metrics, ids of requests, and what is served."""

from __future__ import annotations

import logging
import re
import threading

import numpy as np
import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service import create_app
from clearbands.persistence.origin import Origin
from tests.served import ROW, documented_houses, houses, linear_model, small_model


class Changed:
    """The small model with some attributes of its own."""

    def __init__(self, **own):
        self.own = own

    def __getattr__(self, name):
        own = self.__dict__["own"]
        return own[name] if name in own else getattr(small_model(), name)


def metrics_of(client):
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", answer.text, re.MULTILINE)
    return {name: float(value) for name, value in found}


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


def test_ready_means_that_it_can_predict_now():
    limits = Limits(seconds=0.3)
    app = create_app(small_model(), limits=limits, n_threads=1)
    with TestClient(app) as client:
        assert client.get("/ready").json() == {"status": "ready"}

    class Blocking(Changed):
        free = threading.Event()

        def answers(self, X, calibration_groups=None):
            self.free.wait()
            return small_model().answers(X)

    model = Blocking()
    model.free.set()
    app = create_app(model, limits=limits, n_threads=1)
    with TestClient(app) as client:
        model.free.clear()
        answer = client.get("/ready")
        assert answer.status_code == 503
        assert client.get("/health").status_code == 200
        model.free.set()
        assert client.get("/ready").status_code == 200


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [
        ("abc-123", True),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", True),
        ("", False),
        ("two words", False),
        ('"quoted"', False),
        ("x" * 129, False),
    ],
)
def test_the_id_that_a_request_brings_is_kept_if_it_is_one(given, is_kept, caplog):
    app = create_app(linear_model(*documented_houses()))
    with TestClient(app) as client, caplog.at_level(logging.INFO, "clearbands"):
        answer = client.get("/health", headers={"x-request-id": given})
    kept = answer.headers["x-request-id"]
    assert (kept == given) is is_kept
    assert len(kept) > 0
    assert caplog.records[-1].fields["request_id"] == kept


def test_the_model_is_named_with_its_version_fingerprint_and_date():
    origin = Origin(target="price", unit="CHF", fitted="2026-01-31T13:45:00Z", fingerprint="00ff")
    app = create_app(
        Changed(origin_=origin), name="houses", versions={"clearbands": "1.2"}, fingerprint="aabb"
    )
    with TestClient(app) as client:
        told = client.get("/model").json()
        assert {
            "name": "houses",
            "version": "1.2",
            "fingerprint": "aabb",
            "fitted": "2026-01-31T13:45:00Z",
            "target": "price",
            "unit": "CHF",
            "data_fingerprint": "00ff",
        }.items() <= told.items()
        (label,) = [name for name in metrics_of(client) if name.startswith("clearbands_model{")]
        assert 'fingerprint="aabb"' in label
        assert 'fitted="2026-01-31T13:45:00Z"' in label
    with TestClient(create_app(small_model())) as client:  # that knows nothing of the kind
        assert client.get("/model").json()["fitted"] is None
