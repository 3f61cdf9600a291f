"""The entries of a model file and the tree of its states, which are read once and within bounds.

A file may come from anyone, so that both are checked before anything is built from them, whatever
the file claims to hold. The tree of states must not be larger than the size of the file allows. One
number must always stand for one state; otherwise a few lines could refer to each other until the
audit of their types takes years. Each array must belong to one object; otherwise a small one could
be loaded a million times.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from typing import Any

import numpy as np

MB = 2**20
READ_AT_ONCE = 2**18
LARGEST_HEADER = 2**16
# Models unpack to 2 to 5 times their file, the most compressible of them to 30 times; a file made
# to exhaust memory unpacks to 1,000 times.
FREE_BYTES, BYTES_PER_BYTE = 64 * MB, 20
FREE_SCHEMA_BYTES, SCHEMA_BYTES_PER_BYTE = 8 * MB, 4


class UnsoundError(Exception):
    """A file is not a model; the message says why."""


class TooDenseError(UnsoundError):
    """A file holds more than a model of its size can."""


def copy_entries(source: zipfile.ZipFile, target: zipfile.ZipFile, size: int) -> None:
    """Copy all arrays and bytes, uncompressed, from a file of `size` bytes.

    Raise unless every array is as large as its own header says.
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
    """Return the content of an entry; raise as soon as it exceeds `most` bytes."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsoundError(f"{info.filename} is packed in a way that models are not.")
    parts, read = [], 0
    with archive.open(info) as entry:
        # If one part is read at a time, zlib never unpacks more than that part.
        while part := entry.read(READ_AT_ONCE):
            read += len(part)
            if read > most:
                raise TooDenseError(f"{info.filename} unpacks to more than a model of its size.")
            parts.append(part)
    return b"".join(parts)


def schema_room(size: int) -> int:
    """Return the most bytes that the schema of a file of `size` bytes may have."""
    return FREE_SCHEMA_BYTES + SCHEMA_BYTES_PER_BYTE * size


def _check_arrays(content: bytes, name: str, room: int) -> int:
    """Raise for arrays that claim another size than they have; return the bytes they unpack to."""
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


FREE_STATES, BYTES_PER_STATE = 20_000, 20
NOT_SHAPE = frozenset({"__id__", "file"})  # keys that may differ between two states of one object


def check_schema(schema: dict[str, Any], size: int) -> None:
    """Raise unless the tree is sound for a file of `size` bytes."""
    _SchemaCheck(FREE_STATES + size // BYTES_PER_STATE).digest(schema)


class _SchemaCheck:
    def __init__(self, most: int) -> None:
        self.left = most
        self.shapes: dict[int, bytes] = {}
        self.owners: dict[str, int] = {}

    def digest(self, value: Any) -> bytes:
        """Return a hash that is equal for states of the same shape, whatever their numbers."""
        if isinstance(value, dict):
            parts = {k: self.digest(v) for k, v in value.items() if k not in NOT_SHAPE}
            for key in NOT_SHAPE & value.keys():  # keys of a user's dictionary, not of a state
                if isinstance(value[key], dict):
                    parts[key] = self.digest(value[key])
            digest = _hash("{", *(bit for key in sorted(parts) for bit in (key, parts[key])))
            self._check_state(value, digest)
            return digest
        if isinstance(value, list):
            return _hash("[", *map(self.digest, value))
        return f"{type(value).__name__} {value}".encode("utf-8", "surrogatepass")

    def _check_state(self, value: dict[str, Any], shape: bytes) -> None:
        is_state = isinstance(value.get("__loader__"), str)
        number = value.get("__id__")
        if not is_state:
            if "__id__" in value and not isinstance(number, dict):
                raise UnsoundError("A part refers to another instead of being written out.")
            return
        self.left -= 1
        if self.left < 0:
            raise TooDenseError("It has more parts than a model of its size.")
        if type(number) is not int:
            raise UnsoundError(f"{number!r} is no number of a part.")
        if self.shapes.setdefault(number, shape) != shape:
            raise UnsoundError(f"Two different parts have the number {number}.")
        if self.owners.setdefault(str(value.get("file", number)), number) != number:
            raise UnsoundError(f"{value['file']} belongs to two parts.")


def _hash(*parts: str | bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.digest()
