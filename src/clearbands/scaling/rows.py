"""From files to fine bins: two passes over the table, each piece of it a task.

The first takes a sample, of the rows whose numbers have the smallest hashes. It tells the encoder
what the columns hold and where to cut them. The second writes every piece in bins of two bytes, to
be mapped into memory by whoever trains on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.symmetric_columns import fine_columns
from clearbands.scaling.source import ParquetTable, Piece, read_piece
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import Stage
from clearbands.tables.kinds import texts_of

if TYPE_CHECKING:
    import polars as pl

TABLE, SAMPLE_ROWS, ENCODER, BINS = "table.json", "sample-rows.npy", "encoder.clear", "bins.npz"
MOST_TEXTS = 10_000  # of a column that are remembered


@dataclass(frozen=True)
class Rows(Stage):
    """A stage whose files are pieces of the table."""

    rows_at_once: int

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return pieces_in(self.store.folder, self.rows_at_once)

    @property
    def count(self) -> int:
        return len(self.pieces)

    def read(self, number: int) -> pl.DataFrame:
        return read_piece(self.pieces[number], self.store.read_json(TABLE)["read"])

    def _named(self, what: str, number: int, ending: str) -> str:
        return f"{what}-{self.rows_at_once}/{number:06d}.{ending}"


@dataclass(frozen=True)
class PickRows(Rows):
    """The first pass: the rows of the sample, as they stand in the table."""

    def name(self, number: int) -> str:
        return self._named("picked", number, "parquet")

    def make(self, number: int, stop: np.ndarray) -> None:
        piece = self.pieces[number]
        wanted = self.store.map_array(SAMPLE_ROWS)
        own = np.sort(wanted[(wanted >= piece.start) & (wanted < piece.start + piece.size)])
        frame = self.read(number)[own - piece.start] if len(own) else self.read(number)[:0]
        self.store.write_table(self.name(number), frame)

    def picked(self) -> tuple[np.ndarray, pl.DataFrame]:
        """The numbers of the rows by rising hash, and the rows."""
        import polars as pl

        rows = np.asarray(self.store.map_array(SAMPLE_ROWS))
        names = [self.store.path(self.name(number)) for number in range(self.count)]
        frame = pl.concat([pl.read_parquet(name) for name in names])
        return rows, frame[np.argsort(np.argsort(rows))]


@dataclass(frozen=True)
class BinRows(Rows):
    """The second pass: all columns in fine bins, the target as it is."""

    def name(self, number: int) -> str:
        return self._named("bins", number, "npy")

    def is_done(self, number: int) -> bool:
        others = (self._targets(number), self._facts(number))
        return all(map(self.store.is_whole, (*others, self.name(number))))

    def make(self, number: int, stop: np.ndarray) -> None:
        encoder, bins = _encoder(self.store.folder), bins_in(self.store.folder)
        frame = self.read(number)
        target = self.store.read_json(TABLE)["target"]
        y = _finite(frame[target], target, self.pieces[number])
        X = encoder.transform(frame.drop(target))
        texts = _texts(frame, getattr(encoder, "categorical_columns_", ()))
        ranges = {"low": X.min(axis=0), "high": X.max(axis=0), "ends": [y.min(), y.max()]}
        self.store.write_array(self._targets(number), y)
        self.store.write_arrays(self._facts(number), {**ranges, **texts})
        self.store.write_array(self.name(number), fine_columns(bins, X))

    def fine(self, number: int) -> np.ndarray:
        """(d, n) int16, on disk."""
        return self.store.map_array(self.name(number))

    def target(self, number: int) -> np.ndarray:
        """(n,), on disk."""
        return self.store.map_array(self._targets(number))

    def ranges(self) -> Ranges:
        facts = [self.store.read_arrays(self._facts(number)) for number in range(self.count)]
        lows, highs, ends = ([fact[name] for fact in facts] for name in ("low", "high", "ends"))
        return Ranges(
            np.min(lows, axis=0), np.max(highs, axis=0), np.array([np.min(ends), np.max(ends)])
        )

    def texts(self, column: int) -> set[str] | None:
        """All categories of a text column; None where they are too many to remember."""
        found: set[str] = set()
        for number in range(self.count):
            found |= set(self.store.read_arrays(self._facts(number))[f"text{column}"].tolist())
            if len(found) > MOST_TEXTS:
                return None
        return found

    def _targets(self, number: int) -> str:
        return self._named("targets", number, "npy")

    def _facts(self, number: int) -> str:
        return self._named("facts", number, "npz")


class Ranges(NamedTuple):
    """The smallest and the largest values in the table."""

    low: np.ndarray  # (d,): of the encoded columns
    high: np.ndarray
    target: np.ndarray  # (2,)


def write_table(store: Store, table: ParquetTable, read: list[str], target: str = "") -> None:
    """What tasks need to know of the table: which columns to read, and which is the target."""
    known = {"files": table.files, "sizes": table.sizes, "columns": table.columns}
    store.write_json(
        TABLE, {**known, "fingerprint": table.fingerprint, "read": read, "target": target}
    )


@lru_cache(maxsize=8)
def pieces_in(folder: str, rows_at_once: int) -> tuple[Piece, ...]:
    """The pieces of the table that `write_table` described."""
    known = Store(folder).read_json(TABLE)
    table = ParquetTable(
        tuple(known["files"]), tuple(known["sizes"]), tuple(known["columns"]), known["fingerprint"]
    )
    return table.pieces(rows_at_once)


@lru_cache(maxsize=8)
def bins_in(folder: str, name: str = BINS) -> Bins:
    """The cuts of all columns."""
    return Bins(**Store(folder).read_arrays(name))


@lru_cache(maxsize=8)
def _encoder(folder: str) -> Any:
    return Store(folder).read_part(ENCODER)


def _finite(column: pl.Series, target: str, piece: Piece) -> np.ndarray:
    import polars as pl

    y = column.cast(pl.Float64).to_numpy()
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise ValueError(
            f"The target {target!r} is missing or infinite in row {piece.offset + bad[0] + 1:,} of "
            f"{piece.file}: fill in or remove such rows."
        )
    return y


def _texts(frame: pl.DataFrame, columns: Any) -> dict[str, np.ndarray]:
    """The categories of each text column, "" for a missing one; no more than can be remembered."""
    found = {}
    for place, name in enumerate(columns):
        distinct = frame[name].unique().head(MOST_TEXTS + 1)
        texts = texts_of(nw.from_native(distinct, series_only=True))
        found[f"text{place}"] = np.array(["" if text is None else text for text in texts])
    return found
