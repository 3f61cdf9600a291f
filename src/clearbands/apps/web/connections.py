"""Connections that do not wait for ever for headers, for idle clients or for slow bodies.

Uvicorn waits for the end of a header without a limit. Here a client gets some seconds for it, and
when there are too many connections the one that has kept the server waiting longest makes room.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from clearbands.apps.web.limits import Patience


class LimitedProtocol(H11Protocol):
    """HTTP on one connection, until its client has kept the server waiting for too long."""

    patience = Patience()
    is_leaving = False  # because another process takes over

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.waiting_since = self.loop.time()
        self.header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_header()
        self._close_longest_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        was_idle = self.conn.their_state is h11.IDLE
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_header_timer()
            if was_idle:  # now the server waits for the body
                self.waiting_since = self.loop.time()
        elif self.header_timer is None:  # the first bytes of another request
            self._wait_for_header()

    def shutdown(self) -> None:
        """Close the connection, after the answer if one is under way.

        Where another process takes over, the next answer tells the client to connect again: to
        close the connection without a word may lose the request that is on its way.
        """
        if not self.is_leaving:
            super().shutdown()
            return
        if CLOSE_HEADER not in self.server_state.default_headers:
            self.server_state.default_headers.append(CLOSE_HEADER)
        if self.cycle is not None and not self.cycle.response_started:
            self.cycle.default_headers = self.server_state.default_headers

    def on_response_complete(self) -> None:
        self.waiting_since = self.loop.time()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn, as a request has not arrived or not all of it."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _wait_for_header(self) -> None:
        self.waiting_since = self.loop.time()
        self.header_timer = self.loop.call_later(self.patience.header_seconds, self.transport.close)

    def _stop_header_timer(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
            self.header_timer = None

    def _close_longest_waiting(self) -> None:
        still_open = [
            other
            for other in self.connections
            if isinstance(other, LimitedProtocol) and not other.transport.is_closing()
        ]
        if len(still_open) > self.patience.connections:
            waiting = [other for other in still_open if other.is_waiting]
            min(waiting, key=lambda other: other.waiting_since).transport.abort()


def limited_protocol(patience: Patience) -> type[LimitedProtocol]:
    """Return a class for `uvicorn.Config(http=...)`, one of its own for each server."""

    class OwnProtocol(LimitedProtocol):
        pass

    OwnProtocol.patience = patience
    return OwnProtocol
