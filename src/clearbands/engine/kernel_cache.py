"""Compiled kernels, kept on disk from one process to the next.

numba's own cache asks whether the file of a kernel has changed, not whether the files of the
functions it calls have: after an update old numbers could come back. Here the name of a cached
kernel holds a digest of all sources it can be made of, so an old one is never found. Nor does a
fit ever fail because of the cache: what is cut or damaged is compiled again, and where no folder
can be written to, kernels are compiled in every process.

A wheel can bring kernels along that run on any processor of a kind (`PORTABLE`): they are taken
where none was compiled for the processor at hand, so that nobody has to wait for the first fit.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

ENGINE = Path(__file__).parent
SUFFIX = ".kernel"
TAG = sys.implementation.cache_tag
CHECKSUM_BYTES = 32  # of SHA-256
PORTABLE = (
    "x86_64-unknown-linux-gnu",
    "x86-64-v3",
    "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse4.1,+sse4.2,+ssse3",
)
"""The system, the processor and its features for which a wheel brings kernels along."""


class KernelCache(_Cache):
    """The cache that numba's dispatcher asks for a compiled version before it compiles one.

    A file is a checksum, then numba's own form of a compiled function. Its name is the name of
    the kernel, the kind of Python, the digest of the sources, and a digest of the types of the
    arguments and of the processor.
    """

    takes_portable = True  # `clearbands warm` sets False and compiles for the processor at hand

    def __init__(self, function: Callable[..., Any]) -> None:
        self._home = Path(function.__code__.co_filename).parent
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._digest = source_digest(self._home, ENGINE)
        self.enable()

    @property
    def cache_path(self) -> str:
        return str(next(_named_folders(self._home)))

    def enable(self) -> None:
        self._enabled = self._digest is not None

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Forget every version of this kernel that this process would load."""
        for folder in _folders_to_read(self._home):
            for path in folder.glob(f"{self._name}.{TAG}-{self._digest}-*{SUFFIX}"):
                _remove(path)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled version for these types, or None."""
        if not self._enabled:
            return None
        target.refresh()
        processor = target.codegen().magic_tuple()
        name = self._file_name(signature, processor)
        paths = [folder / name for folder in _folders_to_read(self._home)]
        if self.takes_portable and _runs_portable(*processor):
            paths.append(_portable_folder(self._home) / self._file_name(signature, PORTABLE))
        for path in paths:
            payload = _read(path)
            if payload is not None:
                return CompileResult._rebuild(target, *pickle.loads(payload))
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled version in the first folder that can be written to."""
        if not self._enabled or compiled.lifted or compiled.library.has_dynamic_globals:
            return
        payload = dumps(compiled._reduce())
        processor = compiled.library.codegen.magic_tuple()
        name = self._file_name(signature, processor)
        is_portable = processor == PORTABLE
        portable = [_portable_folder(self._home)]
        for folder in portable if is_portable else _folders_to_write(self._home):
            if _write(folder / name, payload):
                _remove_older(folder, f"{TAG}-{self._digest}-")
                return

    def _file_name(self, signature: Any, processor: tuple[str, str, str]) -> str:
        key = hashlib.sha256(repr((str(signature), processor)).encode()).hexdigest()
        return f"{self._name}.{TAG}-{self._digest}-{key[:16]}{SUFFIX}"


def _portable_folder(home: Path) -> Path:
    return home / "kernels"


def _runs_portable(system: str, processor: str, abilities: str) -> bool:
    """Whether what was compiled for `PORTABLE` runs here."""
    return system == PORTABLE[0] and set(PORTABLE[2].split(",")) <= set(abilities.split(","))


def source_digest(*folders: Path) -> str | None:
    """Return a digest of all Python files in the folders and of the compiler; None without files.

    It is taken when a kernel is defined, not when it is compiled: a file may change in between.
    """
    parts = [_folder_digest(folder) for folder in dict.fromkeys(folders)]
    if None in parts:
        return None
    versions = numba.__version__, llvmlite.__version__
    return hashlib.sha256(repr((parts, versions)).encode()).hexdigest()[:16]


@cache
def _folder_digest(folder: Path) -> str | None:
    paths = sorted(folder.glob("*.py"))
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest() if paths else None


def _folders_to_read(home: Path) -> Iterator[Path]:
    """Yield the folders in which kernels of the sources in `home` may lie, the preferred first.

    The user may be unable to write to some: whoever installed may have compiled for everybody.
    """
    yield from _named_folders(home)
    if _is_private(_temporary_folder()):
        yield _temporary_folder() / _short_digest(home)


def _folders_to_write(home: Path) -> Iterator[Path]:
    yield from _named_folders(home)
    with suppress(OSError):
        _temporary_folder().mkdir(mode=0o700, exist_ok=True)
    if _is_private(_temporary_folder()):
        yield _temporary_folder() / _short_digest(home)


def _named_folders(home: Path) -> Iterator[Path]:
    # Folders that several installations share hold one folder for each of them.
    chosen = getattr(numba.config, "CACHE_DIR", "")  # NUMBA_CACHE_DIR; numba sets it at run time
    if chosen:
        yield Path(chosen) / f"clearbands-{_short_digest(home)}"
    yield home / "__pycache__"
    caches = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    folder = Path(caches or os.path.expanduser("~/.cache"))
    if folder.is_absolute():  # where no home is known, `~` stays as it is
        yield folder / "clearbands" / _short_digest(home)


def _short_digest(home: Path) -> str:
    return hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]


def _temporary_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"clearbands-kernels-{user}"


def _is_private(folder: Path) -> bool:
    """Whether nobody else can have put files into the folder, as its files are executed."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return stat.S_ISDIR(status.st_mode)  # Windows gives every user a temporary folder
    others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not others_write


def _read(path: Path) -> bytes | None:
    """Return what was written, or None where a file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, payload = content[:CHECKSUM_BYTES], content[CHECKSUM_BYTES:]
    return payload if hashlib.sha256(payload).digest() == checksum else None


def _write(path: Path, payload: bytes) -> bool:
    """Write a file and return whether it worked. Others see the whole file or none."""
    part = path.with_name(f"{path.name}.{uuid4().hex[:8]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(hashlib.sha256(payload).digest() + payload)
        part.replace(path)
    except OSError:
        _remove(part)
        return False
    return True


def _remove_older(folder: Path, current: str) -> None:
    """Remove the kernels that the same kind of Python compiled from other sources."""
    for path in folder.glob(f"*.{TAG}-*{SUFFIX}"):
        if f".{current}" not in path.name:
            _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
