"""The endpoints, a file for each group: `routes(service)` gives its routes.

A new group is a new file and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter

from clearbands.apps.web.service.endpoints import docs, model, monitoring, predict, state, update
from clearbands.apps.web.service.service import Service

OPEN: tuple[Callable[[Service], APIRouter], ...] = (state.routes, docs.routes)
"""What tells nothing of the model and needs no token; its paths stand in `middleware`."""

GUARDED: tuple[Callable[[Service], APIRouter], ...] = (
    predict.routes,
    update.routes,
    model.routes,
    monitoring.routes,
)
