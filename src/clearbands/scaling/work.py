"""A table in files, ready for work: its sample in memory, the rest of it in bins on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.symmetric_columns import FINE_BINS, fine_columns
from clearbands.rows.hashing import smallest_hashes
from clearbands.scaling.engines import Engine
from clearbands.scaling.rows import (
    BINS,
    ENCODER,
    SAMPLE_ROWS,
    BinRows,
    PickRows,
    write_table,
)
from clearbands.scaling.running import make_all
from clearbands.scaling.source import ParquetTable
from clearbands.scaling.store import Store

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
        calibrate.
    """

    path: str | Path
    rows_at_once: int = 2**18
    member_rows: int = 10_000_000
    sample_rows: int = 200_000


class Sample(NamedTuple):
    """Rows of the table in memory, those with the smallest hashes first."""

    rows: np.ndarray  # (n,): their numbers
    raw: pl.DataFrame
    X: np.ndarray  # encoded
    y: np.ndarray
    fine: np.ndarray  # (d, n)


@dataclass(frozen=True)
class TableWork:
    """What the steps of a fit share."""

    folder: WorkFolder
    engine: Engine
    store: Store
    n_rows: int
    encoder: Any
    sample: Sample
    rows: BinRows

    def member_share(self, n_folds: int) -> float:
        """Which share of the rows outside its fold a member sees."""
        return min(1.0, self.folder.member_rows / (self.n_rows * (1 - 1 / n_folds)))


def prepare(
    table: ParquetTable,
    features: Sequence[str],
    target: str,
    make_encoder: Callable[[pl.DataFrame], Any],
    folder: WorkFolder,
    engine: Engine,
    seed: int,
) -> TableWork:
    """Both passes over the table; what an earlier run has done is found again."""
    check_same_data(Path(folder.path), table)
    store = Store(str(Path(folder.path).resolve())).below(
        "table",
        fingerprint=table.fingerprint,
        features=list(features),
        target=target,
        seed=seed,
        sample_rows=folder.sample_rows,
    )
    write_table(store, table, [*features, target], target)
    engine.check(store.folder)
    if not store.is_whole(SAMPLE_ROWS):
        rows = smallest_hashes(seed, 0, table.n_rows, folder.sample_rows)
        store.write_array(SAMPLE_ROWS, rows)
    pick = PickRows(store, folder.rows_at_once)
    make_all(pick, engine, "first pass")
    picked, frame = pick.picked()
    raw, y = frame.drop(target), frame[target].cast(float).to_numpy()
    encoder = make_encoder(raw)
    X = encoder.transform(raw)
    bins = Bins.from_data(X, FINE_BINS)
    store = store.below("encoded", encoder=joblib.hash((encoder, bins.cuts)))
    write_table(store, table, [*features, target], target)
    if not store.is_whole(ENCODER):
        store.write_part(ENCODER, encoder)
    if not store.is_whole(BINS):
        store.write_arrays(BINS, {"cuts": bins.cuts, "starts": bins.starts})
    rows_in_bins = BinRows(store, folder.rows_at_once)
    make_all(rows_in_bins, engine, "second pass")
    sample = Sample(picked, raw, X, y, fine_columns(bins, X))
    return TableWork(folder, engine, store, table.n_rows, encoder, sample, rows_in_bins)


def check_same_data(folder: Path, table: ParquetTable) -> None:
    """A work folder belongs to one table: raise if the file has changed since."""
    known = folder / DATA
    if known.exists():
        before = json.loads(known.read_text("utf-8"))
        if before["fingerprint"] != table.fingerprint:
            raise ValueError(
                f"{table.files[0]} is not what the work folder {folder} was made from "
                f"({before['n_rows']:,} rows, fingerprint {before['fingerprint'][:8]}; now "
                f"{table.n_rows:,} rows, {table.fingerprint[:8]}): give the data of then, or "
                "another work folder."
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    Store(str(folder)).write_json(
        DATA, {"fingerprint": table.fingerprint, "n_rows": table.n_rows, "files": table.files}
    )
