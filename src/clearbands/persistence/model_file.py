"""Models in one file, from which no code runs when it is loaded."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from clearbands.persistence.archive import (
    LARGEST_HEADER,
    TooDenseError,
    check_schema,
    copy_entries,
    read_entry,
    schema_room,
)
from clearbands.persistence.indices import check_compiled
from clearbands.persistence.trust import is_missing, is_trusted
from clearbands.persistence.writing import atomic_path
from clearbands.rows.messages import warn

FORMAT = 1  # it is raised when older versions can no longer read new files
HEADER = "clearbands.json"
SCHEMA = "schema.json"
IN_MEMORY = 2**26  # the most bytes of unpacked entries in memory; more go to a temporary file


class ModelFileError(ValueError):
    """Raised for a file that this version cannot read, and for a model that cannot be saved.

    >>> import clearbands
    >>> clearbands.load("nowhere.clear")
    Traceback (most recent call last):
        ...
    clearbands.persistence.model_file.ModelFileError: There is no file nowhere.clear.
    """


def save(model: Any, path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> None:
    """Write `model` to one file; the file appears whole or not at all.

    The file is read back before it takes its name: what `load` would refuse, `save` refuses with
    a `ModelFileError` that says why. A model with parts of your own needs their full names in
    `trusted`, here as in `load`.

    >>> import clearbands, tempfile
    >>> calibrator = clearbands.FixedRatioCalibrator(0.5).fit(
    ...     [1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [[1, 1]] * 3, [[1, 1]] * 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clearbands.save(calibrator, f"{folder}/model.clear")
    ...     clearbands.load(f"{folder}/model.clear").gamma1_
    1.0
    """
    with _as_model_file_error("This model cannot be saved"):
        packed = _pack(model, zipfile.ZIP_DEFLATED)
        try:
            _unpack(io.BytesIO(packed), len(packed), trusted)
        except TooDenseError:
            # The model is so regular that it packs tighter than `load` accepts: do not compress it.
            packed = _pack(model, zipfile.ZIP_STORED)
            _unpack(io.BytesIO(packed), len(packed), trusted)
    with atomic_path(Path(path)) as unfinished:
        unfinished.write_bytes(packed)


def load(
    path: str | os.PathLike[str], kind: type[Any] | None = None, *, trusted: Sequence[str] = ()
) -> Any:
    """Read a model that `save` wrote.

    `kind` is the class that the file must hold, as in `load("kinds.clear", ClearClassifier)`: a
    file with a model of another class is refused, and type checkers know what is returned. Without
    it a model of any class is returned, which type checkers take for a `ClearRegressor`.

    Only types of clearbands, scikit-learn, NumPy and the stock backends are rebuilt. A model
    with parts of your own needs their full names in `trusted`: their constructors are not
    called, but their state is restored, so name only types that you know.

    Any other file gives a `ModelFileError` and takes memory of the order of its size; so does one
    whose trees name columns, nodes or leaves that do not exist, and one that a newer version of
    clearbands wrote. A warning is given if it was written with another version of scikit-learn. No
    code of a file runs, but the file decides what its model predicts: load files only from people
    whom you trust.

    >>> import clearbands, tempfile
    >>> ones = [[1.0, 1.0]] * 4
    >>> model = clearbands.FixedRatioCalibrator(0.6).fit([2, 4, 6, 8], [0] * 4, ones, ones)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clearbands.save(model, f"{folder}/model.clear")
    ...     again = clearbands.load(f"{folder}/model.clear")
    >>> again.gamma1_ == model.gamma1_
    True
    """
    header = read_header(path)
    _warn_of_other_versions(path, header)
    with _as_model_file_error(f"{path} is damaged (written by clearbands {header['clearbands']})"):
        model = _unpack(Path(path), os.path.getsize(path), trusted)
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}, not a {kind.__name__}: give the file of "
            f"another model, or load it as {type(model).__name__}."
        )
    return model


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the versions that the file was written with; raise if it is no model file."""
    from clearbands import __version__

    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(read_entry(archive, archive.getinfo(HEADER), LARGEST_HEADER))
        version = str(header["clearbands"])[:40]
        is_newer = header["format"] > FORMAT or _numbers(version) > _numbers(__version__)
    except FileNotFoundError as error:
        raise ModelFileError(f"There is no file {path}.") from error
    except IsADirectoryError as error:
        raise ModelFileError(f"{path} is a folder, not a model file.") from error
    except PermissionError as error:
        raise ModelFileError(f"{path} may not be read: {error.strerror}.") from error
    except Exception as error:
        raise ModelFileError(
            f"{path} is not a complete clearbands model: it was cut off or written by "
            "something else."
        ) from error
    if is_newer:
        raise ModelFileError(
            f"{path} was written by clearbands {version}, which is newer than this version "
            f"({__version__}): upgrade clearbands to read it."
        )
    return header


def _warn_of_other_versions(path: str | os.PathLike[str], header: dict[str, Any]) -> None:
    """Warn if the file was written with another major or minor version of scikit-learn."""
    written, here = str(header.get("scikit-learn"))[:40], sklearn.__version__
    if _numbers(written)[:2] != _numbers(here)[:2]:
        warn(
            f"{path} was written with scikit-learn {written}, and this is {here}: parts of "
            "scikit-learn may predict otherwise. Compare some predictions, or fit the model again.",
            UserWarning,
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers by which versions are compared: (1, 10, 0) for 1.10.0rc1."""
    match = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


@contextmanager
def _as_model_file_error(what: str) -> Iterator[None]:
    """Turn any error inside the block into a ModelFileError that begins with `what`."""
    try:
        yield
    except (ModelFileError, Warning):  # users can turn warnings into errors
        raise
    except Exception as error:
        raise ModelFileError(f"{what}: {str(error) or type(error).__name__}") from error


def _pack(model: Any, compression: int) -> bytes:
    import skops.io

    from clearbands import __version__

    header = {
        "format": FORMAT,
        "clearbands": __version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    packed = io.BytesIO()
    skops.io.dump(model, packed, compression=compression, compresslevel=1)
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(HEADER, json.dumps(header))
    return packed.getvalue()


def _unpack(file: Path | io.BytesIO, size: int, trusted: Sequence[str]) -> Any:
    """Return the model in a file of `size` bytes; nothing is built before all of it is checked."""
    import skops.io

    with zipfile.ZipFile(file) as source, tempfile.SpooledTemporaryFile(IN_MEMORY) as unpacked:
        schema = json.loads(read_entry(source, source.getinfo(SCHEMA), schema_room(size)))
        check_schema(schema, size)
        types = _check_types(schema, source.namelist(), trusted)
        with zipfile.ZipFile(unpacked, "w") as target:
            target.writestr(SCHEMA, json.dumps(schema))
            copy_entries(source, target, size)
        unpacked.seek(0)
        model = skops.io.load(unpacked, trusted=types)
    check_compiled(model)
    return model


def _check_types(schema: dict[str, Any], names: list[str], trusted: Sequence[str]) -> list[str]:
    """Return the types that skops does not know but must rebuild; raise for untrusted ones."""
    import skops.io

    hollow = io.BytesIO()  # only the schema names types, so the entries need no content yet
    with zipfile.ZipFile(hollow, "w") as archive:
        archive.writestr(SCHEMA, json.dumps(schema))
        for name in sorted({*names} - {SCHEMA}):
            archive.writestr(name, b"")
    types = skops.io.get_untrusted_types(data=hollow.getvalue())
    unknown = [name for name in types if name not in trusted and not is_trusted(name)]
    gone = [name for name in unknown if is_missing(name)]
    if gone:
        raise ModelFileError(
            f"The model holds {', '.join(gone)}, which this version of clearbands no longer has "
            "(or not yet): read it with the version that wrote it, or fit it again."
        )
    if unknown:
        raise ModelFileError(
            f"The model holds types that are not trusted: {', '.join(unknown)}. "
            "If they are yours, name them in save and load: trusted=[...]."
        )
    return types
