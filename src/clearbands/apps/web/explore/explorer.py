"""The app behind the page, which answers only to browsers on this machine that show this page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field, ValidationError
from starlette.middleware.base import RequestResponseEndpoint

from clearbands.apps.reading.choosing import take_features
from clearbands.apps.reading.features import fitted_columns
from clearbands.apps.reading.formats import TooLargeError, unpacked
from clearbands.apps.reading.reading import read_fitted, reading_in_words
from clearbands.apps.task import task_of
from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.explore import views
from clearbands.apps.web.explore.scene import Scene, ShownModel
from clearbands.apps.web.hosts import LOCAL_NAMES, Hosts
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.request_rows import parse_json, predict_rows
from clearbands.apps.web.values import show
from clearbands.persistence.origin import origin_of
from clearbands.prediction import glossary

if TYPE_CHECKING:
    from starlette.types import ASGIApp

HOSTS = Hosts(LOCAL_NAMES)
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
FOLDER = Path(__file__).parent / "page"
LIMITS = Limits(bytes=200_000_000, seconds=600, requests=4)


def create_page(scene: Scene) -> ASGIApp:
    """Return the web app of one page."""
    start = _dump(views.overview(scene))
    bodies = Bodies(LIMITS)
    app = FastAPI(openapi_url=None)

    @app.middleware("http")
    async def only_local(request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Refuse with 403 what names another host or comes from another page."""
        host, origin = (request.headers.get(name, "") for name in ("host", "origin"))
        if not HOSTS.allow(host) or origin not in ("", f"http://{host}"):
            return Response("This page answers only to this machine, as localhost.", 403)
        response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    async def body_of(request: Request) -> bytes:
        return await bodies.read(request, asyncio.get_running_loop().time() + LIMITS.seconds)

    @app.get("/")
    async def page() -> Response:
        return FileResponse(FOLDER / "index.html")

    @app.get("/glossary.css")
    async def colours() -> Response:
        return Response(glossary.style_sheet(), media_type="text/css")

    @app.get("/start")
    async def overview() -> Response:
        return Response(start, media_type="application/json")

    @app.post("/along")
    async def along(request: Request) -> Response:
        question = _question(await body_of(request), scene)
        if question.column not in question.row:
            raise Refusal(422, f"There is no column {question.column!r}.")
        return await _answer(lambda: views.along(scene, **dict(question)))

    @app.post("/why")
    async def why(request: Request) -> Response:
        question = _question(await body_of(request), scene)
        return await _answer(lambda: views.why(scene, question.row))

    @app.post("/score/{number}")
    async def score(request: Request, number: int) -> Response:
        if not 0 <= number < len(scene.models):
            raise Refusal(404, f"There is no model {number}.")
        content = await body_of(request)
        name = unquote(request.headers.get("x-file-name", "file.csv"))
        model = scene.models[number]
        table, mended = await asyncio.to_thread(score_file, model, content, name)
        headers = {"x-mended": json.dumps(mended)}  # in ASCII, as headers must be
        return Response(table, media_type="text/csv", headers=headers)

    @app.exception_handler(Refusal)
    async def refuse(_: Request, refusal: Refusal) -> Response:
        return refusal.response()

    app.mount("/", StaticFiles(directory=FOLDER))
    return app


def score_file(fitted: ShownModel, content: bytes, name: str) -> tuple[bytes, list[str]]:
    """Return the csv that `clearbands predict` writes for a file, and what was mended."""
    model = fitted.model
    try:
        if not content:
            raise ValueError(f"{name} is empty (0 bytes).")
        table_in = unpacked(content, Path(name), LIMITS.bytes)
        reading = read_fitted(*table_in, name, fitted_columns(model))
        rows = take_features(reading.frame, [feature.name for feature in fitted.features], name)
        table = predict_rows(task_of(model), rows).frame()
    except TooLargeError as error:
        raise Refusal(413, str(error)) from error
    except (ValueError, TypeError, ImportError) as error:
        raise Refusal(422, str(error)) from error
    row_id = origin_of(model).id
    if row_id in reading.frame.columns:
        table = table.select(reading.frame[row_id], *table.columns)
    return table.write_csv().encode(), reading_in_words(reading)


class RowQuestion(BaseModel, strict=True):
    """A question of the page about a row."""

    row: dict[str, Any]
    column: str | None = None
    whole: bool = False
    above: float | None = Field(default=None, gt=-1e300, lt=1e300)


def _question(body: bytes, scene: Scene) -> RowQuestion:
    """Return the question in a body, or refuse one whose columns or values do not fit the scene."""
    try:
        question = RowQuestion.model_validate(parse_json(body))
    except ValidationError as error:
        wrong = error.errors()[0]
        if wrong["loc"] == ("above",):
            value = show(wrong["input"])
            raise Refusal(422, f"above must be a finite number, got {value}.") from error
        raise Refusal(422, 'The body must be {"row": {...}}.') from error
    if question.row.keys() != {control.name for control in scene.controls}:
        raise Refusal(422, "The row must have exactly the columns of the page.")
    for model in scene.models:
        model.check(question.row)
    return question


async def _answer(view: Callable[[], object]) -> Response:
    return Response(_dump(await asyncio.to_thread(view)), media_type="application/json")


def _dump(answer: object) -> str:
    return json.dumps(answer, allow_nan=False)
