"""The service: predictions of one model over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from clearbands import __version__
from clearbands.features import features_of
from clearbands.service.answers import Health, ModelInfo, Predictions
from clearbands.service.description import (
    describe_model,
    predict_answers,
    refusals,
    request_body,
)
from clearbands.service.gate import Log, Token
from clearbands.service.limits import Limits, Refusal, read_body
from clearbands.service.scoring import CSV, JSON, READERS, Scorer
from clearbands.service.worker import Worker

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor


def create_app(
    model: ClearRegressor,
    *,
    name: str = "model",
    versions: Mapping[str, str] | None = None,
    token: str | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """A service for a model that was fitted on a table with column names.

    `name` and `versions`, those the model was saved with, are for `/model` to tell. With a
    `token`, every path but `/health` asks for it.
    """
    limits = limits or Limits()
    features = features_of(model)
    scorer, worker = Scorer(model, features, limits), Worker(limits)
    info = describe_model(model, features, limits, name, versions or {})

    example = scorer.example()  # compiles the kernels as well

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        worker.close()

    app = FastAPI(
        title="clearbands",
        version=__version__,
        summary=f"Prediction intervals of {name}, and why they are wide.",
        lifespan=lifespan,
    )
    guarded: dict[str, Any] = {"responses": {}}
    if token:
        scheme = HTTPBearer(auto_error=False)  # for the description; Token below asks for it
        guarded = {"responses": refusals(401), "dependencies": [Depends(scheme)]}

    @app.get("/health", summary="Whether the service is up")
    async def health() -> Health:
        return Health(status="ok")

    @app.get("/model", summary="What the model is and what holds for it", **guarded)
    async def model_info() -> ModelInfo:
        return info

    @app.post(
        "/predict",
        summary="Bands for rows",
        description=(
            "Every row must have exactly the columns of the model. Missing values are null in "
            "JSON and empty in CSV. With `Accept: text/csv` the answer is the table that "
            "`clearbands predict` writes."
        ),
        response_model=Predictions,
        openapi_extra={"requestBody": request_body(features, limits)},
        **guarded | {"responses": predict_answers(example) | guarded["responses"]},
    )
    async def predict(request: Request) -> Response:
        until = asyncio.get_running_loop().time() + limits.seconds
        given, wanted = _given_type(request), _wanted_type(request)
        with worker.place():
            body = await read_body(request, limits, until)
            request.state.log = {"bytes": len(body)}
            answer = await worker.run(lambda: scorer.answer(body, given, wanted), until)
        request.state.log["rows"] = answer.n_rows
        return Response(answer.content, media_type=answer.media_type)

    @app.exception_handler(Refusal)
    async def refuse(_: Request, refusal: Refusal) -> Response:
        headers = {"Retry-After": "1"} if refusal.status == 503 else None
        return _problem(refusal.to_json(), refusal.status, headers)

    @app.exception_handler(HTTPException)
    async def refuse_path(_: Request, error: HTTPException) -> Response:
        return _problem({"detail": error.detail, "errors": []}, error.status_code, error.headers)

    if token:
        app.add_middleware(Token, token=token)
    app.add_middleware(Log)  # the last one added is the first one passed
    return app


def _problem(problem: dict[str, Any], status: int, headers: Mapping[str, str] | None) -> Response:
    # In ASCII: a wrong column may have a name that UTF-8 cannot carry.
    return Response(json.dumps(problem), status, headers, JSON)


def _given_type(request: Request) -> str:
    """JSON or CSV, both in UTF-8 and not compressed, or 415."""
    given = request.headers.get("content-type", "")
    media_type, *parameters = (part.strip().lower() for part in given.split(";"))
    charsets = {p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")}
    encoding = request.headers.get("content-encoding", "identity").lower()
    if media_type in READERS and charsets <= {"utf-8", "utf8"} and encoding == "identity":
        return media_type
    wanted = "Send application/json or text/csv in UTF-8, not compressed"
    raise Refusal(415, f"{wanted}; the content type was {given or 'not given'!r}.")


def _wanted_type(request: Request) -> str:
    return CSV if CSV in request.headers.get("accept", "") else JSON
