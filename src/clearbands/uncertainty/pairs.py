"""A center with its ignorance, and the noise around it: the input of a calibrator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.models.monotone import FixedColumns
from clearbands.models.seeds import seed_missing
from clearbands.rows.bands import Components
from clearbands.rows.coded import code_columns, coded
from clearbands.rows.typed import TableLike
from clearbands.uncertainty.aleatoric import AleatoricPart, ResampledPart
from clearbands.uncertainty.epistemic import CenterAndWidths, CrossPart, EpistemicPart

SHOWN = ("nothing", "center", "center and spread")
"""What the aleatoric part sees besides X.

Noise often depends on the prediction, and it is larger where members disagree.
"""

Part = TypeVar("Part", bound=BaseEstimator)


def configured_clone(
    part: Part, levels: Sequence[float], n_jobs: int | None, rng: np.random.RandomState
) -> Part:
    """Return a clone of the part at these levels; open `n_jobs` and seeds are filled in."""
    part = clone(part).set_params(confidence_level=list(levels))
    if part.get_params(deep=False).get("n_jobs", 0) is None:
        part.set_params(n_jobs=n_jobs)
    return seed_missing(part, rng)


@dataclass(frozen=True)
class Pair:
    """An epistemic and an aleatoric part that were fitted on the same rows."""

    epistemic: EpistemicPart
    aleatoric: AleatoricPart
    visible: str = "nothing"
    fixed: FixedColumns | None = None  # columns that no width depends on

    @property
    def best(self) -> Pair:
        return self

    def components(self, X: TableLike) -> Components:
        """Return center and uncalibrated widths of new rows."""
        return self.components_around(X, self.predict_epistemic(X))

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the center (n,)."""
        return self.epistemic.predict(X)

    def predict_epistemic(self, X: TableLike) -> CenterAndWidths:
        """Return the center and the epistemic widths of new rows."""
        return predict_with_fixed_columns(self._predict_with_widths, X, self.fixed)

    def _predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        return self.epistemic.predict_with_widths(X)

    def components_around(self, X: TableLike, predicted: CenterAndWidths) -> Components:
        """Return the components of rows, given their center and epistemic widths."""
        widths = self.aleatoric.predict_widths(self.aleatoric_view(X, predicted))
        return Components(predicted.center, widths, predicted.widths)

    def aleatoric_view(self, X: TableLike, predicted: CenterAndWidths) -> TableLike:
        """Return X as the aleatoric part sees it."""
        return add_visible_columns(
            X if self.fixed is None else self.fixed.apply(np.asanyarray(X)), predicted, self.visible
        )


@dataclass(frozen=True)
class CrossPair(Pair):
    """Parts whose members know which rows they did not see."""

    epistemic: CrossPart
    aleatoric: ResampledPart

    def _predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        return self.epistemic.predict_like_unseen(X)

    def unseen_components(self, X: TableLike, predicted: CenterAndWidths) -> Components:
        """Return components of the training rows, in order, by members that did not see them."""
        widths = self.aleatoric.predict_unseen_widths(self.aleatoric_view(X, predicted))
        return Components(predicted.center, widths, predicted.widths)


@dataclass(frozen=True)
class Blend:
    """The mean of several pairs, each in units of its own calibration.

    An interval whose bounds are the means of the pairs' bounds has the mean center, and each of
    its widths is the mean of the pairs' widths.
    """

    pairs: Sequence[Pair]
    factors: np.ndarray  # (pairs, 2, k): factors of the aleatoric and of the epistemic widths
    trend: Callable[[Components], Components] | None = None  # corrects the widths

    @property
    def best(self) -> Pair:
        return self.pairs[0]

    def components(self, X: TableLike) -> Components:
        by_center = {
            id(pair.epistemic): pair.predict_epistemic(X) for pair in self._one_pair_per_center()
        }
        mean = self.average(
            [pair.components_around(X, by_center[id(pair.epistemic)]) for pair in self.pairs]
        )
        return mean if self.trend is None else self.trend(mean)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the mean of the centers (n,)."""
        centers = {
            id(pair.epistemic): pair.epistemic.predict(X) for pair in self._one_pair_per_center()
        }
        return np.mean([centers[id(pair.epistemic)] for pair in self.pairs], axis=0)

    def _one_pair_per_center(self) -> list[Pair]:
        """Return one pair for each center."""
        return list({id(pair.epistemic): pair for pair in self.pairs}.values())

    def average(self, parts: Sequence[Components]) -> Components:
        """Return the mean of the components that the pairs have for the same rows."""
        return Components(
            np.mean([part.center for part in parts], axis=0),
            np.mean(
                [f[0] * part.aleatoric for f, part in zip(self.factors, parts, strict=True)], 0
            ),
            np.mean(
                [f[1] * part.epistemic for f, part in zip(self.factors, parts, strict=True)], 0
            ),
        )


def predict_with_fixed_columns(
    predict: Callable[[TableLike], CenterAndWidths], X: TableLike, fixed: FixedColumns | None
) -> CenterAndWidths:
    """Return predictions of rows, with the widths of these rows held still in some columns."""
    predicted = predict(X)
    return (
        predicted
        if fixed is None
        else predicted._replace(widths=predict(fixed.apply(np.asanyarray(X))).widths)
    )


def add_visible_columns(X: TableLike, predicted: CenterAndWidths, visible: str) -> Any:
    """Return X, with the further columns that `visible` names."""
    if visible == "nothing":
        return X
    columns = [np.asarray(X), predicted.center]
    if visible == "center and spread":
        columns.append(predicted.widths[:, :, 0].sum(axis=1))
    return coded(np.column_stack(columns), code_columns(X))
