"""The service: predictions of one model over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from clearbands import __version__
from clearbands.apps.reading.features import row_features
from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import ProblemJson, Refusal
from clearbands.apps.web.service.answers import JSON
from clearbands.apps.web.service.classes import ClassScorer
from clearbands.apps.web.service.description import Source, describe_model, metric_labels, refusals
from clearbands.apps.web.service.endpoints import GUARDED, OPEN
from clearbands.apps.web.service.line import Line
from clearbands.apps.web.service.metrics import Metrics
from clearbands.apps.web.service.middleware import KnownHosts, Log, Token
from clearbands.apps.web.service.scoring import Scorer
from clearbands.apps.web.service.service import Service
from clearbands.apps.web.service.updates import Updates

if TYPE_CHECKING:
    from clearbands.apps.web.hosts import Hosts
    from clearbands.classifier import ClearClassifier
    from clearbands.regressor import ClearRegressor


def create_app(
    model: ClearRegressor | ClearClassifier,
    *,
    name: str = "model",
    versions: Mapping[str, str] | None = None,
    fingerprint: str | None = None,
    token: str | None = None,
    hosts: Hosts | None = None,
    limits: Limits | None = None,
    n_threads: int | None = None,
    allow_updates: bool = False,
    save: Callable[[ClearRegressor], None] | None = None,
) -> FastAPI:
    """A service for a model that was fitted on a table with column names.

    `name`, `versions` (those the model was saved with) and `fingerprint` (of its file) are for
    `/model` to tell. With a `token`, every path that tells of the model asks for it. With `hosts`,
    requests under other names are refused. `n_threads` predict at once, by default one per core.
    With `allow_updates`, which needs a token, `/update` takes rows with their true values, and
    `save` is called with the model after them.
    """
    source = Source(name, dict(versions or {}), fingerprint)
    service = _make_service(model, source, limits or Limits(), n_threads)
    if allow_updates:
        if not token:
            raise ValueError("Updates change the intervals of everyone: they need a token.")
        if isinstance(service.scorer, ClassScorer):
            raise ValueError("A model of classes cannot be updated: fit it again with the rows.")
        service = replace(service, updates=Updates(service.scorer.model, service.limits, save))
    app = FastAPI(
        title="clearbands",
        version=__version__,
        summary=_summary(service, name),
        docs_url=None,  # its page would load its scripts from elsewhere
        redoc_url=None,
        lifespan=_closing(service),
    )
    guard = [Depends(HTTPBearer(auto_error=False))]  # for the description; Token asks for it
    with_token: dict[str, Any] = {"responses": refusals(401), "dependencies": guard}
    for routes in GUARDED:  # first, so that the description begins with /predict
        app.include_router(routes(service), tags=["model"], **(with_token if token else {}))
    for routes in OPEN:
        app.include_router(routes(service), tags=["service"])
    app.add_exception_handler(Refusal, _refuse)
    app.add_exception_handler(HTTPException, _refuse_path)
    if token:
        app.add_middleware(Token, token=token)
    if hosts:
        app.add_middleware(KnownHosts, hosts=hosts)
    app.add_middleware(Log, metrics=service.metrics)  # the last one added is the first one passed
    return app


def _make_service(model: Any, source: Source, limits: Limits, n_threads: int | None) -> Service:
    features = row_features(model)
    is_classifier = hasattr(model, "classes_")
    scorer = (ClassScorer if is_classifier else Scorer)(model, features, limits)
    info = describe_model(model, features, limits, source)
    return Service(
        features=features,
        limits=limits,
        info=info,
        scorer=scorer,
        example=scorer.example(),  # compiles the kernels as well
        line=Line(limits, n_threads),
        bodies=Bodies(limits),
        metrics=Metrics(metric_labels(info)),
    )


def _summary(service: Service, name: str) -> str:
    if isinstance(service.scorer, ClassScorer):
        return f"Classes of {name}, and why they are uncertain."
    return f"Prediction intervals of {name}, and why they are wide."


def _closing(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.line.close()
        if service.updates is not None:
            service.updates.close()

    return lifespan


async def _refuse(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    headers = {"Retry-After": "1"} if refusal.status == 503 else None
    return _problem(refusal.to_json(), refusal.status, headers)


async def _refuse_path(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem({"detail": error.detail, "errors": []}, error.status_code, error.headers)


def _problem(problem: ProblemJson, status: int, headers: Mapping[str, str] | None) -> Response:
    # In ASCII: a wrong column may have a name that UTF-8 cannot carry.
    return Response(json.dumps(problem), status, headers, JSON)
