"""`/predict`: bands for rows."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.answers import CSV, JSON, answers_of, class_answers_of
from clearbands.apps.web.service.asked import parameters, questions_in
from clearbands.apps.web.service.classes import CLASS_PARAMETERS, ClassScorer
from clearbands.apps.web.service.description import predict_answers, request_body
from clearbands.apps.web.service.scoring import READERS
from clearbands.apps.web.service.service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter()

    @router.post(
        "/predict",
        summary="Bands for rows",
        description=(
            "Every row must have exactly the columns of the model. Missing values are null in "
            "JSON and empty in CSV. The answer has the columns of `predict_frame`; with "
            "`Accept: text/csv` it is the table that `clearbands predict` writes. The address may "
            "ask for other levels, quantiles and chances."
        ),
        response_model=_answers_of(service),
        openapi_extra={
            "parameters": _parameters_of(service),
            "requestBody": request_body(service.features, service.limits),
        },
        responses=predict_answers(service.example),
    )
    async def predict(request: Request) -> Response:
        until = service.deadline()
        given, wanted = given_type(request), wanted_type(request)
        questions = questions_in(request.query_params.multi_items())
        body = await service.bodies.read(request, until)
        request.state.log = {"bytes": len(body)}
        with service.line.place():
            answer = await service.line.run(
                lambda: service.scorer.answer(body, given, wanted, questions), until
            )
        request.state.log["rows"] = answer.n_rows
        service.metrics.rows.count(answer.n_rows, answer.widths, answer.unfamiliar)
        return Response(answer.content, media_type=answer.media_type)

    return router


def _parameters_of(service: Service) -> list[dict[str, Any]]:
    every = parameters(service.scorer.highest_level)
    if not isinstance(service.scorer, ClassScorer):
        return every
    return [each for each in every if each["name"] in CLASS_PARAMETERS]


def _answers_of(service: Service) -> type[BaseModel]:
    levels = [level.confidence_level for level in service.info.levels]
    if service.info.classes is None:
        return answers_of(levels)
    return class_answers_of(levels, service.info.classes)


def given_type(request: Request) -> str:
    """JSON or CSV, both in UTF-8 and not compressed, or 415."""
    given = request.headers.get("content-type", "")
    media_type, *parameters = (part.strip().lower() for part in given.split(";"))
    charsets = {p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")}
    encoding = request.headers.get("content-encoding", "identity").lower()
    if media_type in READERS and charsets <= {"utf-8", "utf8"} and encoding == "identity":
        return media_type
    wanted = "Send application/json or text/csv in UTF-8, not compressed"
    raise Refusal(415, f"{wanted}; the content type was {given or 'not given'!r}.")


def wanted_type(request: Request) -> str:
    return CSV if CSV in request.headers.get("accept", "") else JSON
