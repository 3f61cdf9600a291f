"""The predictions of predict: in memory, or for a table in parquet files one task per piece."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import ModelAndTable, load_model
from clearbands.apps.cli.options import QuestionOptions, TableOut
from clearbands.apps.reading.choosing import take_target
from clearbands.apps.reading.dialect import Dialect
from clearbands.apps.reading.features import fitted_columns, kinds_of
from clearbands.apps.reading.files import for_spreadsheets
from clearbands.apps.reading.formats import FORMATS, STREAM
from clearbands.apps.reading.formulas import without_formulas
from clearbands.apps.reading.reading import Reading, in_kinds
from clearbands.engine.progress import listening, report
from clearbands.persistence.writing import atomic_path
from clearbands.scaling.engines import Engine
from clearbands.scaling.rows import FileColumns, PieceRows, write_table
from clearbands.scaling.source import ParquetTable, open_table
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import make_all

PIECE = 2**16  # the number of rows in a file
ROWS_AT_ONCE = 10_000  # the number of rows between two steps of the progress bar
TEXTS = ("text", "any")  # kinds of columns that may be text


@dataclass(frozen=True)
class PredictionOptions:
    """The questions about the rows, and what else the output holds."""

    questioned: QuestionOptions
    output: TableOut

    @property
    def words(self) -> dict[str, Any]:
        """The options that decide what a row of the output holds."""
        return vars(self.questioned) | {"keep": self.output.keep, "row_id": self.output.row_id}

    def table(self, model: Any, reading: Reading) -> pl.DataFrame:
        """Return the answers for all rows, and the columns that are carried along."""
        rows = ModelAndTable(model, reading)
        questions = self.questioned.questions(
            above=_thresholds(self.questioned.above, reading),
            below=_thresholds(self.questioned.below, reading),
        )
        tables = []
        for start in range(0, rows.X.height, ROWS_AT_ONCE):
            report("predicting", start, rows.X.height)
            stop = start + ROWS_AT_ONCE
            groups = None if rows.groups is None else rows.groups[start:stop]
            piece = rows.task.predict(rows.X[start:stop], questions.rows(start, stop), groups)
            tables.append(piece.frame())
        table, carried = pl.concat(tables), rows.carried_columns(self.output)
        twice = next((column.name for column in carried if column.name in table.columns), None)
        if twice is not None:
            raise ValueError(
                f"The output has a column {twice!r} of its own; rename that of the data."
            )
        return table.select(*carried, *table.columns)


def _thresholds(values: Sequence[str], reading: Reading) -> dict[str, float | np.ndarray]:
    """Return thresholds by name: each a number, or a column with one number for every row."""
    thresholds: dict[str, float | np.ndarray] = {}
    for name in values:
        try:
            thresholds[name] = float(name)
        except ValueError:
            thresholds[name] = take_target(reading, name, what="The column")
    return thresholds


@dataclass(frozen=True)
class PredictRows(PieceRows):
    """A task that writes a file of predictions for every piece of the table."""

    model: str  # the path of its file
    wanted: PredictionOptions

    def name(self, number: int) -> str:
        return self._named("predicted", number, "parquet")

    def make(self, number: int, stop: np.ndarray) -> None:
        model = _load_cached(self.model)
        frame = in_kinds(self.read(number), fitted_columns(model))
        reading = Reading(frame, self.pieces[number].file, "parquet", Dialect(), "")
        table = self.wanted.table(model, reading)
        self.store.write_table(self.name(number), table)

    def files(self) -> list[Path]:
        """Return the files in the order of the rows."""
        return [self.store.path(self.name(number)) for number in range(self.count)]


def table_in_files(data: Path, model: Any) -> ParquetTable | None:
    """Return the table if its files are parquet and hold the columns that the model needs.

    None means that it should be read into memory, where text that should be numbers can be
    corrected.
    """
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
    wanted: PredictionOptions,
    table: ParquetTable,
    engine: Engine,
    work: Path | None,
) -> None:
    """Write the predictions; pieces that an earlier run wrote to `work` are not made again."""
    with _folder(work) as folder, console.progress_bar() as progress, listening(progress):
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        store = Store(str(folder.resolve())).subfolder(
            "predictions", fingerprint=table.fingerprint, model=digest, wanted=wanted.words
        )
        write_table(store, table, FileColumns(list(table.columns)))
        try:
            engine.check(store.folder)
            stage = PredictRows(store, PIECE, str(model.resolve()), wanted)
            make_all(stage, engine, "predicting")
        finally:
            engine.close()
        _join(stage.files(), wanted.output)


def _join(parts: list[Path], output: TableOut) -> None:
    """Join many tables into one, without holding them in memory together."""
    out, no_formulas = output.out, output.no_formulas
    whole = for_spreadsheets(pl.scan_parquet(parts), out, no_formulas=no_formulas)
    if out == STREAM:
        for number, part in enumerate(parts):
            piece = pl.read_parquet(part).lazy()
            piece = without_formulas(piece) if no_formulas else piece
            console.print_text(piece.collect().write_csv(include_header=number == 0))
        return
    sinks: dict[str, Any] = {
        ".csv": whole.sink_csv,
        ".parquet": whole.sink_parquet,
        ".feather": whole.sink_ipc,
    }
    with atomic_path(out) as unfinished:
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
def _load_cached(path: str) -> Any:
    return load_model(Path(path), of_classes=True)
