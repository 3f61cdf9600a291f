"""The schema of a model file: the tree of states from which its objects are rebuilt.

A file is made by whoever sends it, so the tree is checked before anything is built from it: that
it is no larger than the file warrants, that one number always stands for one state (or else a few
lines could refer to each other until the audit of their types takes years), and that each array
belongs to one object (or else a small one could be loaded a million times).
"""

from __future__ import annotations

import hashlib
from typing import Any

from clearbands.persistence.archive import TooDenseError, UnsoundError

FREE_STATES, BYTES_PER_STATE = 20_000, 20
NOT_SHAPE = frozenset({"__id__", "file"})  # what may differ between two states of one object


def check_schema(schema: dict[str, Any], size: int) -> None:
    """Raise unless the tree is sound for a file of `size` bytes."""
    _Walk(FREE_STATES + size // BYTES_PER_STATE).digest(schema)


class _Walk:
    def __init__(self, most: int) -> None:
        self.left = most
        self.shapes: dict[int, bytes] = {}
        self.owners: dict[str, int] = {}

    def digest(self, value: Any) -> bytes:
        """The same for states of the same shape, whatever their numbers and files."""
        if isinstance(value, dict):
            parts = {k: self.digest(v) for k, v in value.items() if k not in NOT_SHAPE}
            for key in NOT_SHAPE & value.keys():  # of a user's dictionary, not of a state
                if isinstance(value[key], dict):
                    parts[key] = self.digest(value[key])
            found = _hash("{", *(bit for key in sorted(parts) for bit in (key, parts[key])))
            self._check_state(value, found)
            return found
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
