"""Packed tables of any size: no more bytes are unpacked than allowed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np

from clearbands.apps.reading.formats import TooLargeError, unpacked
from tests.fuzz.campaign import Target

SLACK = 8 * 2**20  # the bytes that readers need themselves


def attempt(rng: np.random.Generator) -> None:
    ending = str(rng.choice(list(PACKINGS)))
    line = rng.bytes(rng.integers(1, 30)).hex().encode() + b"\n"
    content = line * int(10 ** rng.uniform(0, 6))
    packed = PACKINGS[ending](content)
    if rng.random() < 0.2:  # a damaged file may be refused, but never exceeds the limit
        place = int(rng.integers(len(packed)))
        packed = packed[:place] + rng.bytes(1) + packed[place + int(rng.integers(2)) :]
    most = int(10 ** rng.uniform(1, 7))
    tracemalloc.start()
    try:
        got = unpacked(packed, Path(f"table.{ending}"), most)[0]
        assert len(got) <= most, f"{len(got)} bytes where {most} are allowed"
    except TooLargeError:
        assert len(content) > most
    except ValueError as error:
        assert "cannot be unpacked" in str(error)  # noqa: PT017 - what it says is the promise
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3 * most + SLACK, f"{peak:,} bytes in memory for {most:,}"


def _zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return packed.getvalue()


PACKINGS = {
    "csv.gz": lambda content: gzip.compress(content, 1),
    "csv.bz2": lambda content: bz2.compress(content, 1),
    "csv.xz": lambda content: lzma.compress(content, preset=0),
    "zip": _zipped,
}
TARGET = Target(
    "packed tables", "no more is unpacked than is allowed, whatever the file says", attempt
)
