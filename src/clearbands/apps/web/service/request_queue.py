"""The line that requests wait in, and the threads that do their work."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal

Result = TypeVar("Result")


class RequestQueue:
    """The threads that predict, by default one per core, and the requests that wait for them.

    As kernels release the GIL, they run on several cores at once.
    """

    def __init__(self, limits: Limits, n_threads: int | None = None) -> None:
        self.limits = limits
        self.under_way = 0
        self.threads = ThreadPoolExecutor(
            n_threads or os.cpu_count(), thread_name_prefix="clearbands"
        )

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place in line, or refuse with 503 when all are taken."""
        if self.under_way >= self.limits.requests:
            raise Refusal(503, "Too many requests are under way; try again in a moment.")
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1

    async def run(self, work: Callable[[], Result], until: float) -> Result:
        """Return `work()`; refuse with 503 if no thread is free in time, 504 if it takes too long.

        A thread cannot be stopped: work that takes too long keeps its thread until it is done.
        """
        future = self.threads.submit(work)
        try:
            async with asyncio.timeout_at(until):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            allowed = f"the {self.limits.seconds:g} s allowed"
            if future.cancelled():
                raise Refusal(503, f"No core was free within {allowed}; try later.") from error
            raise Refusal(504, f"The prediction took longer than {allowed}.") from error

    def close(self) -> None:
        self.threads.shutdown()
