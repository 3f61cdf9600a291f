"""The command `clearbands fit` for parquet files that are never in memory as a whole."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from clearbands.apps.cli import console
from clearbands.apps.cli.fit_options import Choice, Names, Settings
from clearbands.apps.cli.fit_summary import show_written
from clearbands.apps.cli.options import Workers, names_in
from clearbands.apps.reading.formats import FORMATS
from clearbands.persistence.model_file import save
from clearbands.persistence.origin import Origin, origin_of_hashes
from clearbands.rows import display
from clearbands.scaling.source import ParquetTable, open_table, read_piece, shape_of
from clearbands.tables.fingerprints import hash_rows

ROWS_AT_ONCE = 2**18
MOST_IN_MEMORY = 1_000_000  # the most rows of a file that is read whole by default


def is_for_files(data: Path, target: str, options: dict[str, Any]) -> bool:
    """Whether a parquet file should not be read into memory, and no option needs that."""
    import polars as pl

    is_parquet = FORMATS.get(data.suffix.lower()) == "parquet"
    if not is_parquet or not data.is_file() or any(options.values()):
        return False
    n_rows, schema = shape_of(data)
    kinds = dict(schema)
    if n_rows <= MOST_IN_MEMORY or target not in kinds or not kinds[target].is_numeric():
        return False
    values = pl.scan_parquet(data).select(pl.col(target).drop_nulls().unique().head(3))
    return values.collect().height > 2  # two values alone are classes


def check_options(options: dict[str, Any]) -> None:
    """Raise an error for options that need the whole table."""
    for name, value in options.items():
        if value:
            raise ValueError(
                f"--{name.replace('_', '-')} needs the table in memory: leave it out, or give a "
                "file without --engine and --work."
            )


def fit_and_save(
    data: Path, out: Path, names: Names, settings: Settings, choice: Choice, workers: Workers
) -> None:
    """Fit the model, and write it with a record of its origin."""
    engine, table = workers.make_engine(settings.jobs), open_table(data)
    columns = list(table.columns)
    names = names.in_table(columns)
    (by_group,) = names.calibration_groups or [""]
    dropped = {names.target, names.id, names.groups, names.weight, *names_in(choice.drop, columns)}
    chosen = names_in(choice.features, columns) or columns
    learned = [name for name in chosen if name not in dropped]
    console.print_line(
        f"Read {data.name}: {display.count(table.n_rows, 'row')} in "
        f"{display.count(len(table.files), 'file')}, {display.count(len(learned), 'column')} to "
        "learn from"
    )
    started = time.perf_counter()
    with console.progress_bar() as progress:
        model = settings.make_regressor(names, learned).fit(
            data,
            names.target,
            features=learned,
            groups=names.groups or None,
            calibration_groups=by_group or None,
            sample_weight=names.weight or None,
            engine=engine,
            work=workers.work,
            progress=progress,
        )
        title = console.title_of(data)
        model.origin_ = _origin(table, learned, names, by_group, title)
        save(model, out)
    show_written(model, data, out, time.perf_counter() - started, verbose=settings.verbose)


def _origin(
    table: ParquetTable, learned: list[str], names: Names, by_group: str, data: str
) -> Origin:
    """Record the origin of the model, with the hashes of all rows, piece by piece."""
    hashes = []
    for piece in table.pieces(ROWS_AT_ONCE):
        frame = read_piece(piece, [*learned, names.target])
        hashes.append(hash_rows(frame.drop(names.target), frame[names.target].to_numpy()))
    return origin_of_hashes(
        np.concatenate(hashes),
        target=names.target,
        unit=names.unit,
        id=names.id,
        calibration_groups=by_group,
        data=data,
    )
