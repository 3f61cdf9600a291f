"""Cases one after the other until the time is up, and what came of them."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Target(NamedTuple):
    """Something that is attacked: `attempt` makes one case and raises if a promise is broken."""

    name: str
    promise: str
    attempt: Callable[[np.random.Generator], None]


class Outcome(NamedTuple):
    """What came of the cases."""

    target: Target
    cases: int
    seconds: float
    broken: dict[int, str]  # by seed: what happened


def run(target: Target, seconds: float, *, first: int = 0, most: int | None = None) -> Outcome:
    """Cases of the seeds `first`, `first` + 1, ... for so long, or `most` of them."""
    started = time.monotonic()
    broken: dict[int, str] = {}
    cases = 0
    while time.monotonic() - started < seconds and (most is None or cases < most):
        seed = first + cases
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                target.attempt(np.random.default_rng(seed))
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            broken[seed] = traceback.format_exc()
        cases += 1
    return Outcome(target, cases, time.monotonic() - started, broken)


def table(outcomes: list[Outcome]) -> str:
    lines = ["| what | promise | cases | broken |", "|---|---|---:|---:|"]
    for outcome in outcomes:
        name, promise, _ = outcome.target
        lines.append(f"| {name} | {promise} | {outcome.cases:,} | {len(outcome.broken):,} |")
    return "\n".join(lines)
