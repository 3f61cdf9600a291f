"""A center with its ignorance, and the noise around it: the input of a calibrator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.models.monotone import Still
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


def set_up(
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
    still: Still | None = None  # columns that no width depends on

    @property
    def best(self) -> Pair:
        return self

    def components(self, X: TableLike) -> Components:
        """Return center and uncalibrated widths of new rows."""
        return self.around(X, self.say(X))

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the center (n,)."""
        return self.epistemic.predict(X)

    def say(self, X: TableLike) -> CenterAndWidths:
        """Return the center and the epistemic widths of new rows."""
        return hold_still(self._ask, X, self.still)

    def _ask(self, X: TableLike) -> CenterAndWidths:
        return self.epistemic.predict_with_widths(X)

    def around(self, X: TableLike, predicted: CenterAndWidths) -> Components:
        """Return the components of rows, given their center and epistemic widths."""
        widths = self.aleatoric.predict_widths(self.view(X, predicted))
        return Components(predicted.center, widths, predicted.widths)

    def view(self, X: TableLike, predicted: CenterAndWidths) -> TableLike:
        """Return X as the aleatoric part sees it."""
        return show(
            X if self.still is None else self.still.of(np.asanyarray(X)), predicted, self.visible
        )


@dataclass(frozen=True)
class CrossPair(Pair):
    """Parts whose members know which rows they did not see."""

    epistemic: CrossPart
    aleatoric: ResampledPart

    def _ask(self, X: TableLike) -> CenterAndWidths:
        return self.epistemic.predict_like_unseen(X)

    def unseen(self, X: TableLike, predicted: CenterAndWidths) -> Components:
        """Return components of the training rows, in order, by members that did not see them."""
        widths = self.aleatoric.predict_unseen_widths(self.view(X, predicted))
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
        by_center = {id(pair.epistemic): pair.say(X) for pair in self._distinct()}
        mean = self.average([pair.around(X, by_center[id(pair.epistemic)]) for pair in self.pairs])
        return mean if self.trend is None else self.trend(mean)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the mean of the centers (n,)."""
        centers = {id(pair.epistemic): pair.epistemic.predict(X) for pair in self._distinct()}
        return np.mean([centers[id(pair.epistemic)] for pair in self.pairs], axis=0)

    def _distinct(self) -> list[Pair]:
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


def hold_still(
    ask: Callable[[TableLike], CenterAndWidths], X: TableLike, still: Still | None
) -> CenterAndWidths:
    """Return predictions of rows, with the widths of these rows held still in some columns."""
    predicted = ask(X)
    return (
        predicted
        if still is None
        else predicted._replace(widths=ask(still.of(np.asanyarray(X))).widths)
    )


def show(X: TableLike, predicted: CenterAndWidths, visible: str) -> Any:
    """Return X, with the further columns that `visible` names."""
    if visible == "nothing":
        return X
    columns = [np.asarray(X), predicted.center]
    if visible == "center and spread":
        columns.append(predicted.widths[:, :, 0].sum(axis=1))
    return coded(np.column_stack(columns), code_columns(X))
