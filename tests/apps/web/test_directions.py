"""Columns that a model was told to rise or fall with, as the service and the page tell them."""

from __future__ import annotations

from fastapi.testclient import TestClient

from clearbands import fast
from clearbands.apps.web.explore import make_scene, views
from clearbands.apps.web.service import create_app
from tests.served import documented_houses


def test_directions_are_told():
    frame, price = documented_houses()
    told = {"rooms": -1, "area": 1}
    model = fast(monotone=told, random_state=0).fit(frame, price)
    with TestClient(create_app(model)) as client:
        features = client.get("/model").json()["features"]
    ways = {feature["name"]: feature["direction"] for feature in features}
    assert ways == {"area": "rises", "rooms": "falls", "town": None}
    assert views.overview(make_scene({"houses": model}, frame))["models"][0]["directions"] == told
