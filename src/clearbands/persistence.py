"""Models in one file, from which loading runs no code."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from clearbands.files import written_whole

FORMAT = 1  # raised when older versions could not read a file any more
HEADER = "clearbands.json"
# Types of the stock backends and of fitted encoders; scikit-learn's own are known to skops.
TRUSTED = frozenset(
    {
        "collections.OrderedDict",
        "numpy.dtype",
        "quantile_forest._quantile_forest.RandomForestQuantileRegressor",
        "quantile_forest._quantile_forest_fast.QuantileForest",
        *(
            f"sklearn.gaussian_process.kernels.{name}"
            for name in ("ConstantKernel", "Matern", "Product", "RBF", "Sum", "WhiteKernel")
        ),
        "sklearn.tree._tree.Tree",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBRegressor",
    }
)


class ModelFileError(ValueError):
    """A file that is not a complete model this version can read."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write `model` to one file; the file appears whole or not at all."""
    import skops.io

    from clearbands import __version__

    header = {
        "format": FORMAT,
        "clearbands": __version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    with written_whole(Path(path)) as unfinished:
        skops.io.dump(model, unfinished, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
        with zipfile.ZipFile(unfinished, "a") as archive:
            archive.writestr(HEADER, json.dumps(header))


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read a model that `save` wrote.

    Only types of clearbands, scikit-learn, NumPy and the stock backends are rebuilt. A model
    with parts of your own needs their full names in `trusted`: their constructors are not
    called, but their state is restored, so name only types that you know.
    """
    import skops.io

    header = read_header(path)
    try:
        types = skops.io.get_untrusted_types(file=path)
        known = TRUSTED.union(trusted)
        unknown = [name for name in types if name not in known and not _is_own_class(name)]
        if unknown:
            raise ModelFileError(
                f"{path} holds types that are not trusted: {', '.join(unknown)}. "
                "If they are yours, name them: load(path, trusted=[...])."
            )
        return skops.io.load(path, trusted=types)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        raise ModelFileError(
            f"{path} is damaged (written by clearbands {header['clearbands']}): save it again."
        ) from error


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Versions the file was written with, or an error if it is no model of ours."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER))
    except FileNotFoundError as error:
        raise ModelFileError(f"There is no file {path}.") from error
    except IsADirectoryError as error:
        raise ModelFileError(f"{path} is a folder, not a model file.") from error
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError) as error:
        raise ModelFileError(
            f"{path} is not a complete clearbands model: it was cut off or written by "
            "something else."
        ) from error
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"{path} was written by clearbands {header['clearbands']}, which is newer than this "
            "version: upgrade clearbands to read it."
        )
    return header


def _is_own_class(name: str) -> bool:
    """Whether `name` is a class (not a function) that this package defines."""
    module_name, _, class_name = name.rpartition(".")
    if module_name.split(".")[0] != "clearbands":
        return False
    try:
        found = getattr(importlib.import_module(module_name), class_name, None)
    except ImportError:
        return False
    return inspect.isclass(found) and found.__module__ == module_name
