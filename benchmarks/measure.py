"""The cost of a piece of work in this process.

The module only uses the standard library, because two environments import it.
"""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

STATUS = Path("/proc/self/status")


class Cost(NamedTuple):
    cpu_seconds: float  # the sum over all threads and child processes
    wall_seconds: float
    peak_mb: float  # the most memory that the process has held until now
    above_mb: float  # the most memory during the work, less the memory before


def measure(work: Callable[[], Any]) -> tuple[Any, Cost]:
    """Return the result of `work()` and its cost."""
    before, peak_before = _memory_mb("VmRSS"), peak_mb()
    _forget_peak()
    cpu, wall = cpu_seconds(), time.perf_counter()
    result = work()
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    peak = _memory_mb("VmHWM")
    return result, Cost(cpu, wall, max(peak, peak_before), peak - before)


def peak_mb() -> float:
    """Return the most memory that the process has held, in MB of 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def load_average() -> float:
    return os.getloadavg()[0]


def cpu_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _forget_peak() -> None:
    """Reset the peak of memory, so that importing and compiling are not counted."""
    Path("/proc/self/clear_refs").write_text("5")


def _memory_mb(field: str) -> float:
    found = re.search(rf"^{field}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{STATUS} has no field {field}; memory is measured on Linux only.")
    return int(found[1]) * 1024 / 1e6
