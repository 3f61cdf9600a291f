"""`/metrics`: what Prometheus collects."""

from __future__ import annotations

from fastapi import APIRouter, Response

from clearbands.apps.web.service.metrics import CONTENT_TYPE
from clearbands.apps.web.service.service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter()

    @router.get(
        "/metrics",
        summary="Counts of requests, rows and refusals, and how wide intervals are",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        return Response(service.metrics.text(), headers={"content-type": CONTENT_TYPE})

    return router
