"""The entries of a model file, read once and within bounds, whatever the file claims to hold."""

from __future__ import annotations

import io
import math
import zipfile

import numpy as np

MB = 2**20
READ_AT_ONCE = 2**18
LARGEST_HEADER = 2**16
# Models unpack to 2 to 5 times their file, the most compressible of them to 30 times; a file made
# to exhaust memory unpacks to 1,000 times.
FREE_BYTES, BYTES_PER_BYTE = 64 * MB, 20
FREE_SCHEMA_BYTES, SCHEMA_BYTES_PER_BYTE = 8 * MB, 4


class UnsoundError(Exception):
    """Why a file is no model."""


class TooDenseError(UnsoundError):
    """A file that holds more than its size warrants."""


def copy_entries(source: zipfile.ZipFile, target: zipfile.ZipFile, size: int) -> None:
    """Copy all arrays and bytes, uncompressed, from a file of `size` bytes.

    Every array is as large as its own header says and none shrinks or grows on the way to memory.
    """
    entries = [info for info in source.infolist() if not info.filename.endswith(".json")]
    if len({info.filename for info in entries}) < len(entries):
        raise UnsoundError("two entries have one name.")
    room = FREE_BYTES + BYTES_PER_BYTE * size
    for info in entries:
        content = read_entry(source, info, room)
        room -= len(content) + _check_arrays(content, info.filename, room - len(content))
        target.writestr(info.filename, content)


def read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """The content of an entry, or an error as soon as it exceeds `most` bytes."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsoundError(f"{info.filename} is packed in a way that models are not.")
    parts, read = [], 0
    with archive.open(info) as entry:
        # Asked for a part at a time, zlib never unpacks more than that part.
        while part := entry.read(READ_AT_ONCE):
            read += len(part)
            if read > most:
                raise TooDenseError(f"{info.filename} unpacks to more than a model of its size.")
            parts.append(part)
    return b"".join(parts)


def schema_room(size: int) -> int:
    """The most bytes that the schema of a file of `size` bytes may have."""
    return FREE_SCHEMA_BYTES + SCHEMA_BYTES_PER_BYTE * size


def _check_arrays(content: bytes, name: str, room: int) -> int:
    """Raise for arrays that claim another size than they have; how much more they unpack to."""
    if name.endswith(".npy"):
        _check_array(content, name)
        return 0
    if not name.endswith(".npz"):
        return 0
    unpacked = 0
    with zipfile.ZipFile(io.BytesIO(content)) as nested:
        for info in nested.infolist():
            array = read_entry(nested, info, room - unpacked)
            unpacked += len(array)
            _check_array(array, f"{name}/{info.filename}")
    return unpacked


def _check_array(content: bytes, name: str) -> None:
    buffer = io.BytesIO(content)
    version = np.lib.format.read_magic(buffer)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(buffer)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(buffer)
    else:
        raise UnsoundError(f"{name} is an array in a format that models do not use.")
    claimed = math.prod(shape) * max(dtype.itemsize, 1)
    held = len(content) - buffer.tell()
    if min(shape, default=0) < 0 or claimed != held or dtype.hasobject:
        raise UnsoundError(f"{name} claims {claimed:,} bytes of values and holds {held:,}.")
