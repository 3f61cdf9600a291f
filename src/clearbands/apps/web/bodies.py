"""Read the bodies of requests, each within its limits and all of them within the memory."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal


class Bodies:
    """All bodies that are being read, of which the bytes that have arrived are counted."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.buffered = 0

    async def read(self, request: Request, until: float) -> bytes:
        """Return the body of a request, or refuse it.

        The status is 413 as soon as the body is known to be too long, 408 if it does not arrive in
        time, and 503 if the bodies of others leave no room for it.
        """
        limits = self.limits
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > limits.bytes:
            raise self._too_long()
        body = bytearray()
        try:
            async with asyncio.timeout_at(until):
                async for chunk in request.stream():
                    self._add_chunk(body, chunk)
        except ClientDisconnect as error:
            raise Refusal(400, "The client went away before the body was there.") from error
        except TimeoutError as error:
            raise Refusal(408, f"The body did not arrive within {limits.seconds:g} s.") from error
        finally:
            self.buffered -= len(body)
        return bytes(body)

    def _add_chunk(self, body: bytearray, chunk: bytes) -> None:
        if len(body) + len(chunk) > self.limits.bytes:
            raise self._too_long()
        if self.buffered + len(chunk) > self.limits.buffered_bytes:
            raise Refusal(503, "Too many long bodies are under way; try again in a moment.")
        body += chunk
        self.buffered += len(chunk)

    def _too_long(self) -> Refusal:
        return Refusal(413, f"The body is longer than the {self.limits.bytes:,} bytes allowed.")
