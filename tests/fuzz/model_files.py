"""`load` on files with flipped, lost, added and exchanged bytes."""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import clearbands
from tests.fuzz.campaign import Target
from tests.served import COLUMNS, houses, small_model

MOST_SECONDS = 20


def attempt(rng: np.random.Generator) -> None:
    damaged = _damaged(bytearray(_whole()), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clear"
        path.write_bytes(damaged)
        started = time.monotonic()
        try:
            model = clearbands.load(path)
        except clearbands.ModelFileError:
            model = None
        seconds = time.monotonic() - started
    assert seconds < MOST_SECONDS, f"load took {seconds:.0f} s"
    if model is not None:
        _, intervals = model.predict_interval(houses(5, seed=3).select(COLUMNS))
        assert intervals.shape == (5, 2, 2), f"loaded, with intervals {intervals.shape}"


@cache
def _whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clear"
        clearbands.save(small_model(), path)
        return path.read_bytes()


def _damaged(content: bytearray, rng: np.random.Generator) -> bytes:
    way = rng.integers(5)
    place = int(rng.integers(len(content)))
    length = int(rng.integers(1, 200))
    if way == 0:
        for where in rng.integers(len(content), size=rng.integers(1, 9)):
            content[where] ^= 1 << int(rng.integers(8))
    elif way == 1:
        del content[place:]
    elif way == 2:
        del content[place : place + length]
    elif way == 3:
        content[place:place] = rng.bytes(length)
    else:
        other = int(rng.integers(len(content)))
        part = content[place : place + length]
        content[other : other + len(part)] = part
    return bytes(content)


TARGET = Target(
    "model files",
    "a damaged file is a `ModelFileError` within seconds, or loads and predicts",
    attempt,
)
