"""Two passes over a table in files, in which each piece of the table is a task.

The first pass takes a sample: the rows whose numbers have the smallest hashes. The sample tells the
encoder what the columns hold, and where to cut them into bins. The second pass writes every piece,
without the held-out rows, in bins of two bytes, which are mapped into memory for training.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.grains import Grains, Weighed
from clearbands.engine.symmetric_columns import FINE_BINS
from clearbands.rows.coded import code_columns, plain_columns
from clearbands.rows.targets import Targets
from clearbands.scaling.roles import Roles, numbers
from clearbands.scaling.source import ParquetTable, Piece, read_piece
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import Stage
from clearbands.tables.encoder import encode_to_fit
from clearbands.tables.kinds import texts_of

if TYPE_CHECKING:
    import polars as pl

TABLE, ENCODER, TARGETS, BINS = "table.json", "encoder.clear", "targets.clear", "bins.npz"
SAMPLE_ROWS, HELD_OUT = "sample-rows.npy", "held-out.npy"
TEXTS = ("String", "Categorical", "Enum")
MOST_TEXTS = 10_000  # the most categories of a column that the fitted model remembers
MOST_VALUES = 1_000_000  # of a column with more values, only those in the sample have codes


@dataclass(frozen=True)
class PieceRows(Stage):
    """A stage whose files are pieces of the table."""

    rows_at_once: int

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return pieces_in(self.store.folder, self.rows_at_once)

    @property
    def count(self) -> int:
        return len(self.pieces)

    def read(self, number: int) -> pl.DataFrame:
        return read_piece(self.pieces[number], self.columns.read)

    @property
    def columns(self) -> FileColumns:
        return columns_in(self.store.folder)

    def _named(self, what: str, number: int, ending: str) -> str:
        return f"{what}-{self.rows_at_once}/{number:06d}.{ending}"


@dataclass(frozen=True)
class PickRows(PieceRows):
    """The first pass writes the rows of the sample as they stand in the table."""

    def name(self, number: int) -> str:
        return self._named("picked", number, "parquet")

    def make(self, number: int, stop: np.ndarray) -> None:
        piece = self.pieces[number]
        wanted = self.store.map_array(SAMPLE_ROWS)
        own = np.sort(wanted[(wanted >= piece.start) & (wanted < piece.start + piece.size)])
        frame = self.read(number)
        self.columns.roles.check(frame, piece)
        trains = self.columns.train(frame, piece.rows, wanted[: self.columns.held_out])
        values = _values_of(frame.filter(trains), self.columns.features)
        self.store.write_table(self._values(number), values)
        self.store.write_table(self.name(number), frame[own - piece.start])

    def is_done(self, number: int) -> bool:
        return all(map(self.store.is_complete, (self._values(number), self.name(number))))

    def values(self, column: str) -> list[str | None]:
        """Return all values of a text column, or an empty list if there are too many."""
        import polars as pl

        categories: set[str | None] = set()
        for number in range(self.count):
            categories |= set(pl.read_parquet(self.store.path(self._values(number)))[column][0])
            if len(categories) > MOST_VALUES:
                return []
        return list(categories)

    def sampled_rows(self) -> tuple[np.ndarray, pl.DataFrame]:
        """Return the numbers of the picked rows by rising hash, and the rows in that order."""
        import polars as pl

        rows = np.asarray(self.store.map_array(SAMPLE_ROWS))
        names = [self.store.path(self.name(number)) for number in range(self.count)]
        frame = pl.concat([pl.read_parquet(name) for name in names])
        return rows, frame[np.argsort(np.argsort(rows))]

    def _values(self, number: int) -> str:
        return self._named("values", number, "parquet")


@dataclass(frozen=True)
class BinRows(PieceRows):
    """The second pass writes the training rows: columns in fine bins or codes, and targets."""

    def name(self, number: int) -> str:
        return self._named("bins", number, "npy")

    def is_done(self, number: int) -> bool:
        others = [self._targets(number), self._facts(number), self._codes(number)]
        if not self.columns.by_place:
            others.append(self._labels(number))
        return all(map(self.store.is_complete, (*others, self.name(number))))

    def make(self, number: int, stop: np.ndarray) -> None:
        encoder, bins = _encoder(self.store.folder), bins_in(self.store.folder)
        frame, keys, roles = *self._training_rows(number), self.columns.roles
        weight = np.ones(frame.height)
        if not self.columns.by_place:
            weight = weight if roles.sample_weight is None else numbers(frame[roles.sample_weight])
            self.store.write_arrays(self._labels(number), {"keys": keys, "weight": weight})
        y = _targets(self.store.folder).to_model(numbers(frame[roles.target]))
        codes = np.empty((len(self.n_values), len(y)), np.int32)
        X = np.empty((0, bins.n_columns))
        if len(y):
            encoded = encode_to_fit(encoder, frame.select(self.columns.features))
            codes[:], X = codes_of(encoded), plain_columns(encoded)
        facts = {
            **{"low": X.min(axis=0, initial=np.inf), "high": X.max(axis=0, initial=-np.inf)},
            **{"weighed": Weighed.of(weight)},
            **_texts(frame, getattr(encoder, "categorical_columns_", ())),
        }
        self.store.write_array(self._targets(number), y)
        self.store.write_array(self._codes(number), codes)
        self.store.write_arrays(self._facts(number), facts)
        self.store.write_array(self.name(number), bins.columns(X))

    def _training_rows(self, number: int) -> tuple[pl.DataFrame, np.ndarray]:
        """Return the rows that are not held out and have weight, and the keys that draw them."""
        piece, roles = self.pieces[number], self.columns.roles
        frame = self.read(number)
        roles.check_targets(frame, _targets(self.store.folder), piece)
        if self.columns.by_place:
            return frame, piece.rows
        trains = self.columns.train(frame, piece.rows, self.store.map_array(HELD_OUT))
        frame = frame.filter(trains)
        return frame, roles.keys(frame, piece.rows[trains])

    def fine(self, number: int) -> np.ndarray:
        """Return the fine bins (d, n) int16 of a piece, mapped from disk."""
        return self.store.map_array(self.name(number))

    def codes(self, number: int) -> np.ndarray:
        """Return the codes (columns of codes, n) int32 of a piece, mapped from disk."""
        return self.store.map_array(self._codes(number))

    @property
    def n_values(self) -> list[int]:
        """The number of codes of each column of codes."""
        return getattr(_encoder(self.store.folder), "n_values", [])

    def target(self, number: int) -> np.ndarray:
        """Return the targets (n,) of a piece, mapped from disk."""
        return self.store.map_array(self._targets(number))

    def keys(self, number: int) -> np.ndarray:
        """Return the keys (n,) by which members draw the rows of a piece."""
        if self.columns.by_place:
            return self.pieces[number].rows
        return self.store.read_arrays(self._labels(number))["keys"]

    def weight(self, number: int) -> np.ndarray | None:
        """Return the weights (n,) of a piece, or None if every row counts once."""
        if self.columns.roles.sample_weight is None:
            return None
        return self.store.read_arrays(self._labels(number))["weight"]

    def ranges(self) -> Ranges:
        facts = [self.store.read_arrays(self._facts(number)) for number in range(self.count)]
        lows, highs = ([fact[name] for fact in facts] for name in ("low", "high"))
        totals, counts, are_whole = np.array([fact["weighed"] for fact in facts]).T
        return Ranges(
            np.min(lows, axis=0),
            np.max(highs, axis=0),
            Weighed(math.fsum(totals), int(counts.sum()), bool(are_whole.all())),
        )

    def texts(self, column: int) -> set[str] | None:
        """Return all categories of a text column, or None if there are too many to remember."""
        values: set[str] = set()
        for number in range(self.count):
            arrays = self.store.read_arrays(self._facts(number))
            values |= set(arrays[f"text{column}"].tolist())
            if len(values) > MOST_TEXTS:
                return None
        return values

    def _targets(self, number: int) -> str:
        return self._named("targets", number, "npy")

    def _facts(self, number: int) -> str:
        return self._named("facts", number, "npz")

    def _codes(self, number: int) -> str:
        return self._named("codes", number, "npy")

    def _labels(self, number: int) -> str:
        return self._named("labels", number, "npz")


class Ranges(NamedTuple):
    """The smallest and largest values of the training rows, and the sum of their weights."""

    low: np.ndarray  # (d,): the encoded columns that do not hold codes
    high: np.ndarray
    weighed: Weighed


class FileColumns(NamedTuple):
    """The features, the roles of columns and the number of held-out rows, for the tasks."""

    features: list[str]
    roles: Roles = Roles()
    held_out: int = 0  # the number of rows that do not train

    @property
    def read(self) -> list[str]:
        """The names of all columns that are read."""
        return list(dict.fromkeys([*self.features, *self.roles.named]))

    def train(self, frame: pl.DataFrame, rows: np.ndarray, held_out: np.ndarray) -> np.ndarray:
        """Return which of these rows train: booleans (n,), False if held out or of weight 0."""
        trains = ~np.isin(rows, held_out)
        if self.roles.sample_weight is not None:
            trains &= numbers(frame[self.roles.sample_weight]) > 0
        return trains

    @property
    def by_place(self) -> bool:
        """Whether all rows train, count once and are drawn by their place in the table."""
        return not (self.held_out or self.roles.sample_weight or self.roles.groups)


def write_table(store: Store, table: ParquetTable, columns: FileColumns) -> None:
    """Write a description of the table and its columns, which the tasks read."""
    store.write_json(TABLE, {**asdict(table), **columns._asdict(), "roles": asdict(columns.roles)})


@lru_cache(maxsize=8)
def pieces_in(folder: str, rows_at_once: int) -> tuple[Piece, ...]:
    """The pieces of the table that `write_table` described."""
    known = Store(folder).read_json(TABLE)
    table = ParquetTable(
        tuple(known["files"]), tuple(known["sizes"]), tuple(known["columns"]), known["fingerprint"]
    )
    return table.pieces(rows_at_once)


@lru_cache(maxsize=8)
def columns_in(folder: str) -> FileColumns:
    known = Store(folder).read_json(TABLE)
    return FileColumns(known["features"], Roles(**known["roles"]), known["held_out"])


def fine_bins(X: np.ndarray, weight: np.ndarray | None) -> Bins:
    """Return the cuts of the columns. There may be none: a table can hold nothing but text."""
    if X.shape[1] == 0:
        return Bins(np.empty(0), np.zeros(1, np.int64))
    return Bins.from_data(X, FINE_BINS, Grains.of(weight).of_rows)


@lru_cache(maxsize=8)
def bins_in(folder: str, name: str = BINS) -> Bins:
    """Return the cuts of all columns that a file of the store holds."""
    return Bins(**Store(folder).read_arrays(name))


@lru_cache(maxsize=8)
def _encoder(folder: str) -> Any:
    return Store(folder).read_part(ENCODER)


@lru_cache(maxsize=8)
def _targets(folder: str) -> Targets:
    return Store(folder).read_part(TARGETS)


def codes_of(encoded: np.ndarray) -> np.ndarray:
    """Return the columns of codes (columns of codes, n) int32 of an encoded table."""
    return np.asarray(encoded)[:, list(code_columns(encoded))].T.astype(np.int32)


def _values_of(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Return a table of one row, with the list of distinct values of each text column.

    A list is cut at one more than `MOST_VALUES`, which tells that there are too many.
    """
    import polars as pl

    texts = [name for name in names if str(frame.schema[name]).split("(")[0] in TEXTS]
    by_column = {}
    for name in texts:
        distinct = frame[name].unique().head(MOST_VALUES + 1)
        values = sorted(set(texts_of(nw.from_native(distinct, series_only=True))), key=str)
        by_column[name] = pl.Series(name, [values], dtype=pl.List(pl.String))
    return pl.DataFrame(by_column)


def _texts(frame: pl.DataFrame, columns: Any) -> dict[str, np.ndarray]:
    """Return the categories of each text column, with "" for missing values.

    They are cut at one more than `MOST_TEXTS`, which tells that there are too many.
    """
    by_place = {}
    for place, name in enumerate(columns):
        distinct = frame[name].unique().head(MOST_TEXTS + 1)
        texts = texts_of(nw.from_native(distinct, series_only=True))
        by_place[f"text{place}"] = np.array(["" if text is None else text for text in texts])
    return by_place
