"""`/docs`, to which `/` leads: the description for people, and a place to try it.

The page loads nothing from elsewhere.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, RedirectResponse

from clearbands.apps.web.service.service import Service

FOLDER = Path(__file__).parents[1] / "page"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
}


def routes(service: Service) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def start() -> RedirectResponse:
        return RedirectResponse("docs")  # relative: the service may stand behind a path

    @router.get("/docs")
    async def page() -> FileResponse:
        return FileResponse(FOLDER / "index.html", headers=HEADERS)

    @router.get("/docs/page.js")
    async def script() -> FileResponse:
        return FileResponse(FOLDER / "page.js", headers=HEADERS)

    @router.get("/docs/page.css")
    async def style() -> FileResponse:
        return FileResponse(FOLDER / "page.css", headers=HEADERS)

    return router
