"""The contract of `/predict`: pydantic models made from the columns and levels of a model."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from clearbands.apps.question_table import QUESTIONS
from clearbands.apps.reading.features import NAME, Feature, typical_row
from clearbands.apps.task import Classification, Task
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service.schemas import INFINITE, Problem
from clearbands.apps.web.values import show, type_of
from clearbands.prediction.predictions import SIDES, bound_name
from clearbands.prediction.questions import Questions, name_of, tails_in
from clearbands.rows.levels import NEAREST, level_name
from clearbands.rows.settings import Side

MOST_VALUES = 100  # values of one question in one request
REFUSALS = {
    401: "The bearer token is missing or wrong.",
    408: "The body did not arrive in time.",
    413: "Too many bytes or rows.",
    415: "The body is neither JSON nor CSV in UTF-8.",
    422: "The body cannot be read, or values do not fit the model; row and column are named.",
    503: "Too many requests are under way.",
    504: "The prediction took too long.",
}


def question_model(task: Task) -> type[BaseModel]:
    """Return the parameters of the address: the questions that the task answers, and no others."""
    most = math.floor(task.highest_level / NEAREST) * NEAREST
    tail = math.ceil((1 - most) / 2 / NEAREST) * NEAREST
    least = math.ceil(1000 * (1 - most)) / 1000  # the least share that one bound may leave out
    tails = f"{max(0.02, least):g}:{max(0.08, least):g}"
    several: dict[str, dict[str, Any]] = {
        "level": {"type": "number", "minimum": NEAREST, "maximum": most},
        "quantile": {"type": "number", "minimum": tail, "maximum": 1 - tail},
    }
    fields: dict[str, Any] = {}
    for name, question in QUESTIONS.items():
        words = question.words.replace("0.02:0.08", tails)
        if isinstance(task, Classification) and not question.of_classes:
            continue
        if question.may_repeat:
            number = Annotated[float, WithJsonSchema(several.get(name, {"type": "number"}))]
            values: Any = Field(default=[], max_length=MOST_VALUES, description=words)
            fields[name] = (list[number], values)
        elif name == "side":
            fields[name] = (Side, Field(default="both", description=words))
        else:
            fields[name] = (str | None, Field(default=None, description=words))
    return create_model("Questions", __config__=ConfigDict(extra="forbid"), **fields)


def questions_in(values: Mapping[str, Any]) -> Questions:
    """Return the questions in the parameters of an address."""
    tails = values.get("tails")
    return Questions(
        levels=tuple(dict.fromkeys(values["level"])),
        side=values.get("side", "both"),
        quantiles=values.get("quantile", ()),
        above={name_of(value): value for value in values.get("above", ())},
        below={name_of(value): value for value in values.get("below", ())},
        tails=None if tails is None else tails_in("tails", tails),
    )


def wrong_question(error: Mapping[str, Any], known: Collection[str]) -> str:
    """Return the error of pydantic about a parameter of an address as a sentence."""
    name, kind = str(error["loc"][1]), error["type"]
    if kind == "extra_forbidden":
        if name in QUESTIONS:
            return f"The model predicts classes, and {name} is for numbers: leave it out."
        return f"/predict takes {', '.join(known)} in its address, got {show(name)}."
    if kind == "too_long":
        return f"{name} may be given at most {MOST_VALUES} times in one request."
    if kind == "literal_error":
        return f"{name} must be one of both, lower, upper, got {show(error['input'])}."
    return f"{name} must be a number, got {show(error['input'])}."


def request_body(features: Sequence[Feature], limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI description of the rows of a request, with a typical row as example."""
    import polars as pl

    columns: dict[str, Any] = {
        f"column_{j}": (
            type_of(feature),
            Field(alias=feature.name, default=None if feature.kind == NAME else ...),
        )
        for j, feature in enumerate(features)
    }
    row = create_model("Row", __config__=ConfigDict(extra="forbid"), **columns)
    # The limit is no `maxItems`, because more rows are well formed and refused with 413, not 422.
    allowed = f"At most {limits.rows:,} rows."
    rows = {
        "type": "array",
        "items": row.model_json_schema(),
        "minItems": 1,
        "description": allowed,
    }
    body = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": rows},
        "additionalProperties": False,
    }
    typical = typical_row(features)
    return {
        "required": True,
        "content": {
            "application/json": {"schema": body, "example": {"rows": [typical]}},
            "text/csv": {
                "schema": {"type": "string"},
                "example": pl.DataFrame([typical]).write_csv(),
            },
        },
    }


def answers_of(task: Task) -> type[BaseModel]:
    """Return the type of the rows of `predict_frame` in JSON."""
    if isinstance(task, Classification):
        return _class_answers(task.levels, [str(name) for name in task.model.classes_.tolist()])
    bounds = {
        bound_name(side, level): f"The {side} bound at {level:g}; {INFINITE}."
        for level in task.levels
        for side in SIDES
    }
    return _answers(
        prediction=(float, Field(description="The center of the interval.")),
        **_optional(bounds, float | None),
        aleatoric=(float | None, Field(description=f"The width that is noise; {INFINITE}.")),
        epistemic=(
            float | None,
            Field(description=f"The width that is ignorance, which more rows reduce; {INFINITE}."),
        ),
        **_reasons(
            "Epistemic width over the whole width, from 0 to 1.",
            "The part with the larger square: widths add up by their squares.",
        ),
    )


def _class_answers(levels: Sequence[float], classes: Sequence[str]) -> type[BaseModel]:
    """Return the type of the answers of a model of these classes."""
    sets = {
        f"set_{level_name(level)}": f"Classes of the set at {level:g}, the most probable first."
        for level in levels
    }
    chances = {f"p_{name}": f"The probability of {name}." for name in classes}
    return _answers(
        prediction=(Any, Field(description="The most probable class.")),
        **_optional(sets, list[str] | None),
        **_optional(chances, float | None),
        aleatoric=(float, Field(description="The ambiguity that all members see, in bits.")),
        epistemic=(float, Field(description="The disagreement of the members, in bits.")),
        **_reasons("Epistemic bits over all bits, from 0 to 1.", "The larger of the two."),
    )


def _answers(**fields: Any) -> type[BaseModel]:
    more = "Answers to questions in the address have names of their own, such as quantile_0.1."
    row = create_model(
        "Prediction",
        __config__=ConfigDict(extra="allow", json_schema_extra={"description": more}),
        **fields,
    )
    rows = Field(description="One for each row, in the order of the rows.")
    return create_model("Predictions", predictions=(list[row], rows))  # type: ignore[valid-type]


def _optional(described: dict[str, str], of: Any) -> dict[str, Any]:
    """Return fields that a request may replace; an alias may hold characters that no name can."""
    return {
        f"field_{number}_{name.partition('_')[0]}": (
            of,
            Field(default=None, alias=name, description=words),
        )
        for number, (name, words) in enumerate(described.items())
    }


def _reasons(share: str, dominant: str) -> dict[str, Any]:
    return {
        "epistemic_share": (float, Field(description=share)),
        "dominant": (
            Literal["noise", "ignorance", "unclear"],
            Field(description=dominant),
        ),
        "unfamiliar": (
            bool | None,
            Field(
                description="Whether the row is unlike those of the fit; null where the model "
                "cannot tell."
            ),
        ),
    }


def predict_answers(example: object) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of answers of `/predict`, with an `example` or None."""
    content = {
        "application/json": {"example": example} if example else {},
        "text/csv": {"schema": {"type": "string"}},
    }
    return {200: {"content": content}, **refusals(408, 413, 415, 422, 503, 504)}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": REFUSALS[status]} for status in statuses}
