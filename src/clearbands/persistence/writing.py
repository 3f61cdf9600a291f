"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which replaces `path` if the block succeeds.

    If the block fails because of the file, the error names `path` and says what to do.
    """
    path = Path(os.path.realpath(path))  # a link stays a link
    unfinished = _temporary_path(path)
    try:
        yield unfinished
        os.replace(unfinished, path)
    except Exception as error:
        clearer = _writing_error(error, path, unfinished)
        if clearer is None:
            raise
        raise clearer from error
    finally:
        unfinished.unlink(missing_ok=True)


def is_disk_full(error: Exception) -> bool:
    """Whether a file could not be written for lack of room."""
    number = getattr(error, "errno", None)
    if number is not None:
        return number in NO_ROOM
    # NumPy says how much it could not write, and polars quotes the system, both without `errno`.
    signs = ("requested and", *(os.strerror(code) for code in NO_ROOM))
    return any(sign in str(error) for sign in signs)


def _writing_error(error: Exception, path: Path, unfinished: Path) -> OSError | None:
    """Return the error as one sentence about the file, or None if its reason is another one."""
    if is_disk_full(error):
        full = OSError(f"There is no room left to write {path}: free some, or write elsewhere.")
        full.errno = errno.ENOSPC
        return full
    if not isinstance(error, OSError) or str(error.filename) != str(unfinished):
        return None
    if not path.parent.is_dir():
        return FileNotFoundError(
            f"There is no folder {path.parent} for {path.name}: create it first."
        )
    return type(error)(f"{path} cannot be written ({error.strerror}): write elsewhere.")


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
