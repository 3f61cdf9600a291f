"""`/docs`, to which `/` leads: Swagger UI, FastAPI's own page, from the package fastapi-offline.

The page loads nothing from elsewhere, and asks for the token where the service has one.
"""

from __future__ import annotations

from pathlib import Path

import fastapi_offline
from fastapi import APIRouter
from fastapi.responses import FileResponse, RedirectResponse
from starlette.exceptions import HTTPException

from clearbands.apps.web.service.service import Service

OWN = Path(__file__).parents[1] / "page"
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


def routes(service: Service) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def start() -> RedirectResponse:
        return RedirectResponse("docs")  # relative: the service may stand behind a path

    @router.get("/docs")
    async def page() -> FileResponse:
        return FileResponse(OWN / "index.html", headers=HEADERS)

    @router.get("/docs/{name}")
    async def part(name: str) -> FileResponse:
        if name not in FILES:
            raise HTTPException(404)
        return FileResponse(FILES[name] / name, headers=HEADERS)

    return router
