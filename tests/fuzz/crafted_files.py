"""`load` and a prediction, with sound files in which some whole numbers were replaced.

Compiled code follows such numbers, so a case can crash its process: a child process runs it.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

import clearbands
from clearbands import BoostedQuantiles, ForestQuantiles, RandomTrees, SymmetricTrees
from tests.fuzz.campaign import Target
from tests.toys import noisy_line

MOST_SECONDS = 60
REFUSED, PREDICTED = "refused", "predicted"


def attempt(rng: np.random.Generator) -> None:
    files = _files()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clear"
        path.write_bytes(crafted(files[rng.integers(len(files))], rng))
        answer = _Tester.shared().ask(path)
    assert answer in (REFUSED, PREDICTED), answer


def crafted(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the file with one to three numbers of an array of whole numbers replaced."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    arrays = {
        name: np.load(io.BytesIO(entry)) for name, entry in entries.items() if name.endswith("npy")
    }
    fields = [
        field
        for name, array in arrays.items()
        for field in _fields(name, array)
        if field[1].dtype.kind in "iu" and array.size
    ]
    name, field = fields[rng.integers(len(fields))]
    limits = np.iinfo(field.dtype)
    ways = [
        limits.max,
        limits.min,
        int(field.max()) + 1,
        -1,
        0,
        rng.integers(limits.max, dtype=np.uint64),
    ]
    for _ in range(rng.integers(1, 4)):
        number = int(ways[rng.integers(len(ways))])
        field.flat[rng.integers(field.size)] = min(max(number, limits.min), limits.max)
    buffer = io.BytesIO()
    np.save(buffer, arrays[name])
    entries[name] = buffer.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return packed.getvalue()


def _fields(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [(name, array[field]) for field in array.dtype.names or ()] or [(name, array)]


@cache
def _files() -> list[bytes]:
    X, y = _rows()
    models: list[Any] = [
        SymmetricTrees(n_trees=8, max_depth=3),
        RandomTrees(n_trees=4),
        BoostedQuantiles(n_trees=5, max_depth=3),
        ForestQuantiles(n_trees=5),
        RandomForestRegressor(3, random_state=0),
        GradientBoostingRegressor(n_estimators=3),
        HistGradientBoostingRegressor(max_iter=3),
        KNeighborsRegressor(algorithm="kd_tree"),
        SVR(),
        clearbands.fast(random_state=0),
    ]
    contents = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            path = Path(folder) / "model.clear"
            clearbands.save(model.fit(X, y), path)
            contents.append(path.read_bytes())
    return contents


def _rows() -> tuple[np.ndarray, np.ndarray]:
    return noisy_line(150)


class _Tester:
    """A child process that loads files and predicts with them, one after the other."""

    _process: subprocess.Popen[str] | None = None

    @classmethod
    @cache
    def shared(cls) -> _Tester:
        return cls()

    def ask(self, path: Path) -> str:
        """Return the result for a file, or say how the process ended."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        return answer or f"The process ended with code {self._process.wait()}."


def _answer(path: Path) -> str:
    try:
        model = clearbands.load(path)
    except clearbands.ModelFileError:
        return REFUSED
    X = _rows()[0]
    for rows in (X[:1], X):  # kernels treat one row by itself
        assert len(model.predict(rows)) == len(rows)
    return PREDICTED


def main() -> None:
    import faulthandler

    for line in sys.stdin:
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        try:
            answer = _answer(Path(line.strip()))
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            answer = repr(error)
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(answer.replace("\n", " ") + "\n")
        sys.stdout.flush()


TARGET = Target(
    "crafted model files",
    "a number that points nowhere is a `ModelFileError`, or is not followed",
    attempt,
)

if __name__ == "__main__":
    main()
