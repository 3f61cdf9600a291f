"""What a fit has learned before it is calibrated, from rows in memory or in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.calibration.guarantee import Guarantee
from clearbands.prediction.extrapolation import (
    Extrapolation,
    forgetting,
    gap_deviations,
    moves_without_numbers,
    rows_that_tell,
)
from clearbands.prediction.familiarity import Familiarity
from clearbands.prediction.interval_regressor import was_fitted_elsewhere
from clearbands.rows.messages import warn
from clearbands.rows.targets import Targets, TargetWarning, hint
from clearbands.selection.compete import ChosenParts
from clearbands.selection.evidence import Evidence
from clearbands.selection.recipe import Recipe
from clearbands.uncertainty.bands import Components, make_interval


class Span(NamedTuple):
    """What all training rows span, where those in memory are some of them."""

    low: np.ndarray  # (columns,)
    high: np.ndarray
    texts: Sequence[set[str] | None]  # of each text column all categories; None if too many


@dataclass(frozen=True)
class FitResult:
    """Parts, and what is known of the rows they were fitted on."""

    encoder: BaseEstimator
    targets: Targets
    recipe: Recipe
    chosen: ChosenParts
    evidence: Evidence
    y: np.ndarray  # of all rows in memory, as they were given
    n_train: int
    has_copies: bool  # of rows that train among those that judge
    span: Span | None = None

    @property
    def sees_numbers(self) -> bool:
        """Whether parts see an array, not a table."""
        return isinstance(self.evidence.train.rows.X, np.ndarray)

    def familiarity(self) -> Familiarity | None:
        """How ordinary rows look; None where parts see a table."""
        if not self.sees_numbers:
            return None
        found = self.evidence.familiarity()
        return found if self.span is None else found.widened(*self.span)

    def extrapolation(self, calibrated: Components, level: float) -> Extrapolation | None:
        """What is unknown beyond the training rows, from what is said of rows that calibrate.

        None for parts that were given and rows held out, as in the paper; in the order of time,
        where rows that calibrate lie beyond what trained as new ones do; and where parts see a
        table.
        """
        is_as_in_paper = self.recipe.is_given and self.chosen.unseen is None
        if is_as_in_paper or self.recipe.gap is not None or not self.sees_numbers:
            return None
        found = replace(
            self.evidence.extrapolation(self.recipe.direction),
            forgetting=self._forgetting(),
            gaps=self._gaps(calibrated, level),
        )
        return found if self.span is None else found.widened(self.span.low, self.span.high)

    def guarantee(self, calibration: str, *, has_set: bool, has_labels: bool) -> Guarantee:
        """What holds for the coverage.

        `has_set` says whether there were rows given for calibration, and `has_labels` whether rows
        were kept together: labels are exchangeable then, their rows are not.
        """
        if was_fitted_elsewhere(self.recipe.epistemic, has_set=has_set):
            return Guarantee.UNKNOWN
        if self.has_copies:
            return Guarantee.COPIES
        if self.recipe.gap is not None:
            return Guarantee.TIME
        if calibration != "conformal":
            return Guarantee.of(calibration)
        is_parted = has_labels and not has_set
        return Guarantee.CROSS if is_parted else self.evidence.judged.guarantee

    def hint(self, calibrated: Components) -> None:
        """Tell of bounds that leave the range of all targets, at the first level."""
        center, *widths = calibrated
        bounds = make_interval(center, np.add(*widths)[:, :, 0])
        said = hint(self.y, self.targets.points(bounds, center), self.targets)
        if said is not None:
            warn(said, TargetWarning)

    def _forgetting(self) -> np.ndarray | None:
        """What the categories of training rows are worth; None where there are none."""
        rows, texts = self.evidence.train
        if texts.shape[1] == 0:
            return None
        predict, forget = self.chosen.parts.predict, self.encoder.forget
        return forgetting(predict, forget, rows.X, texts, rows.sample_weight)

    def _gaps(self, calibrated: Components, level: float) -> np.ndarray | None:
        """What numbers are worth to rows that calibrate; None where the encoder does not tell."""
        if not hasattr(self.encoder, "drop_value"):
            return None
        complete, judged = self.encoder.complete_columns(), self.evidence.judged
        distances = np.add(calibrated.aleatoric, calibrated.epistemic)[:, :, 0]
        usable = np.flatnonzero(np.isfinite(distances).all(axis=1))
        deviations, columns = np.zeros(len(complete)), np.flatnonzero(complete)
        if len(columns) == 0 or len(usable) == 0:
            return deviations
        some = usable[rows_that_tell(len(usable), len(columns))]
        moves = moves_without_numbers(
            self.chosen.parts.predict, self.encoder.drop_value, self.evidence.look(some), columns
        )
        deviations[columns] = gap_deviations(
            moves,
            (judged.y - judged.components.center)[some],
            distances[some],
            level,
            None if judged.weight is None else judged.weight[some],
        )
        return deviations
