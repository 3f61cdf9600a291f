"""Rows that were judged by what did not see them: they calibrate, and tell what is ordinary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.calibration.calibration_set import CalibrationSet, fit_calibrator, for_groups
from clearbands.models.bagging import set_up
from clearbands.prediction.extrapolation import Extrapolation
from clearbands.prediction.familiarity import (
    Familiarity,
    as_of_new_rows,
    epistemic_width,
    ordinary_rows,
    texts_of_rows,
)
from clearbands.rows.split import Rows, Shares
from clearbands.rows.targets import Support
from clearbands.selection.compete import ChosenParts
from clearbands.tables.encoder import encode_to_fit
from clearbands.uncertainty.pairs import Blend, Pair


class Encoded(NamedTuple):
    """Rows as parts see them, and the text columns that the encoder made numbers of."""

    rows: Rows
    texts: np.ndarray  # (n, text columns)

    @classmethod
    def by(cls, encoder: BaseEstimator, rows: Rows) -> Encoded:
        return cls(replace(rows, X=encode_to_fit(encoder, rows.X)), texts_of_rows(encoder, rows.X))


@dataclass(frozen=True)
class Evidence(ABC):
    """What is said of rows that calibrate; final classes say where these come from."""

    train: Encoded
    parts: Pair | Blend
    judged: CalibrationSet
    chooser: CalibrationSet | None = None  # of rows that choose lambda; None where the same do

    @property
    def chosen_on(self) -> CalibrationSet:
        return self.judged if self.chooser is None else self.chooser

    def calibrate(
        self,
        calibrator: BaseEstimator,
        levels: list[float],
        n_jobs: int | None,
        rng: np.random.RandomState,
    ) -> BaseEstimator:
        """The calibrator, fitted; for every group where there are groups."""
        if self.judged.calibration_groups is not None:
            calibrator = for_groups(calibrator)
        return fit_calibrator(set_up(calibrator, levels, n_jobs, rng), self.judged, self.chooser)

    @abstractmethod
    def familiarity(self) -> Familiarity:
        """How ordinary rows look, of which parts see numbers."""

    @abstractmethod
    def look(self, some: np.ndarray) -> np.ndarray:
        """Some of the rows that were judged, as parts see them."""

    def extrapolation(self, direction: np.ndarray | None) -> Extrapolation:
        """How fast the center changes towards the ends of the training rows."""
        some = ordinary_rows(len(self.judged.y))
        train, weight = self.train.rows, self.judged.sample_weight
        return Extrapolation.of(
            train.X,
            train.sample_weight,
            self.look(some),
            self.judged.components.center[some],
            None if weight is None else weight[some],
            direction,
        )


@dataclass(frozen=True, kw_only=True)
class Within(Evidence):
    """All rows train, and each is judged by members that did not see it."""

    numbers: np.ndarray  # (n,): of the rows judged, among those that train

    def familiarity(self) -> Familiarity:
        some = ordinary_rows(len(self.numbers))
        unseen = epistemic_width(self.judged.components)[some]
        seen = epistemic_width(self.parts.components(self.look(some)))
        widths, rows = as_of_new_rows(seen, unseen), self.numbers[some]
        return Familiarity.of(self.train.rows.X, self.train.texts, widths, rows=rows)

    def look(self, some: np.ndarray) -> np.ndarray:
        return self.train.rows.X[self.numbers[some]]


@dataclass(frozen=True, kw_only=True)
class Apart(Evidence):
    """Rows that do not train judge."""

    others: Encoded

    def familiarity(self) -> Familiarity:
        others = self.others.rows.X, self.others.texts
        widths = epistemic_width(self.judged.components)
        return Familiarity.of(self.train.rows.X, self.train.texts, widths, held_out=others)

    def look(self, some: np.ndarray) -> np.ndarray:
        return self.others.rows.X[some]


def judge(chosen: ChosenParts, shares: Shares[Encoded], support: Support) -> Evidence:
    """What the parts say of rows that they did not see, with centers inside the support."""
    train, parts = shares.train, chosen.parts
    if not shares.held_out:
        assert chosen.unseen is not None
        numbers, components, shrinkage = chosen.unseen
        judged = CalibrationSet.of(train.rows.take(numbers), components, support, shrinkage)
        return Within(train, parts, judged, numbers=numbers)
    sets = [
        CalibrationSet.of(share.rows, parts.components(share.rows.X), support)
        for share in shares.held_out
    ]
    chooser = sets[0] if len(sets) > 1 else None
    return Apart(train, parts, sets[-1], chooser, others=shares.held_out[-1])
