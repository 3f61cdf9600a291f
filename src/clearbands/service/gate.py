"""What every request passes: a log line without its data, and the token where one is set."""

from __future__ import annotations

import hmac
import json
import logging
import time
import traceback
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = ("/health",)
log = logging.getLogger("clearbands.service")


class Log:
    """One record per request: what was asked for, how it ended, how long it took.

    An error nobody foresaw is answered with 500 and logged by its type and place alone: its
    message may quote the data.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        record: dict[str, Any] = {"request_id": uuid4().hex, "method": scope["method"]}
        status, started = 0, time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", record["request_id"].encode()))
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:  # noqa: BLE001
            record |= {"error": type(error).__name__, "where": _place(error)}
            if status == 0:
                detail = f"Unexpected error; the log has it under {record['request_id']}."
                await _refuse(send_and_note, 500, detail)
        route = scope.get("route")
        record |= {"path": getattr(route, "path", None), "status": status}
        record |= scope.get("state", {}).get("log", {})
        record["seconds"] = round(time.perf_counter() - started, 6)
        level = logging.ERROR if "error" in record else logging.INFO
        log.log(level, "request", extra={"fields": record})


class Token:
    """401 without the token, save for the health check."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.expected = b"bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if scope["type"] == "http" and path not in OPEN_PATHS:
            scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            offered = scheme.lower() + b" " + given.strip()
            if not hmac.compare_digest(offered, self.expected):
                detail = "A bearer token is needed: send the header Authorization: Bearer TOKEN."
                await _refuse(send, 401, detail, (b"www-authenticate", b"Bearer"))
                return
        await self.app(scope, receive, send)


async def _refuse(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"detail": detail, "errors": []}).encode()
    types = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": types})
    await send({"type": "http.response.body", "body": body})


def _place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"
