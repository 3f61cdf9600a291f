"""Who may talk to the page: browsers on this machine that show this very page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clearbands.apps.web.hosts import LOCAL_NAMES, Hosts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = Hosts(LOCAL_NAMES)
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


class LocalOnly:
    """403 for requests that name another host or come from another page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].extend(HEADERS)
            await send(message)

        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if HOSTS.allow(host) and origin in ("", f"http://{host}"):
            await self.app(scope, receive, send_guarded)
            return
        body = b"This page answers only to this machine, as localhost."
        start: Message = {"type": "http.response.start", "status": 403, "headers": []}
        await send_guarded(start)
        await send({"type": "http.response.body", "body": body})
