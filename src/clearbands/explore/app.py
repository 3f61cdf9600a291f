"""The app behind the page, which answers to this machine alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from clearbands import files
from clearbands.explore import views
from clearbands.explore.guard import LocalOnly
from clearbands.explore.scene import Candidate, Scene
from clearbands.features import text_columns
from clearbands.predictions import prediction_table
from clearbands.service.limits import Limits, Refusal, read_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp

FOLDER = Path(__file__).parent / "page"
LIMITS = Limits(bytes=200_000_000, seconds=600)


def create_page(scene: Scene) -> ASGIApp:
    """The web app of one page."""
    start = _dump(views.overview(scene))
    app = FastAPI(openapi_url=None)

    @app.get("/")
    async def page() -> Response:
        return FileResponse(FOLDER / "index.html")

    @app.get("/start")
    async def overview() -> Response:
        return Response(start, media_type="application/json")

    @app.post("/along")
    async def along(request: Request) -> Response:
        asked = await _asked(request, scene)
        name = asked.get("column")
        if name not in [control.name for control in scene.controls]:
            raise Refusal(422, f"There is no column {name!r}.")
        return await _answer(views.along, scene, asked["row"], name)

    @app.post("/why")
    async def why(request: Request) -> Response:
        return await _answer(views.why, scene, (await _asked(request, scene))["row"])

    @app.post("/score/{number}")
    async def score(request: Request, number: int) -> Response:
        if not 0 <= number < len(scene.candidates):
            raise Refusal(404, f"There is no model {number}.")
        until = asyncio.get_running_loop().time() + LIMITS.seconds
        content = await read_body(request, LIMITS, until)
        name = unquote(request.headers.get("x-file-name", "The file"))
        table = await asyncio.to_thread(score_file, scene.candidates[number], content, name)
        return Response(table, media_type="text/csv")

    @app.exception_handler(Refusal)
    async def refuse(_: Request, refusal: Refusal) -> Response:
        return Response(_dump(refusal.to_json()), refusal.status, media_type="application/json")

    app.mount("/", StaticFiles(directory=FOLDER))
    app.add_middleware(LocalOnly)
    return app


def score_file(candidate: Candidate, content: bytes, name: str) -> bytes:
    """The csv file that `clearbands predict` would write for a csv file with this content."""
    model = candidate.model
    try:
        frame = files.read_csv(content, name, text=text_columns(model))
        rows = files.take_features(frame, list(model.feature_names_in_), name)
        return prediction_table(model, rows).write_csv().encode()
    except (ValueError, TypeError) as error:
        raise Refusal(422, str(error)) from error


async def _asked(request: Request, scene: Scene) -> dict[str, Any]:
    """The object that the page sent; its row must have the columns of the scene."""
    try:
        asked = json.loads(await request.body())
        columns = set(asked["row"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Refusal(422, 'The body must be {"row": {...}}.') from error
    if columns != {control.name for control in scene.controls}:
        raise Refusal(422, "The row must have exactly the columns of the page.")
    return asked


async def _answer(view: Any, *arguments: Any) -> Response:
    try:
        answer = await asyncio.to_thread(view, *arguments)
    except (ValueError, TypeError) as error:
        raise Refusal(422, str(error)) from error
    return Response(_dump(answer), media_type="application/json")


def _dump(answer: Any) -> str:
    return json.dumps(answer, allow_nan=False)
