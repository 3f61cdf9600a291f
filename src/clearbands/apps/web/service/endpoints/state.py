"""`/health` and `/ready`: whether the service is alive, and whether it can predict now."""

from __future__ import annotations

from fastapi import APIRouter

from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.description import refusals
from clearbands.apps.web.service.schemas import State
from clearbands.apps.web.service.service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter()

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
            with service.line.place():
                await service.line.run(service.scorer.example, service.deadline())
        except Refusal as refusal:
            raise Refusal(503, refusal.detail) from refusal
        return State(status="ready")

    return router
