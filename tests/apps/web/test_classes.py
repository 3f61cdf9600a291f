"""A service whose model predicts classes."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

pytest.importorskip("fastapi")
from starlette.testclient import TestClient

import clearbands
from clearbands import ClearClassifier
from clearbands.apps.web.service.app import create_app
from tests.apps.cli.running import run


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = pl.DataFrame({"a": y + rng.normal(size=150), "town": rng.choice(["n", "s"], 150)})
    classifier = ClearClassifier(LogisticRegression(), n_folds=3, n_repeats=2, random_state=0)
    return classifier.fit(X, np.array(["low", "middle", "high"])[y])


@pytest.fixture(scope="module")
def client(model):
    return TestClient(create_app(model, name="towns"))


ROWS = [{"a": 0.1, "town": "n"}, {"a": 2.5, "town": "s"}]


def test_predictions_are_those_of_the_model(client, model):
    found = client.post("/predict?level=0.5&level=0.9", json={"rows": ROWS})
    assert found.status_code == 200, found.text
    X = pl.DataFrame(ROWS)
    for i, said in enumerate(found.json()["predictions"]):
        assert said["prediction"] == model.predict(X)[i]
        own = [said[f"p_{name}"] for name in model.classes_]
        np.testing.assert_array_equal(own, model.predict_proba(X)[i])
        assert said["aleatoric"] == model.predict_uncertainty(X).aleatoric[i]
        names = model.classes_[model.predict_set(X)[i]]
        assert sorted(said["set_90"]) == sorted(names)
        assert said["unfamiliar"] == model.unfamiliar(X)[i]


def test_a_table_comes_back_as_a_table(client):
    body = "a,town\n0.1,n\n"
    asked = {"content-type": "text/csv", "accept": "text/csv"}
    table = pl.read_csv(client.post("/predict", content=body, headers=asked).content)
    assert table.columns[:3] == ["prediction", "set_90", "p_high"]


def test_model_docs_and_metrics_know_of_classes(client, model):
    info = client.get("/model").json()
    assert info["classes"] == ["high", "low", "middle"]
    assert (info["c1"], info["c2"]) == (model.c1_, model.c2_)
    assert info["type"] == "ClearClassifier"
    described = client.get("/openapi.json").json()
    asked = described["paths"]["/predict"]["post"]["parameters"]
    assert {each["name"] for each in asked} == {"level"}
    assert "p_middle" in described["components"]["schemas"]["Prediction"]["properties"]
    assert client.get("/ready").status_code == 200
    assert "clearbands_unfamiliar_rows" in client.get("/metrics").text


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("?above=3", "above is for numbers"),
        ("?side=lower", "side is for numbers"),
        ("?level=0.9999", "needs more calibration rows"),
    ],
)
def test_what_makes_no_sense_is_refused(client, address, said):
    refused = client.post(f"/predict{address}", json={"rows": ROWS})
    assert refused.status_code == 422
    assert said in refused.json()["detail"]


def test_the_command_says_in_one_sentence_that_classes_cannot_be_updated(
    model, tmp_path, monkeypatch
):
    path = tmp_path / "towns.clear"
    clearbands.save(model, path)
    monkeypatch.setenv("T", "s" * 32)
    done = run("serve", path, "--port", "0", "--allow-update", "--token-env", "T")
    assert (done.exit_code, done.stdout) == (2, "")
    said = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert said == ["Error: A model of classes cannot be updated: fit it again with the rows."]
