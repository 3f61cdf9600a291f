"""The work folder: finished work in files that appear whole or not at all.

A file lies in a folder whose name is a hash of everything that the file depends on: the data, the
parameters, the seed. If the file is whole, its work need not be done again. A file that was cut
short counts as absent, and a file whose bytes were changed is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.persistence.model_file import load, save
from clearbands.persistence.writing import atomic_path, is_disk_full

if TYPE_CHECKING:
    import polars as pl

READ_AT_ONCE = 2**20


@dataclass(frozen=True)
class Store:
    """A folder for files that depend on the same things."""

    folder: str

    def path(self, name: str) -> Path:
        return Path(self.folder) / name

    def subfolder(self, kind: str, **depends_on: Any) -> Store:
        """Return the subfolder for files that depend on these values.

        Equal values give the same folder.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Store(folder).subfolder("bins", rows=8) == Store(folder).subfolder("bins", rows=8)
        True
        """
        written = json.dumps(depends_on, sort_keys=True, default=_plain)
        key = hashlib.sha256(written.encode()).hexdigest()[:16]
        store = Store(str(self.path(f"{kind}-{key}")))
        if not store.path("key.json").exists():
            store.write_json("key.json", json.loads(written))
        return store

    def write_json(self, name: str, content: Any) -> None:
        with self.writing(name) as unfinished:
            unfinished.write_text(json.dumps(content, indent=1), "utf-8")

    def read_json(self, name: str) -> Any:
        return json.loads(self.path(name).read_text("utf-8"))

    def write_array(self, name: str, array: np.ndarray) -> None:
        """Write an array so that `map_array` can map it into memory."""
        with self.writing(name) as unfinished:
            np.save(unfinished, array)

    def map_array(self, name: str) -> np.ndarray:
        """Return an array whose values stay on disk until they are used."""
        return np.load(self.path(name), mmap_mode="r")

    def write_arrays(self, name: str, arrays: Mapping[str, Any]) -> None:
        with self.writing(name) as unfinished:
            np.savez(unfinished, **arrays)

    def read_arrays(self, name: str) -> dict[str, np.ndarray]:
        with np.load(self.path(name)) as arrays:
            return dict(arrays)

    def write_table(self, name: str, frame: pl.DataFrame) -> None:
        content = io.BytesIO()  # polars does not say when there is no room for a file
        frame.write_parquet(content)
        with self.writing(name) as unfinished:
            unfinished.write_bytes(content.getvalue())

    def write_part(self, name: str, part: Any, trusted: Sequence[str] = ()) -> None:
        """Write a model or a part of one; `trusted` is that of `clearbands.save`."""
        with self.writing(name) as unfinished:
            save(part, unfinished, trusted=trusted)

    def read_part(self, name: str, trusted: Sequence[str] = ()) -> Any:
        return load(self.path(name), trusted=trusted)

    def is_complete(self, name: str) -> bool:
        """Whether the file is there and was not cut short. Raises if its bytes were changed."""
        path = self.path(name)
        try:
            if _checksum_file(path).exists():
                return True
            size = path.stat().st_size
        except FileNotFoundError:
            return False
        if any(path.parent.glob(f"{escape(_checksum_name(path, size))}*")):
            raise ValueError(
                f"{path} was changed after it was written, as its checksum shows: delete it and "
                "run this again with the same work folder; what else is finished is kept."
            )
        return False

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """Yield a temporary path to write to; it becomes the file `name` if the block succeeds."""
        with self.explain_full_disk():
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(self.path(name)) as unfinished:
                yield unfinished
                _checksum_file(self.path(name), unfinished).touch()

    @contextmanager
    def explain_full_disk(self) -> Iterator[None]:
        """Say in one sentence that the disk is full, if that is why the block fails."""
        try:
            yield
        except OSError as error:
            if not is_disk_full(error):
                raise
            raise OSError(
                f"There is no room left for the work folder {self.folder}: free some and run it "
                "again with the same folder; what is finished is kept."
            ) from error


def _checksum_file(path: Path, written: Path | None = None) -> Path:
    """Return the path of the empty file that exists if the bytes of `path` are unchanged.

    Two workers may write the same file at once, with different bytes that mean the same. The
    checksum is part of the name of the empty file, so that each of them writes its own.
    """
    with (path if written is None else written).open("rb") as opened:
        size = checksum = 0
        while part := opened.read(READ_AT_ONCE):
            size += len(part)
            checksum = zlib.crc32(part, checksum)
    return path.with_name(f"{_checksum_name(path, size)}{checksum:08x}")


def _checksum_name(path: Path, size: int) -> str:
    return f".{path.name}.{size}."


def _plain(value: Any) -> Any:
    """Convert a value that JSON cannot hold to one that it can."""
    return value.item() if isinstance(value, np.generic) else str(value)
