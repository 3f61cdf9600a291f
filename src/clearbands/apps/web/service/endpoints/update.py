"""`/update`: rows whose true values have become known."""

from __future__ import annotations

from fastapi import APIRouter, Request

from clearbands.apps.web.service.description import refusals, request_body
from clearbands.apps.web.service.endpoints.predict import given_type
from clearbands.apps.web.service.schemas import UpdatesInfo
from clearbands.apps.web.service.service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter()
    updates = service.updates
    if updates is None:
        return router

    @router.post(
        "/update",
        summary="Rows whose true values are known, in the order of time",
        description=(
            "Every row must have the columns of the model, the target and, where the model knows "
            "the time of its rows, the time. Intervals are calibrated on with them; the model is "
            "not fitted again, and `advice` says when it should be."
        ),
        openapi_extra={"requestBody": request_body(updates.features, service.limits)},
        responses=refusals(408, 413, 415, 422, 503, 504),
    )
    async def update(request: Request) -> UpdatesInfo:
        until = service.deadline()
        given = given_type(request)
        body = await service.bodies.read(request, until)
        request.state.log = {"bytes": len(body)}
        with service.line.place():
            n_rows, found = await service.line.run(lambda: updates.take(body, given), until)
        request.state.log["rows"] = n_rows
        return found

    return router
