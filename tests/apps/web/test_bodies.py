"""Bodies of requests that do not arrive."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from starlette.requests import ClientDisconnect

from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service import Limits


def test_a_client_that_leaves_is_no_error():
    class Gone:
        headers: ClassVar = {}

        async def stream(self):
            yield b"{"
            raise ClientDisconnect

    async def read():
        return await Bodies(Limits()).read(Gone(), asyncio.get_running_loop().time() + 5)

    with pytest.raises(Refusal, match="went away"):
        asyncio.run(read())


def test_a_body_that_does_not_come_is_408():
    class Slow:
        headers: ClassVar = {}

        async def stream(self):
            yield b"{"
            await asyncio.sleep(60)

    async def read():
        return await Bodies(Limits()).read(Slow(), asyncio.get_running_loop().time() + 0.05)

    with pytest.raises(Refusal, match="did not arrive") as refused:
        asyncio.run(read())
    assert refused.value.status == 408
