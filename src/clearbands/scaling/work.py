"""A table in files, ready for work: its sample in memory, the rest of it in bins on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from clearbands.engine.grains import Weighed
from clearbands.rows.coded import plain_columns
from clearbands.rows.draws import HashedFolds
from clearbands.rows.hashing import smallest_hashes
from clearbands.rows.messages import unsaid
from clearbands.rows.split import Rows
from clearbands.rows.targets import Targets
from clearbands.rows.weighting import check_row_weight
from clearbands.scaling.engines import Engine
from clearbands.scaling.rows import (
    BINS,
    ENCODER,
    HELD_OUT,
    SAMPLE_ROWS,
    TARGETS,
    BinRows,
    FileColumns,
    PickRows,
    Ranges,
    codes_of,
    fine_bins,
    write_table,
)
from clearbands.scaling.source import ParquetTable
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import make_all
from clearbands.tables.encoder import NamesWarning, encode_to_fit

if TYPE_CHECKING:
    import polars as pl

DATA = "data.json"


@dataclass(frozen=True)
class WorkFolder:
    """Where a fit on files keeps what it has finished, and how much it holds at once.

    Parameters
    ----------
    path : str or Path
        A folder, which all workers must see; made if it is not there.
    rows_at_once : int
        Rows of a piece of the table, which is read, encoded and predicted at once. It changes no
        result.
    member_rows : int
        A member sees at most about so many rows, some 35 bytes and one more for every column
        each: of a larger table, a sample by hash.
    sample_rows : int
        So many rows are held in memory: they tell what columns hold, choose between models, and
        calibrate. Of rows that are held out to calibrate, no more are.
    """

    path: str | Path
    rows_at_once: int = 2**18
    member_rows: int = 10_000_000
    sample_rows: int = 200_000


class TableSample(NamedTuple):
    """Rows of the table in memory, those with the smallest hashes first."""

    raw: Rows  # as they stand in the table
    encoded: Rows
    keys: np.ndarray  # (n,): by what members draw them
    fine: np.ndarray  # (d, n): of the columns that are no codes

    @property
    def codes(self) -> np.ndarray:
        """(columns of codes, n)"""
        return codes_of(self.encoded.X)


@dataclass(frozen=True)
class TableWork:
    """What the steps of a fit share."""

    folder: WorkFolder
    engine: Engine
    store: Store
    encoder: BaseEstimator
    targets: Targets
    sample: TableSample
    held_out: Rows | None  # as they stand in the table: of the fit nothing has seen them
    rows: BinRows
    ranges: Ranges

    @property
    def n_rows(self) -> int:
        """That train."""
        return int(self.ranges.weighed.n)

    def draws(self, seed: int, part: BaseEstimator) -> HashedFolds:
        """Who sees which rows, of a part with folds."""
        share = min(1.0, self.folder.member_rows / (self.n_rows * (1 - 1 / part.n_folds)))
        by_place = self.rows.columns.by_place
        return HashedFolds(seed, self.n_rows, part.n_folds, part.n_repeats, share, by_place)

    def per_one(self, draws: HashedFolds) -> float:
        """Grains of a weight of 1, for members that see a share of the rows."""
        total, n, are_whole = self.ranges.weighed
        return Weighed(total * draws.share, n * draws.share, are_whole).per_one


def prepare(
    table: ParquetTable,
    columns: FileColumns,
    fit_encoder: Callable[[pl.DataFrame], Any],
    fit_targets: Callable[[np.ndarray], Targets],
    folder: WorkFolder,
    engine: Engine,
    seed: int,
) -> TableWork:
    """Both passes over the table; what an earlier run has done is found again."""
    check_same_data(Path(folder.path), table)
    store = Store(str(Path(folder.path).resolve())).below(
        "table",
        fingerprint=table.fingerprint,
        features=columns.features,
        roles=asdict(columns.roles),
        held_out=columns.held_out,
        seed=seed,
        sample_rows=folder.sample_rows,
    )
    write_table(store, table, columns)
    engine.check(store.folder)
    pick = PickRows(store, folder.rows_at_once)
    held_out, raw, keys = _first_pass(pick, table.n_rows, folder, engine, seed)
    with unsaid(NamesWarning):  # a sample has fewer rows of each
        encoder = fit_encoder(raw.X)
    targets = fit_targets(raw.y)
    if hasattr(encoder, "learn_categories"):
        encoder.learn_categories(pick.values)
        encoder.tell_of_names(table.n_rows)
    encoded = replace(raw, X=encode_to_fit(encoder, raw.X), y=targets.to_model(raw.y))
    plain = plain_columns(encoded.X)
    bins = fine_bins(plain, raw.sample_weight)
    apart = np.sort(store.map_array(SAMPLE_ROWS)[: columns.held_out])
    store = store.below("encoded", encoder=joblib.hash((encoder, targets, bins.cuts)))
    write_table(store, table, columns)
    finished: dict[str, Callable[[str], None]] = {
        HELD_OUT: lambda name: store.write_array(name, apart),
        ENCODER: lambda name: store.write_part(name, encoder),
        TARGETS: lambda name: store.write_part(name, targets),
        BINS: lambda name: store.write_arrays(name, vars(bins)),
    }
    for name, write in finished.items():
        if not store.is_whole(name):
            write(name)
    rows = BinRows(store, folder.rows_at_once)
    make_all(rows, engine, "second pass")
    sample = TableSample(raw, encoded, keys, bins.columns(plain))
    return TableWork(folder, engine, store, encoder, targets, sample, held_out, rows, rows.ranges())


def _first_pass(
    pick: PickRows, n_rows: int, folder: WorkFolder, engine: Engine, seed: int
) -> tuple[Rows | None, Rows, np.ndarray]:
    """Rows that are held out, a sample of the others, and by what members draw the latter.

    By rising hash, the first are held out and those after them are the sample.
    """
    store, (features, roles, n_held_out) = pick.store, pick.columns
    if not store.is_whole(SAMPLE_ROWS):
        n_picked = n_held_out + folder.sample_rows
        store.write_array(SAMPLE_ROWS, smallest_hashes(seed, 0, n_rows, n_picked))
    make_all(pick, engine, "first pass")
    numbers, frame = pick.picked()
    held_out = None
    if n_held_out:
        held_out = roles.take(frame[:n_held_out], features).without_weightless()
    frame, numbers = frame[n_held_out:], numbers[n_held_out:]
    sample, keys = roles.take(frame, features), roles.keys(frame, numbers)
    if sample.sample_weight is not None:
        check_row_weight(sample.sample_weight, len(sample))
        keys = keys[sample.sample_weight > 0]
    return held_out, sample.without_weightless(), keys


def check_same_data(folder: Path, table: ParquetTable) -> None:
    """A work folder belongs to one table: raise if the file has changed since."""
    store = Store(str(folder))
    if store.is_whole(DATA):
        before = store.read_json(DATA)
        if before["fingerprint"] != table.fingerprint:
            raise ValueError(
                f"{table.files[0]} is not what the work folder {folder} was made from "
                f"({before['n_rows']:,} rows, fingerprint {before['fingerprint'][:8]}; now "
                f"{table.n_rows:,} rows, {table.fingerprint[:8]}): give the data of then, or "
                "another work folder."
            )
        return
    store.write_json(
        DATA, {"fingerprint": table.fingerprint, "n_rows": table.n_rows, "files": table.files}
    )
