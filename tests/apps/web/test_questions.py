"""Every question about y, asked over HTTP."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from clearbands.apps.web.service import create_app
from clearbands.persistence.origin import record_origin
from tests.served import documented_houses, far_houses, linear_model


@pytest.fixture(scope="module")
def model():
    return linear_model(*documented_houses())


@pytest.fixture(scope="module")
def client(model):
    with TestClient(create_app(model)) as client:
        yield client


ROWS = documented_houses()[0][:3]


def post(client, asked=""):
    answer = client.post(f"/predict{asked}", json={"rows": ROWS.to_dicts()})
    return answer.status_code, answer.json()


def test_levels_quantiles_and_chances_are_those_of_the_library(client, model):
    asked = "?level=0.8&level=0.6&quantile=0.9&quantile=0.1&above=400&below=300"
    status, answer = post(client, asked)
    assert status == 200
    found = answer["predictions"]
    _, intervals = model.predict_interval(ROWS, confidence_level=[0.8, 0.6])
    lower = [[row["lower_80"], row["lower_60"]] for row in found]
    assert lower == intervals[:, 0].tolist()
    quantiles = model.predict_quantiles(ROWS, [0.1, 0.9])
    assert [[row["quantile_0.1"], row["quantile_0.9"]] for row in found] == quantiles.tolist()
    above = model.predict_probability(ROWS, above=400)
    below = model.predict_probability(ROWS, below=300)
    for i, row in enumerate(found):
        assert (row["above_400"], row["below_300"]) == (above[i], below[i])
    assert [row["unfamiliar"] for row in found] == model.unfamiliar(ROWS).tolist()


def test_far_outliers_leave_the_chances_numbers():
    client = TestClient(create_app(linear_model(*far_houses(), confidence_level=0.5)))
    status, answer = post(client, "?above=1e9&below=-1e9&above=0")
    assert status == 200
    for row in answer["predictions"]:
        chances = [value for name, value in row.items() if name.startswith(("above", "below"))]
        assert len(chances) == 3
        assert all(0 <= chance <= 1 for chance in chances)


def test_rows_are_those_of_predict_frame(client, model):
    _, answer = post(client)
    assert answer["predictions"] == model.predict_frame(ROWS).to_dicts()


def test_one_side_has_one_bound(client, model):
    _, answer = post(client, "?side=lower&level=0.9")
    bounds = model.predict_interval(ROWS, side="lower")[1]
    assert [row["lower_90"] for row in answer["predictions"]] == bounds[:, 0, 0].tolist()
    assert not any("upper_90" in row for row in answer["predictions"])


def test_unequal_tails(client, model):
    _, answer = post(client, "?tails=0.02:0.08")
    bounds = model.predict_interval(ROWS, tails=(0.02, 0.08))[1][:, :, 0]
    own = [[row["lower_90"], row["upper_90"]] for row in answer["predictions"]]
    assert own == bounds.tolist()


def test_csv_has_the_columns_of_the_command(client):
    headers = {"content-type": "text/csv", "accept": "text/csv"}
    answer = client.post(
        "/predict?quantile=0.1&above=400000&side=upper", content=ROWS.write_csv(), headers=headers
    )
    columns = pl.read_csv(answer.content).columns
    assert columns[:2] == ["prediction", "upper_90"]
    assert columns[-2:] == ["quantile_0.1", "above_400000"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("?level=80", "got 80.0. Did you mean 0.8?"),
        ("?level=high", 'level must be a number, got "high"'),
        ("?tails=0.1", "tails takes BELOW:ABOVE"),
        ("?tails=0.6:0.5", "add up to less than 1"),
        ("?tails=0.1:0.1&side=lower", "leave out level and side"),
        ("?quantile=1", "strictly between 0 and 1"),
        ("?above=nan", "above must be a finite number, got nan"),
        ("?side=left", "side must be one of both, lower, upper"),
        ("?quantil=0.1", "takes level, side, tails, quantile, above, below in its address"),
        ("?" + "&".join(["above=1"] * 101), "at most 100 times"),
    ],
)
def test_questions_that_make_no_sense_are_one_sentence(client, asked, said):
    status, answer = post(client, asked)
    assert status == 422
    assert said in answer["detail"]


def test_the_description_names_every_question(client):
    described = client.get("/openapi.json").json()["paths"]["/predict"]["post"]
    names = {parameter["name"] for parameter in described["parameters"]}
    assert names == {"level", "side", "tails", "quantile", "above", "below"}


def test_metrics_keep_to_the_levels_of_the_fit(client):
    post(client, "?level=0.1234567")
    # The level has more digits than times, since a request may take 0.123 s.
    assert "0.1234567" not in client.get("/metrics").text


def test_a_model_that_does_not_learn_from_its_groups_asks_for_them():
    X, y = documented_houses()
    years = np.array([2006, 2007] * 100)
    model = linear_model(X, y, calibration_groups=years)
    model.origin_ = record_origin(X, y, target="price", calibration_groups="year")
    rows = X[:2].with_columns(year=pl.Series([2006, 2007]))
    with TestClient(create_app(model)) as client:
        found = client.post("/predict", json={"rows": rows.to_dicts()}).json()["predictions"]
        lost = client.post("/predict", json={"rows": X[:2].to_dicts()})
        later = client.post("/predict", json={"rows": rows.with_columns(year=2010).to_dicts()})
        text = client.post(
            "/predict", content=rows.write_csv(), headers={"content-type": "text/csv"}
        )
    upper = model.predict_interval(X[:2], calibration_groups=years[:2])[1][:, 1, 0]
    assert [row["upper_90"] for row in found] == upper.tolist()
    assert text.json()["predictions"] == found
    assert (lost.status_code, later.status_code) == (422, 422)
    assert "column 'year': the column is missing" in lost.json()["detail"]
    assert "Groups that were not calibrated: 2010" in later.json()["detail"]


def test_groups_of_several_columns_are_asked_for_too():
    X, y = documented_houses()
    plain = X.select("area", "rooms")
    groups = X.select("town", built=pl.Series(["1990", "new"] * 100), big=pl.col("area") > 120)
    model = linear_model(plain, y, calibration_groups=groups)
    model.origin_ = record_origin(plain, y, target="price", calibration_groups=groups.columns)
    rows = plain[:3:2].hstack(groups[:3:2])  # all were built in 1990, which looks like a number
    csv = rows.write_csv().replace("true", "True").replace("false", "False")
    upper = model.predict_interval(plain[:3:2], calibration_groups=groups[:3:2])[1][:, 1, 0]
    app, token = create_app(model, token="secret", allow_updates=True), "Bearer secret"
    with TestClient(app, headers={"Authorization": token}) as client:
        found = client.post("/predict", json={"rows": rows.to_dicts()}).json()["predictions"]
        text = client.post("/predict", content=csv, headers={"content-type": "text/csv"})
        lost = client.post("/predict", json={"rows": rows.drop("big").to_dicts()})
        other = client.post(
            "/predict", json={"rows": rows.with_columns(town=pl.lit("Chur")).to_dicts()}
        )
        known = client.post("/update", json={"rows": rows.with_columns(price=300.0).to_dicts()})
    assert [row["upper_90"] for row in found] == upper.tolist()
    assert text.json()["predictions"] == found
    assert "column 'big': the column is missing" in lost.json()["detail"]
    assert "Groups of 'town' that were not calibrated: Chur" in other.json()["detail"]
    assert known.status_code == 200
