"""The contract of a model: rows and questions that can be answered."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from sklearn.preprocessing import StandardScaler

from clearbands.apps.web.service import create_app
from clearbands.apps.web.service.contract import question_model
from clearbands.tables.encoder import TableEncoder
from tests.apps.web.asking import post_rows
from tests.served import houses, linear_model


def test_an_encoder_that_does_not_tell_its_columns_is_served():
    frame = houses(60)
    model = linear_model(frame.select("x", "age"), frame["price"].to_numpy(), encoder=None)
    with TestClient(create_app(model)) as client:
        assert client.get("/model").json()["features"][0]["kind"] == "any"
        assert post_rows(client, {"x": 1, "age": 2}).status_code == 200
        for x in ("far", None, False):
            answer = post_rows(client, {"x": 1, "age": 2}, {"x": x, "age": 2})
            assert answer.status_code == 422, x


def test_a_model_without_a_typical_row_is_served():
    frame = houses(60)
    encoder = TableEncoder(numeric=StandardScaler())
    model = linear_model(frame.select("x"), frame["price"].to_numpy(), encoder=encoder)
    with TestClient(create_app(model)) as client:
        assert post_rows(client, {"x": 1}).status_code == 200
        assert post_rows(client, {"x": None}).status_code == 422
        assert client.get("/openapi.json").status_code == 200


@pytest.mark.parametrize("highest", [0.8, 40 / 41, 0.9999])
def test_the_tails_of_the_description_are_ones_that_can_be_answered(highest):
    tails = question_model(SimpleNamespace(highest_level=highest)).model_fields["tails"]
    shares = re.search(r"such as ([\d.]+):([\d.]+)\. ", tails.description)
    assert all(float(share) >= 1 - highest for share in shares.groups())
