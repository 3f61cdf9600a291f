"""Bytes of packed files are counted while they are unpacked."""

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from pathlib import Path

import polars as pl
import pytest

from clearbands.apps.reading.formats import TooLargeError, unpacked

MOST = 5_000_000
COLUMN = b"x\n" + b"0\n" * 25_000_000


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return packed.getvalue()


def as_parquet(content):
    packed = io.BytesIO()
    pl.DataFrame({"x": pl.zeros(len(content) // 2, eager=True)}).write_parquet(packed)
    return packed.getvalue()


def as_feather(content):
    packed = io.BytesIO()
    zeros = pl.DataFrame({"x": pl.zeros(len(content) // 2, eager=True)})
    zeros.write_ipc(packed, compression="zstd")
    return packed.getvalue()


PACKINGS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda content: lzma.compress(content, preset=0),
    "zip": zipped,
    "xlsx": zipped,
    "parquet": as_parquet,
    "feather": as_feather,
}


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_small_file_of_a_large_table_is_refused_before_it_fills_the_memory(ending):
    packed = PACKINGS[ending](COLUMN)
    assert len(packed) < MOST / 10
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError, match=rf"table.{ending} unpacks to more than the 5,000,"):
            unpacked(packed, Path(f"table.{ending}"), MOST)
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_table_within_the_limit_is_unpacked(ending):
    packed = PACKINGS[ending](COLUMN[:1000])
    content, _ = unpacked(packed, Path(f"table.{ending}"), MOST)
    assert content == (COLUMN[:1000] if ending in ("gz", "bz2", "xz", "zip") else packed)


def test_a_broken_file_is_left_to_its_reader():
    for ending in ("xlsx", "parquet", "feather"):
        packed = PACKINGS[ending](COLUMN[:1000])
        broken = packed[:-30] + b"\0" * 30
        assert unpacked(broken, Path(f"table.{ending}"), MOST)[0] == broken
