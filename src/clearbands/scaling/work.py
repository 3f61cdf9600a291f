"""A table in files, prepared for a fit: a sample in memory, the training rows in bins on disk."""

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
from clearbands.rows.messages import suppress_warnings
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
    """The folder in which a fit on files keeps what it has finished, and its limits of memory.

    Parameters
    ----------
    path : str or Path
        A folder, which all workers must see; made if it is not there.
    rows_at_once : int
        The table is read, encoded and predicted in pieces of this many rows. The number changes
        no result.
    member_rows : int
        A member sees at most about this many rows. Of a larger table it sees a sample, drawn by
        hash. A row takes some 35 bytes of memory, and one more for every column.
    sample_rows : int
        The number of rows in memory. They tell what the columns hold, choose between models, and
        calibrate. No more rows than this are held out to calibrate.
    """

    path: str | Path
    rows_at_once: int = 2**18
    member_rows: int = 10_000_000
    sample_rows: int = 200_000


class TableSample(NamedTuple):
    """The rows of the table that are in memory, by rising hash of their numbers."""

    raw: Rows  # as they stand in the table
    encoded: Rows
    keys: np.ndarray  # (n,): the keys by which members draw rows
    fine: np.ndarray  # (d, n): fine bins of the columns that do not hold codes

    @property
    def codes(self) -> np.ndarray:
        """The codes (columns of codes, n) of categories."""
        return codes_of(self.encoded.X)


@dataclass(frozen=True)
class TableWork:
    """The prepared table and what else the steps of a fit share."""

    folder: WorkFolder
    engine: Engine
    store: Store
    encoder: BaseEstimator
    targets: Targets
    sample: TableSample
    held_out: Rows | None  # as they stand in the table; no step of the fit has seen them
    rows: BinRows
    ranges: Ranges

    @property
    def n_rows(self) -> int:
        """The number of training rows."""
        return int(self.ranges.weighed.n)

    def draws(self, seed: int, part: BaseEstimator) -> HashedFolds:
        """Return which rows each member of a part with folds sees."""
        share = min(1.0, self.folder.member_rows / (self.n_rows * (1 - 1 / part.n_folds)))
        by_place = self.rows.columns.by_place
        return HashedFolds(seed, self.n_rows, part.n_folds, part.n_repeats, share, by_place)

    def per_one(self, draws: HashedFolds) -> float:
        """Return how many grains a weight of 1 has for members that see a share of the rows."""
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
    """Pass over the table twice: to draw a sample and fit the encoder, then to write all bins.

    Work that an earlier run finished is not done again.
    """
    check_same_data(Path(folder.path), table)
    store = Store(str(Path(folder.path).resolve())).subfolder(
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
    with suppress_warnings(NamesWarning):  # in a sample each name has fewer rows than in the table
        encoder = fit_encoder(raw.X)
    targets = fit_targets(raw.y)
    if hasattr(encoder, "learn_categories"):
        encoder.learn_categories(pick.values)
        encoder.warn_of_names(table.n_rows)
    encoded = replace(raw, X=encode_to_fit(encoder, raw.X), y=targets.to_model(raw.y))
    plain = plain_columns(encoded.X)
    bins = fine_bins(plain, raw.sample_weight)
    apart = np.sort(store.map_array(SAMPLE_ROWS)[: columns.held_out])
    store = store.subfolder("encoded", encoder=joblib.hash((encoder, targets, bins.cuts)))
    write_table(store, table, columns)
    finished: dict[str, Callable[[str], None]] = {
        HELD_OUT: lambda name: store.write_array(name, apart),
        ENCODER: lambda name: store.write_part(name, encoder),
        TARGETS: lambda name: store.write_part(name, targets),
        BINS: lambda name: store.write_arrays(name, vars(bins)),
    }
    for name, write in finished.items():
        if not store.is_complete(name):
            write(name)
    rows = BinRows(store, folder.rows_at_once)
    make_all(rows, engine, "second pass")
    sample = TableSample(raw, encoded, keys, bins.columns(plain))
    return TableWork(folder, engine, store, encoder, targets, sample, held_out, rows, rows.ranges())


def _first_pass(
    pick: PickRows, n_rows: int, folder: WorkFolder, engine: Engine, seed: int
) -> tuple[Rows | None, Rows, np.ndarray]:
    """Return the held-out rows, a sample of the others, and the keys that draw the sample's rows.

    In the order of rising hashes, the first rows are held out and the next ones are the sample.
    """
    store, (features, roles, n_held_out) = pick.store, pick.columns
    if not store.is_complete(SAMPLE_ROWS):
        n_picked = n_held_out + folder.sample_rows
        store.write_array(SAMPLE_ROWS, smallest_hashes(seed, 0, n_rows, n_picked))
    make_all(pick, engine, "first pass")
    numbers, frame = pick.sampled_rows()
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
    """Raise if the work folder was made from other data: it belongs to one table."""
    store = Store(str(folder))
    if store.is_complete(DATA):
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
