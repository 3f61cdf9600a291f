"""The queue of requests has a fixed number of places."""

from __future__ import annotations

import asyncio
import threading

import pytest

from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service import Limits
from clearbands.apps.web.service.request_queue import RequestQueue


def test_without_a_free_thread_or_place_it_is_503():
    line = RequestQueue(Limits(seconds=0.1, requests=1))
    busy = threading.Event()
    for _ in range(line.threads._max_workers):
        line.threads.submit(busy.wait)

    async def ask():
        return await line.run(lambda: 1, asyncio.get_running_loop().time() + 0.05)

    with pytest.raises(Refusal, match="No core was free") as refused:
        asyncio.run(ask())
    assert refused.value.status == 503
    busy.set()
    with (
        line.place(),
        pytest.raises(Refusal, match="Too many requests") as refused,
        line.place(),
    ):
        pass
    assert refused.value.status == 503
    with line.place():  # the place is free again
        assert asyncio.run(ask()) == 1
    line.close()
