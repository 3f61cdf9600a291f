"""The endpoints of the service."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import fastapi_offline
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from starlette.exceptions import HTTPException

from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.contract import (
    answers_of,
    predict_answers,
    question_model,
    questions_in,
    refusals,
    request_body,
)
from clearbands.apps.web.service.counters import CONTENT_TYPE, Metrics
from clearbands.apps.web.service.description import guarantee_of
from clearbands.apps.web.service.request_queue import RequestQueue
from clearbands.apps.web.service.schemas import ModelInfo, State, UpdatesInfo
from clearbands.apps.web.service.scoring import CSV, JSON, READERS, Scorer
from clearbands.apps.web.service.updates import Updates

Result = TypeVar("Result")
OWN = Path(__file__).parent / "page"
SWAGGER_UI = Path(fastapi_offline.__file__).parent / "static"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
}
FILES = {
    "page.js": OWN,
    "page.css": OWN,
    "swagger-ui.css": SWAGGER_UI,
    "swagger-ui-bundle.js": SWAGGER_UI,
}
"""The files of `/docs`: Swagger UI, FastAPI's own page, from the package fastapi-offline. It loads
nothing from elsewhere, and asks for the token where the service has one."""


@dataclass(frozen=True)
class Service:
    """One model, and all that is needed to answer requests with it."""

    scorer: Scorer
    info: ModelInfo
    example: object  # the answer to a typical row, or None
    queue: RequestQueue
    bodies: Bodies
    metrics: Metrics
    limits: Limits
    updates: Updates | None = None  # None if the service takes no true values

    def deadline(self) -> float:
        """Return the time by which a request that arrives now must have been answered."""
        return asyncio.get_running_loop().time() + self.limits.seconds

    async def work(self, request: Request, work: Callable[[bytes, str], Result]) -> Result:
        """Return `work(body, type)` for a request, which waits in line with all others."""
        until, type_in = self.deadline(), _type_in(request)
        body = await self.bodies.read(request, until)
        request.state.log = {"bytes": len(body)}
        with self.queue.place():
            return await self.queue.run(lambda: work(body, type_in), until)


def guarded_routes(service: Service, app: FastAPI) -> APIRouter:
    """Return the paths that tell of the model; the description begins with the first, /predict."""
    router, scorer, updates = APIRouter(tags=["model"]), service.scorer, service.updates
    Parameters = question_model(scorer.task)

    @router.post(
        "/predict",
        summary="Bands for rows",
        description=(
            "Every row must have exactly the columns of the model. Missing values are null in "
            "JSON and empty in CSV. The answer has the columns of `predict_frame`; with "
            "`Accept: text/csv` it is the table that `clearbands predict` writes. The address may "
            "ask for other levels, quantiles and chances."
        ),
        response_model=answers_of(scorer.task),
        openapi_extra={"requestBody": request_body(scorer.features, service.limits)},
        responses=predict_answers(service.example),
    )
    async def predict(request: Request, parameters: Annotated[Parameters, Query()]) -> Response:  # type: ignore[valid-type]
        type_out = CSV if CSV in request.headers.get("accept", "") else JSON
        try:
            questions = questions_in(parameters.model_dump())  # type: ignore[attr-defined]
        except (ValueError, TypeError) as error:
            raise Refusal(422, str(error)) from error
        answer = await service.work(
            request, lambda body, type_in: scorer.answer(body, type_in, type_out, questions)
        )
        request.state.log["rows"] = answer.n_rows
        service.metrics.count_rows(answer.n_rows, answer.widths, answer.unfamiliar)
        return Response(answer.content, media_type=answer.media_type)

    if updates is not None:

        @router.post(
            "/update",
            summary="Rows whose true values are known, in the order of time",
            description=(
                "Every row must have the columns of the model, the target and, where the model "
                "knows the time of its rows, the time. Intervals are calibrated on with them; the "
                "model is not fitted again, and `advice` says when it should be."
            ),
            openapi_extra={"requestBody": request_body(updates.features, service.limits)},
            responses=refusals(408, 413, 415, 422, 503, 504),
        )
        async def update(request: Request) -> UpdatesInfo:
            n_rows, info = await service.work(request, updates.take)
            request.state.log["rows"] = n_rows
            return info

    @router.get("/model", summary="What the model is and what holds for it")
    async def model_info() -> ModelInfo:
        if updates is None:
            return service.info
        return service.info.model_copy(update=guarantee_of(updates.model))

    @router.get(
        "/metrics",
        summary="Counts of requests, rows and refusals, and how wide intervals are",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        return Response(service.metrics.text(), headers={"content-type": CONTENT_TYPE})

    @router.get("/openapi.json", include_in_schema=False)
    async def description() -> dict[str, Any]:
        return app.openapi()

    return router


def open_routes(service: Service) -> APIRouter:
    """Return the paths that tell nothing of the model and need no token."""
    router = APIRouter(tags=["service"])

    @router.get("/health", summary="Whether the service is up")
    async def health() -> State:
        return State(status="ok")

    @router.get(
        "/ready",
        summary="Whether the service can predict now",
        description="It predicts a typical row, in line with all other requests.",
        responses=refusals(503),
    )
    async def ready() -> State:
        try:
            with service.queue.place():
                await service.queue.run(service.scorer.example, service.deadline())
        except Refusal as refusal:
            raise Refusal(503, refusal.detail) from refusal
        return State(status="ready")

    @router.get("/", include_in_schema=False)
    async def start() -> RedirectResponse:
        return RedirectResponse("docs")  # relative: the service may stand behind a path

    @router.get("/docs", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(OWN / "index.html", headers=HEADERS)

    @router.get("/docs/{name}", include_in_schema=False)
    async def part(name: str) -> FileResponse:
        if name not in FILES:
            raise HTTPException(404)
        return FileResponse(FILES[name] / name, headers=HEADERS)

    return router


def _type_in(request: Request) -> str:
    """Return the type of a body, JSON or CSV; refuse with 415 unless it is one in plain UTF-8."""
    content_type = request.headers.get("content-type", "")
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")}
    encoding = request.headers.get("content-encoding", "identity").lower()
    if media_type in READERS and charsets <= {"utf-8", "utf8"} and encoding == "identity":
        return media_type
    wanted = "Send application/json or text/csv in UTF-8, not compressed"
    raise Refusal(415, f"{wanted}; the content type was {content_type or 'not given'!r}.")
