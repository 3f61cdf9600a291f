"""`/model`: what is served."""

from __future__ import annotations

from fastapi import APIRouter

from clearbands.apps.web.service.description import guarantee_of
from clearbands.apps.web.service.schemas import ModelInfo
from clearbands.apps.web.service.service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter()

    @router.get("/model", summary="What the model is and what holds for it")
    async def model_info() -> ModelInfo:
        if service.updates is None:
            return service.info
        return service.info.model_copy(update=guarantee_of(service.updates.model))

    return router
