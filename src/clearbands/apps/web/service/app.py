"""The web app of the service, which predicts with one model over HTTP."""

from __future__ import annotations

import hmac
import logging
import re
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from clearbands import __version__
from clearbands.apps.reading.features import request_features, row_features
from clearbands.apps.task import Classification, task_of
from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.contract import question_model, refusals, wrong_question
from clearbands.apps.web.service.counters import Metrics
from clearbands.apps.web.service.description import Source, describe_model, metric_labels
from clearbands.apps.web.service.request_queue import RequestQueue
from clearbands.apps.web.service.routes import Service, guarded_routes, open_routes
from clearbands.apps.web.service.scoring import Scorer
from clearbands.apps.web.service.updates import Updates

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from clearbands.apps.web.hosts import Hosts
    from clearbands.apps.web.service.counters import Metrics
    from clearbands.classifier import ClearClassifier
    from clearbands.regressor import ClearRegressor

BEARER = HTTPBearer(auto_error=False)


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
    """Create the service of a model that was fitted on a table with column names.

    `/model` tells `name`, `versions` (of the packages that saved the model) and `fingerprint` (of
    its file). With a `token`, every path that tells of the model asks for it. With `hosts`,
    requests under other names are refused. `n_threads` predict at once, by default one per core.
    With `allow_updates`, which needs a token, `/update` takes rows with their true values, and
    `save` is called with the model after them.
    """
    task, limits = task_of(model), limits or Limits()
    features = row_features(task.model)
    scorer = Scorer(task, request_features(task.model), limits)
    info = describe_model(task, features, limits, Source(name, dict(versions or {}), fingerprint))
    updates = None
    if allow_updates:
        if not token:
            raise ValueError("Updates change the intervals of everyone: they need a token.")
        if isinstance(task, Classification):
            raise ValueError("A model of classes cannot be updated: fit it again with the rows.")
        updates = Updates(task.model, limits, save)
    service = Service(
        scorer,
        info,
        scorer.example(),  # compiles the kernels as well
        RequestQueue(limits, n_threads),
        Bodies(limits),
        Metrics(metric_labels(info)),
        limits,
        updates,
    )
    what = "Prediction intervals" if info.classes is None else "Classes"
    why = "wide" if info.classes is None else "uncertain"
    app = FastAPI(
        title="clearbands",
        version=__version__,
        summary=f"{what} of {name}, and why they are {why}.",
        openapi_url=None,  # this path would need no token
        docs_url=None,  # its page would load its scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan_of(service),
    )
    guard = guard_of(token)
    app.include_router(
        guarded_routes(service, app),
        dependencies=[Depends(guard)] if token else [],
        responses=refusals(401) if token else {},
    )
    app.include_router(open_routes(service))

    @app.exception_handler(HTTPException)
    async def refuse_path(request: Request, error: HTTPException) -> Response:
        try:
            await guard(await BEARER(request))  # without the token nobody learns which paths exist
        except Refusal as refusal:
            return await _refuse(request, refusal)
        return Refusal(error.status_code, error.detail).response(error.headers)

    @app.exception_handler(RequestValidationError)
    async def refuse_question(request: Request, error: RequestValidationError) -> Response:
        known = question_model(task).model_fields
        return await _refuse(request, Refusal(422, wrong_question(error.errors()[0], known)))

    app.exception_handler(Refusal)(_refuse)
    if hosts:
        app.add_middleware(KnownHosts, hosts=hosts)
    app.add_middleware(Log, metrics=service.metrics)  # the last one added is the first one passed
    return app


def guard_of(token: str | None) -> Callable[..., Any]:
    """Return a function that refuses requests without the token with 401."""

    async def guard(
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
    ) -> None:
        offered = credentials.credentials if credentials else ""
        if token and not hmac.compare_digest(offered.encode(), token.encode()):
            raise Refusal(
                401, "A bearer token is needed: send the header Authorization: Bearer TOKEN."
            )

    return guard


def _lifespan_of(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.queue.close()
        if service.updates is not None:
            service.updates.close()

    return lifespan


ADVICE = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}


async def _refuse(_: Request, refusal: Refusal) -> Response:
    return refusal.response(ADVICE.get(refusal.status))


REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
log = logging.getLogger("clearbands.apps.web.service")


class Log:
    """A layer that records every request for the log and the metrics: path, status and time.

    The id that a client or a proxy gave the request is kept. An unexpected error is answered with
    500 and logged by its type and place alone, because its message may quote the data.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _client_id(scope) or uuid4().hex
        record: dict[str, object] = {"request_id": request_id, "method": scope["method"]}
        status, started = 0, time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", request_id.encode()))
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:  # noqa: BLE001
            record |= {"error": type(error).__name__, "where": _place(error)}
            if status == 0:
                detail = f"Unexpected error; the log has it under {request_id}."
                await Refusal(500, detail).response()(scope, receive, send_and_note)
        seconds = time.perf_counter() - started
        path = getattr(scope.get("route"), "path", None)
        record |= {"path": path, "status": status}
        record |= scope.get("state", {}).get("log", {})
        record["seconds"] = round(seconds, 6)
        self.metrics.count_request(path, status, seconds)
        level = logging.ERROR if "error" in record else logging.INFO
        log.log(level, "request", extra={"fields": record})


class KnownHosts:
    """A layer that refuses with 403 requests under a name that is not the service's own."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.hosts.allow(_header(scope, b"host")):
            detail = (
                "Without a token the service answers only under its address and under the names "
                "that --allow-host lists: use the address, or start it with --allow-host NAME."
            )
            await Refusal(403, detail).response()(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _header(scope: Scope, name: bytes) -> str:
    """Return a header that a request has once, else "": of several none is to be trusted."""
    values = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else ""


def _client_id(scope: Scope) -> str | None:
    header = _header(scope, b"x-request-id")
    return header if REQUEST_ID.fullmatch(header) else None


def _place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"
