"""The effects of categories on the target, from sums to which every piece of a table adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.effects import effects_of_sums
from clearbands.engine.symmetric_columns import FINE_BINS
from clearbands.rows.draws import HashedFolds
from clearbands.rows.hashing import hashed_folds
from clearbands.scaling.tasks import Stage

if TYPE_CHECKING:
    from clearbands.scaling.members import Response


WEIGHT, TARGET = 2.0**20, 2.0**30
"""The whole numbers that stand for a weight of 1 and for the largest target. Sums of whole numbers
below 2^53 do not depend on how the rows are divided into pieces."""


@dataclass(frozen=True)
class TargetScale:
    """The scale on which targets become whole numbers: their distance to `middle`, in units."""

    middle: float
    unit: float

    @classmethod
    def of(cls, y: np.ndarray) -> TargetScale:
        """Derive the scale from a sample of targets; one target hardly ever changes it."""
        reach = max(2.0 ** np.ceil(np.log2(max(np.ptp(y), np.finfo(float).tiny))), 2.0**-900)
        return cls(float(reach * np.rint(y.mean() / reach)), float(reach / TARGET))


@dataclass(frozen=True)
class CategorySums:
    """The weights and the targets of the rows of each code in one column, summed by fold."""

    scale: TargetScale
    rows: np.ndarray  # (folds, values): sums of weights
    totals: np.ndarray  # (folds, values): sums of weight times target
    squares: np.ndarray  # (folds,): sums of weight times squared target

    @classmethod
    def zeros(cls, scale: TargetScale, n_folds: int, n_values: int) -> CategorySums:
        """Return the sums of a table without rows."""
        rows, totals = np.zeros((2, n_folds, n_values))
        return cls(scale, rows, totals, np.zeros(n_folds))

    def add(
        self, fold: np.ndarray, code: np.ndarray, target: np.ndarray, weight: np.ndarray
    ) -> None:
        """Add rows (n,), each with a fold, a code, a target and a weight."""
        off = (target - self.scale.middle) / self.scale.unit
        place = fold.astype(np.int64) * self.rows.shape[1] + code
        n_folds, n_places = len(self.squares), self.rows.size
        for sums, of in ((self.rows, weight * WEIGHT), (self.totals, weight * off)):
            sums += np.bincount(place, np.rint(of), n_places).reshape(sums.shape)
        squares = np.rint(weight * (off / np.sqrt(TARGET)) ** 2)
        self.squares[:] += np.bincount(fold, squares, n_folds)

    def effects_without(self, *folds: int) -> np.ndarray:
        """Return each code's shrunken effect and the share of its mean it keeps (values + 1, 2).

        The effects come from all folds but `folds`. The last row is for codes that those folds
        do not have.
        """
        others = np.ones(len(self.rows), bool)
        others[list(folds)] = False
        rows = self.rows[others].sum(axis=0) / WEIGHT
        total = self.totals[others].sum(axis=0)
        mean = np.divide(total, rows, out=np.zeros(len(rows)), where=rows > 0)
        within = max(float(self.squares[others].sum() * TARGET - rows @ mean**2), 0.0)
        effect, left = np.zeros((2, len(rows) + 1))
        effects_of_sums(np.append(rows, 0.0), np.append(mean, 0.0), within, effect, left)
        return np.column_stack([effect * self.scale.unit, left])


@dataclass(frozen=True)
class SumCategories(Stage):
    """The stage that writes for each piece the sums of its rows, by the folds of the members.

    For a row that a member sees, the effects of categories come from all folds but the row's fold
    and the fold that the member leaves out; for all other rows, from all folds but the latter.
    """

    learned: Response
    draws: HashedFolds
    scale: TargetScale

    @property
    def count(self) -> int:
        return self.learned.rows.count

    def name(self, number: int) -> str:
        return f"sums-{self.learned.rows.rows_at_once}/{number:06d}.npz"

    def make(self, number: int, stop: np.ndarray) -> None:
        rows, target = self.learned.rows, self.learned.target(number)
        keys, codes, weight = rows.keys(number), rows.codes(number), rows.weight(number)
        weight = np.ones(len(keys)) if weight is None else weight
        arrays = {}
        for repeat in range(self.draws.n_repeats):
            fold = self._fold(repeat, keys)
            for j, (code, sums) in enumerate(zip(codes, self._zeros(), strict=True)):
                own = code >= 0
                sums.add(fold[own], code[own], target[own], weight[own])
                place = np.flatnonzero(sums.rows)
                arrays[f"place{repeat}_{j}"] = place
                arrays[f"rows{repeat}_{j}"] = sums.rows.ravel()[place]
                arrays[f"totals{repeat}_{j}"] = sums.totals.ravel()[place]
                arrays[f"squares{repeat}_{j}"] = sums.squares
        self.store.write_arrays(self.name(number), arrays)

    def merged(self, repeat: int) -> list[CategorySums]:
        """Return the sums over all pieces, one item for each column of codes."""
        return _merged(self, repeat)

    def effects(self, member: int) -> list[np.ndarray]:
        """Return the effects (values + 1, 2) in each column, for rows the member does not see."""
        repeat, own = divmod(member, self.draws.n_folds)
        return [sums.effects_without(own) for sums in self.merged(repeat)]

    def bins(self, member: int) -> list[Bins]:
        """Return the bins of the effects in `effects`."""
        return [Bins.from_data(effects[:-1], FINE_BINS) for effects in self.effects(member)]

    def binned_effects(self, member: int) -> list[np.ndarray]:
        """Return the binned effects (folds, values + 1, 2) int16 in each column, by row's fold."""
        repeat, own = divmod(member, self.draws.n_folds)
        return [
            np.stack(
                [
                    bins.columns(sums.effects_without(own, fold)).T
                    for fold in range(self.draws.n_folds)
                ]
            )
            for bins, sums in zip(self.bins(member), self.merged(repeat), strict=True)
        ]

    def view(self, member: int, piece: int, binned_effects: list[np.ndarray]) -> np.ndarray:
        """Return the binned effects (features, n) int16 of a piece, as the member sees them."""
        rows = self.learned.rows
        return look_up(
            binned_effects,
            rows.codes(piece),
            self._fold(member // self.draws.n_folds, rows.keys(piece)),
        )

    @property
    def n_features(self) -> int:
        return 2 * len(self.learned.rows.n_values)

    def _fold(self, repeat: int, keys: np.ndarray) -> np.ndarray:
        return hashed_folds(self.draws.seed, repeat, keys, self.draws.n_folds)

    def _zeros(self) -> list[CategorySums]:
        n_folds = self.draws.n_folds
        return [CategorySums.zeros(self.scale, n_folds, n) for n in self.learned.rows.n_values]


def look_up(binned_effects: list[np.ndarray], codes: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return the binned effects (features, n) of codes (columns, n) for rows in folds (n,)."""
    # An unknown code is -1, and the last row of a table is for unknown codes.
    return np.concatenate(
        [of[fold, code].T for of, code in zip(binned_effects, codes, strict=True)]
    )


def join_bins(bins: list[Bins]) -> Bins:
    """Return the cuts of several tables whose columns stand side by side."""
    starts, n_cuts = [np.zeros(1, np.int64)], 0
    for each in bins:
        starts.append(n_cuts + each.starts[1:])
        n_cuts += len(each.cuts)
    return Bins(np.concatenate([each.cuts for each in bins]), np.concatenate(starts))


@lru_cache(maxsize=4)
def _merged(stage: SumCategories, repeat: int) -> list[CategorySums]:
    merged = stage._zeros()
    for number in range(stage.count):
        piece = stage.store.read_arrays(stage.name(number))
        for j, sums in enumerate(merged):
            place = piece[f"place{repeat}_{j}"]
            sums.rows.ravel()[place] += piece[f"rows{repeat}_{j}"]
            sums.totals.ravel()[place] += piece[f"totals{repeat}_{j}"]
            sums.squares[:] += piece[f"squares{repeat}_{j}"]
    return merged
