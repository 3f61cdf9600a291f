"""The OpenAPI description holds for requests to the service."""

from __future__ import annotations

import json

import pytest

from clearbands.apps.web.service import create_app
from tests.served import small_model


def test_the_examples_of_the_description_work(client):
    said = client.get("/openapi.json").json()["paths"]["/predict"]["post"]
    for media_type, content in said["requestBody"]["content"].items():
        example = content["example"]
        body = example if isinstance(example, str) else json.dumps(example)
        answer = client.post("/predict", content=body, headers={"content-type": media_type})
        assert answer.json() == said["responses"]["200"]["content"]["application/json"]["example"]


@pytest.mark.slow
def test_fuzzed_from_its_own_description_nothing_breaks():
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    app = create_app(small_model())
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    seen = set()
    for mode in schemathesis.GenerationMode:

        @given(case=schema["/predict"]["POST"].as_strategy(generation_mode=mode))
        @settings(
            max_examples=25,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        def ask(case):
            response = case.call()
            seen.add((case.media_type, response.status_code))
            # The description allows any text as csv or as tails, which most text is not.
            is_text = case.media_type == "text/csv" or "tails" in (case.query or {})
            case.validate_response(
                response, excluded_checks=[positive_data_acceptance] if is_text else []
            )

        ask()
    assert {("application/json", 200), ("application/json", 422), ("text/csv", 422)} <= seen
