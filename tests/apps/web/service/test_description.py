"""The description that the service gives of its model and itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app
from clearbands.apps.web.service.description import guarantee_of
from clearbands.calibration.guarantee import Guarantee
from clearbands.persistence.origin import Origin
from tests.apps.web.changed import Changed, metrics_of
from tests.served import COLUMNS, small_model


def test_health_and_model_say_what_there_is(client):
    assert client.get("/health").json() == {"status": "ok"}
    info = client.get("/model").json()
    model = small_model()
    assert info["name"] == "houses.clear"
    assert info["best_model"] == "boosting"
    assert [(f["name"], f["kind"]) for f in info["features"]] == list(
        zip(COLUMNS, ["number", "number", "boolean", "date", "text"], strict=True)
    )
    assert info["features"][-1]["categories"] == ["green", "red"]
    assert [level["lambda"] for level in info["levels"]] == model.lambda_.tolist()
    assert info["trained_on"] == {
        "training_rows": 120, "choosing_rows": 40, "calibration_rows": 40,
    }  # fmt: skip
    assert info["guarantee"] == "asymptotic coverage"
    assert "few" in info["guarantee_in_words"]
    assert info["limits"] == {"rows": 100, "bytes": 20_000, "seconds": 30}


@pytest.mark.parametrize("guarantee", Guarantee)
def test_every_guarantee_has_words(guarantee):
    """Words promise a probability if the guarantee is finite-sample, and only then."""
    told = guarantee_of(SimpleNamespace(guarantee_=guarantee.value, calibration_="conformal"))
    in_words = told["guarantee_in_words"]
    assert ("at least the probability" in " ".join(in_words.split())) == guarantee.is_finite_sample
    assert ("Nothing is promised:" in in_words) == guarantee.value.startswith("no guarantee")


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
    with TestClient(create_app(small_model())) as client:  # a model without an origin
        assert client.get("/model").json()["fitted"] is None
