"""The table of questions: command and service have each of them, in the same words."""

import inspect

import pytest

from clearbands.apps.question_table import QUESTIONS


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_command_has_an_option_and_the_service_a_parameter(name):
    pytest.importorskip("typer", reason="the extra `cli` is not installed")
    pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
    from types import SimpleNamespace

    from clearbands.apps.cli.options import QuestionOptions
    from clearbands.apps.cli.predict import predict
    from clearbands.apps.web.service.contract import question_model

    fields = {field.name for field in QuestionOptions.__dataclass_fields__.values()}
    options = fields | set(inspect.signature(predict).parameters)
    assert name in options
    description = question_model(SimpleNamespace(highest_level=0.9)).model_fields[name].description
    assert QUESTIONS[name].words.split(".")[0].split(" such as")[0] in description
