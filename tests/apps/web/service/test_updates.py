"""`POST /update`: rows whose true values are known, from those who have the token."""

import json

import polars as pl
import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.service import Limits, create_app
from tests.apps.web.updating import TOKEN, client_of, hours, in_time, post


def test_rows_are_taken_and_intervals_follow():
    model, twin = in_time(), in_time()
    table = hours(60, first=120)
    with client_of(model) as client:
        before = client.get("/model", headers=TOKEN).json()
        assert before["updates"] is None
        answer = post(client, table)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        asked = {"rows": [{"x": 1.5}]}
        band = client.post("/predict", json=asked, headers=TOKEN).json()["predictions"][0]
        after = client.get("/model", headers=TOKEN).json()
    twin.update(table.select("x"), table["demand"].to_numpy(), time=table["when"])
    assert found["rows"] == 60
    assert found["last_time"] == "2026-01-08 11:00"
    assert found["levels"][0]["coverage"] == twin.rolling_.coverage[0]
    sides = [found["levels"][0][side] for side in ("below", "above")]
    assert sides == twin.rolling_.outside[0].tolist()
    bounds = twin.predict_interval(pl.DataFrame({"x": [1.5]}))[1]
    assert band["lower_90"] == pytest.approx(bounds[0, 0, 0])
    assert after["updates"] == found
    assert "adapts" in after["guarantee_in_words"]


def test_csv_is_taken_as_well():
    with client_of(in_time()) as client:
        content = hours(5, first=120).write_csv(datetime_format="%Y-%m-%dT%H:%M:%S")
        headers = TOKEN | {"content-type": "text/csv"}
        answer = client.post("/update", content=content, headers=headers)
    assert answer.json()["rows"] == 5


def test_nobody_updates_without_the_token_or_where_it_was_not_asked_for():
    with client_of(in_time()) as client:
        assert client.post("/update", json={"rows": []}).status_code == 401
    with TestClient(create_app(in_time(), token="secret")) as client:
        assert client.post("/update", json={"rows": []}, headers=TOKEN).status_code == 404
    with pytest.raises(ValueError, match="they need a token"):
        create_app(in_time(), allow_updates=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop("demand"), "column 'demand': the column is missing"),
        (lambda table: table.drop("when"), "column 'when': the column is missing"),
        (lambda table: table.with_columns(z=1), "the model knows no such column"),
        (lambda table: table.with_columns(demand=pl.lit(None)), "'demand' is missing in row 0"),
        (lambda table: table.reverse(), "time must not fall"),
        (lambda table: hours(5, first=100), "not after 2026-01-05 23:00"),
    ],
)
def test_rows_that_are_refused_change_nothing(change, words):
    model = in_time()
    with client_of(model) as client:
        answer = post(client, change(hours(5, first=120)))
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert not hasattr(model, "rolling_")


def test_more_rows_than_allowed():
    with client_of(in_time(), limits=Limits(rows=3)) as client:
        assert post(client, hours(5, first=120)).status_code == 413


def test_the_description_names_target_and_time():
    with client_of(in_time()) as client:
        found = client.get("/openapi.json", headers=TOKEN).json()
    body = found["paths"]["/update"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"]["properties"]["rows"]["items"]["required"] == ["x", "demand", "when"]
    json.dumps(body["example"])
