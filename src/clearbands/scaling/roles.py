"""The columns of a table in files that have another role than feature, such as target or weight."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.rows.checks import check_group_labels
from clearbands.rows.messages import row_of_file
from clearbands.rows.split import Rows
from clearbands.rows.targets import Targets
from clearbands.scaling.source import Piece
from clearbands.tables.fingerprints import hash_rows

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Roles:
    """The name of the column in each role, or None if no column has it.

    >>> Roles("price", sample_weight="copies").not_learned
    ['price', 'copies']
    """

    target: str = ""  # empty for rows that are only predicted
    sample_weight: str | None = None  # how many rows each row counts as
    groups: str | None = None  # labels of rows that no fold may part
    calibration_weight: str | None = None  # how many times more often a row occurs among new rows
    calibration_groups: str | None = None  # labels; the level shall hold in each of these groups

    @property
    def named(self) -> list[str]:
        """The names of all columns with a role, each name once."""
        return list(dict.fromkeys(name for name in asdict(self).values() if name))

    @property
    def not_learned(self) -> list[str]:
        """The columns that cannot be features. Calibration groups can be: new rows have them."""
        return [
            name for name in self.named if name != self.calibration_groups or name == self.target
        ]

    @property
    def weights(self) -> list[str]:
        return [name for name in (self.sample_weight, self.calibration_weight) if name is not None]

    def check(self, frame: pl.DataFrame, piece: Piece) -> None:
        """Raise for missing or invalid values in these columns, and name the row and the file."""
        is_lost = ~np.isfinite(numbers(frame[self.target]))
        _refuse(is_lost, f"The target {self.target!r} is missing or infinite", piece)
        for name in self.weights:
            weight, what = numbers(frame[name]), f"The weight {name!r}"
            _refuse(~np.isfinite(weight), f"{what} is missing or infinite", piece)
            _refuse(weight < 0, f"{what} is negative", piece)
        if self.groups is not None:
            is_lost = frame[self.groups].is_null().to_numpy()
            _refuse(is_lost, f"The label {self.groups!r} is missing", piece)

    def check_targets(self, frame: pl.DataFrame, targets: Targets, piece: Piece) -> None:
        """Raise for targets outside the support, not whole where they must be, or not finite."""
        y, what = numbers(frame[self.target]), f"The target {self.target!r}"
        low, high = targets.support
        _refuse((y < low) | (y > high), f"{what} is outside support=({low:g}, {high:g})", piece)
        if targets.whole:
            _refuse(y != np.rint(y), f"{what} is no whole number", piece)
        is_lost = ~np.isfinite(targets.to_model(y))
        _refuse(is_lost, f"{what} has no finite value by target_transform", piece)

    def take(self, frame: pl.DataFrame, features: list[str]) -> Rows:
        """Return the rows as they stand in the table, with their weights and labels."""
        column = self.calibration_groups
        labels = None if column is None else frame[column].to_list()
        return Rows(
            frame.select(features),
            numbers(frame[self.target]),
            None if self.groups is None else self.keys(frame, np.empty(0, np.int64)),
            None if labels is None else check_group_labels(labels, frame.height),
            _numbers_of(frame, self.calibration_weight),
            _numbers_of(frame, self.sample_weight),
        )

    def keys(self, frame: pl.DataFrame, rows: np.ndarray) -> np.ndarray:
        """Return the keys (n,) by which members draw rows: row numbers, or hashes of the labels."""
        if self.groups is None:
            return rows
        return hash_rows(frame.select(self.groups), np.zeros(frame.height))


def read_roles(target: Any, calibration: str, **labels: Any) -> Roles:
    """Return the roles by the names of their columns; raise if they do not fit together."""
    for what, name in {"y": target, **labels}.items():
        if not isinstance(name, str) and not (name is None and what != "y"):
            raise TypeError(
                f"For a table in files, {what} must be the name of a column, got "
                f"{type(name).__name__}."
            )
    roles = Roles(target, **labels)
    if roles.calibration_groups is not None and roles.calibration_weight is not None:
        raise ValueError(
            "calibration_groups and calibration_weight cannot be used at once: give one."
        )
    if roles.groups is not None and calibration != "cross":
        raise ValueError(
            f'calibration="{calibration}" holds out single rows of a table in files, whatever '
            "belongs together: leave calibration open, or groups out."
        )
    return roles


def numbers(column: pl.Series) -> np.ndarray:
    """Return the values (n,) as floats, with NaN for missing ones."""
    return column.cast(float).to_numpy()


def _numbers_of(frame: pl.DataFrame, name: str | None) -> np.ndarray | None:
    return None if name is None else numbers(frame[name])


def _refuse(is_bad: np.ndarray, what: str, piece: Piece) -> None:
    if is_bad.any():
        row = piece.offset + int(np.argmax(is_bad)) + 1
        raise ValueError(
            f"{what} in {row_of_file(row)} of {piece.file}: fill in or remove such rows."
        )
