"""Run compiled kernels on threads, so that Ctrl-C is seen while they work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
from joblib import effective_n_jobs

from clearbands.progress import report


def run_threads(
    task: Callable[[int, np.ndarray], None], count: int, *, n_jobs: int | None, stage: str
) -> None:
    """Call `task(i, stop)` for i in range(count).

    Tasks write their results in place, so the order in which they end changes nothing. `stop` is
    an array of one byte: a kernel looks at it now and then and returns early once it is not zero.
    The kernels release the GIL and the calling thread only waits, also when there is one worker:
    an interrupt reaches it at once and stops them all.
    """
    stop = np.zeros(1, np.uint8)
    with ThreadPoolExecutor(max_workers=max(1, min(effective_n_jobs(n_jobs), count))) as pool:
        try:
            futures = [pool.submit(task, i, stop) for i in range(count)]
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                report(stage, done, count)
        except BaseException:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
            raise
