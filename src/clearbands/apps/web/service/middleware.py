"""What every request passes: a log line without its data, and the check of its Host."""

from __future__ import annotations

import logging
import re
import time
import traceback
from typing import TYPE_CHECKING
from uuid import uuid4

from clearbands.apps.web.refusals import Refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from clearbands.apps.web.hosts import Hosts
    from clearbands.apps.web.service.counters import Metrics

REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
log = logging.getLogger("clearbands.apps.web.service")


class Log:
    """One record per request, for the log and the metrics: what was asked for, how it ended, how
    long it took.

    The id that a client or a proxy gave the request is kept. An error nobody foresaw is answered
    with 500 and logged by its type and place alone: its message may quote the data.
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
    """403 for requests that ask for this service under a name that is not its own."""

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
    """A header of which there is one; of several, none is to be trusted."""
    values = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else ""


def _client_id(scope: Scope) -> str | None:
    header = _header(scope, b"x-request-id")
    return header if REQUEST_ID.fullmatch(header) else None


def _place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"
