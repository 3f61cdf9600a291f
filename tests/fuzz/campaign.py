"""Cases one after the other until the time is up, and what came of them."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Target(NamedTuple):
    """Something that is attacked: `attempt` makes one case and raises if a promise is broken.

    What it returns is a measurement; `judge` gets those of all cases, and raises if together they
    break a promise that no case by itself can.
    """

    name: str
    promise: str
    attempt: Callable[[np.random.Generator], Any]
    judge: Callable[[list[Any]], None] | None = None


class Outcome(NamedTuple):
    """What came of the cases."""

    target: Target
    cases: int
    seconds: float
    broken: dict[int | str, str]  # by seed: what happened


def run(target: Target, seconds: float, *, first: int = 0, most: int | None = None) -> Outcome:
    """Cases of the seeds `first`, `first` + 1, ... for so long, or `most` of them."""
    started = time.monotonic()
    broken: dict[int | str, str] = {}
    measured = []
    cases = 0
    while time.monotonic() - started < seconds and (most is None or cases < most):
        seed = first + cases
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                measured.append(target.attempt(np.random.default_rng(seed)))
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            broken[seed] = traceback.format_exc()
        cases += 1
    if target.judge is not None:
        try:
            target.judge(measured)
        except AssertionError as error:
            broken["all together"] = str(error)
    return Outcome(target, cases, time.monotonic() - started, broken)


def table(outcomes: list[Outcome]) -> str:
    lines = ["| what | promise | cases | broken |", "|---|---|---:|---:|"]
    for outcome in outcomes:
        name, promise = outcome.target[:2]
        lines.append(f"| {name} | {promise} | {outcome.cases:,} | {len(outcome.broken):,} |")
    return "\n".join(lines)
