"""Pools whose idle process is killed before the next tasks: `python -m benchmarks.killed_processes`

A round starts a pool of two processes, has one task done, kills the process that did it, and hands
out nine more tasks within two milliseconds. The pool may finish them or say that a process died,
but it must not wait forever. Compared are Python's own pool, joblib's (loky) and the processes of
`clearbands.scaling`.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ, DefaultSelector
from typing import Any

import numpy as np
from joblib.externals import loky
from joblib.externals.loky.backend import get_context

from benchmarks.tables import markdown
from clearbands.scaling.engines import LostWorkers, Processes

PATIENCE = 10.0  # the seconds to wait for a round, which takes less than one
PAUSES = tuple(np.linspace(0, 0.002, 21))  # the seconds between the death and the next tasks
N_TASKS = 9  # at most nine, so that a count is one digit


def kill(pid: int, pause: float) -> None:
    os.kill(pid, signal.SIGKILL)
    time.sleep(pause)


def in_a_pool(make_pool: Callable[[], Any], pause: float) -> int:
    finished = 0
    with make_pool() as pool, suppress(BrokenExecutor):
        kill(pool.submit(os.getpid).result(), pause)
        for future in [pool.submit(os.getpid) for _ in range(N_TASKS)]:
            finished += future.exception() is None
    return finished


def in_ours(pause: float) -> int:
    engine, finished = Processes(2), 0
    with suppress(LostWorkers):
        kill(*engine.run([os.getpid]), pause)
        for _ in engine.run([os.getpid] * N_TASKS):
            finished += 1
    engine.close()
    return finished


WAYS: dict[str, Callable[[float], int]] = {
    "Python's": partial(in_a_pool, partial(ProcessPoolExecutor, 2, get_context("loky"))),
    "joblib's": partial(in_a_pool, partial(loky.ProcessPoolExecutor, 2)),
    "ours": in_ours,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=63)
    parser.add_argument("--play", choices=list(WAYS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.play:
        play(WAYS[args.play], args.rounds)
        return
    header = [
        "processes",
        "rounds",
        "waited without end",
        "other errors",
        f"tasks done of {N_TASKS}",
    ]
    print(markdown(header, [watch(way, args.rounds) for way in WAYS]))


def play(way: Callable[[float], int], rounds: int) -> None:
    """Print for every round the number of tasks that were done, or a cross for another error."""
    for number in range(rounds):
        try:
            mark = str(way(PAUSES[number % len(PAUSES)]))
        except OSError:
            mark = "x"
        print(mark, end="", flush=True)


def watch(way: str, rounds: int) -> list[str]:
    marks = ""
    while len(marks) < rounds:
        marks += marks_of(way, rounds - len(marks))
        if len(marks) < rounds:
            marks += "?"
    done = [int(mark) for mark in marks if mark.isdigit()]
    return [way, *map(str, (rounds, marks.count("?"), marks.count("x"))), f"{np.mean(done):.1f}"]


def marks_of(way: str, rounds: int) -> str:
    """Return the marks of rounds in a process of their own, until a round does not end."""
    command = [sys.executable, "-m", __spec__.name, "--play", way, "--rounds", str(rounds)]
    player = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert player.stdout is not None
    pipe, marks = player.stdout.fileno(), ""
    with DefaultSelector() as selector:
        selector.register(pipe, EVENT_READ)
        while len(marks) < rounds and selector.select(PATIENCE):
            mark = os.read(pipe, 1).decode()
            if not mark:
                raise RuntimeError(f"A round of {way} processes failed in a way that is not known.")
            marks += mark
    with suppress(ProcessLookupError):
        os.killpg(player.pid, signal.SIGKILL)
    player.communicate()
    return marks


if __name__ == "__main__":
    main()
