"""A campaign: cases run one after the other until the time is up."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Target(NamedTuple):
    """A promise that is attacked: `attempt` makes one case and raises if the promise is broken.

    `attempt` returns a measurement. `judge` gets the measurements of all cases, and raises if
    together they break the promise.
    """

    name: str
    promise: str
    attempt: Callable[[np.random.Generator], Any]
    judge: Callable[[list[Any]], None] | None = None


class Outcome(NamedTuple):
    """The results of the cases of one target."""

    target: Target
    cases: int
    seconds: float
    broken: dict[int | str, str]  # the traceback of each broken case, by its seed


def run(target: Target, seconds: float, *, first: int = 0, most: int | None = None) -> Outcome:
    """Run cases of the seeds `first`, `first` + 1, ... for so many seconds, `most` at the most."""
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
