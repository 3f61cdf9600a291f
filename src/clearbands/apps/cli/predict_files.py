"""clearbands predict, of a table in parquet files: in bounded memory, a task for each piece."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from clearbands.apps.cli import console
from clearbands.apps.cli.models import load_any
from clearbands.apps.cli.predicting import Wanted
from clearbands.apps.reading.dialect import Dialect
from clearbands.apps.reading.features import fitted_columns
from clearbands.apps.reading.files import for_spreadsheets
from clearbands.apps.reading.formats import FORMATS, STREAM
from clearbands.apps.reading.formulas import without_formulas
from clearbands.apps.reading.reading import Reading, in_kinds
from clearbands.engine.progress import listening
from clearbands.persistence.writing import written_whole
from clearbands.scaling.engines import Engine
from clearbands.scaling.rows import FileColumns, PieceRows, write_table
from clearbands.scaling.source import ParquetTable, open_table
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import make_all

PIECE = 2**16  # rows
TEXTS = ("text", "any")  # kinds of columns that may be text


@dataclass(frozen=True)
class PredictRows(PieceRows):
    """A file of predictions for every piece of the table."""

    model: str  # its file
    wanted: Wanted

    def name(self, number: int) -> str:
        return self._named("predicted", number, "parquet")

    def make(self, number: int, stop: np.ndarray) -> None:
        model = _model(self.model)
        frame = in_kinds(self.read(number), fitted_columns(model))
        reading = Reading(frame, self.pieces[number].file, "parquet", Dialect(), "")
        table = self.wanted.table(model, reading)
        self.store.write_table(self.name(number), table)

    def files(self) -> list[Path]:
        """In the order of the rows."""
        return [self.store.path(self.name(number)) for number in range(self.count)]


def table_in_files(data: Path, model: Any) -> ParquetTable | None:
    """The table, if its files are parquet and hold what the model needs as it needs it.

    None leaves it to be read into memory, where text that should be numbers can be mended.
    """
    import polars as pl

    from clearbands.apps.reading.features import kinds_of

    is_parquet = FORMATS.get(data.suffix.lower()) == "parquet"
    if not data.exists() or not (is_parquet or data.is_dir()):
        return None
    table = open_table(data)
    schema = pl.scan_parquet(table.files[0]).collect_schema()
    texts = {name for name, dtype in schema.items() if dtype == pl.String}
    mended = [n for n, kind in kinds_of(model).items() if n in texts and kind not in TEXTS]
    return None if mended and not data.is_dir() else table


def predict_files(
    model: Path,
    wanted: Wanted,
    table: ParquetTable,
    out: Path,
    engine: Engine,
    work: Path | None,
    *,
    no_formulas: bool = False,
) -> None:
    """Write the predictions; pieces that an earlier run wrote to `work` are not made again."""
    with _folder(work) as folder, console.progress_bar() as progress, listening(progress):
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        store = Store(str(folder.resolve())).below(
            "predictions", fingerprint=table.fingerprint, model=digest, wanted=vars(wanted)
        )
        write_table(store, table, FileColumns(list(table.columns)))
        try:
            engine.check(store.folder)
            stage = PredictRows(store, PIECE, str(model.resolve()), wanted)
            make_all(stage, engine, "predicting")
        finally:
            engine.close()
        _join(stage.files(), out, no_formulas=no_formulas)


def _join(parts: list[Path], out: Path, *, no_formulas: bool) -> None:
    """One table of many, which are never in memory together."""
    import polars as pl

    whole = for_spreadsheets(pl.scan_parquet(parts), out, no_formulas=no_formulas)
    if out == STREAM:
        for number, part in enumerate(parts):
            piece = pl.read_parquet(part).lazy()
            piece = without_formulas(piece) if no_formulas else piece
            console.write(piece.collect().write_csv(include_header=number == 0))
        return
    sinks: dict[str, Any] = {
        ".csv": whole.sink_csv,
        ".parquet": whole.sink_parquet,
        ".feather": whole.sink_ipc,
    }
    with written_whole(out) as unfinished:
        sinks[out.suffix.lower()](unfinished)


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    if work is not None:
        work.mkdir(parents=True, exist_ok=True)
        yield work
        return
    with tempfile.TemporaryDirectory(prefix="clearbands-") as path:
        yield Path(path)


@lru_cache(maxsize=2)
def _model(path: str) -> Any:
    return load_any(Path(path))
