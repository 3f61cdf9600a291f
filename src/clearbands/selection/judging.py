"""The worth of a pair of parts: its calibrated loss on rows that its members did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.models.monotone import FixedColumns
from clearbands.models.pools import match_quantile_model
from clearbands.models.protocol import fit_weighted
from clearbands.rows.bands import Components, make_interval
from clearbands.rows.levels import alpha
from clearbands.rows.messages import suppress_warnings, warn
from clearbands.rows.split import Rows
from clearbands.rows.weighting import error_of_mean, may_be_chance, mean_of
from clearbands.uncertainty.aleatoric import NestedRows, ResampledPart
from clearbands.uncertainty.epistemic import CenterAndWidths, CrossPart
from clearbands.uncertainty.nested import NestedPredictions
from clearbands.uncertainty.pairs import Blend, CrossPair, add_visible_columns


def once_repeated(noise: ResampledPart) -> ResampledPart:
    """Return the noise with a single repeat of the folds, if its folds are repeated."""
    if "n_repeats" not in noise.get_params(deep=False):
        return noise
    return clone(noise).set_params(n_repeats=1)


class LeaderboardRow(NamedTuple):
    """A line of the leaderboard."""

    center: str
    noise: str
    loss: float  # calibrated quantile loss on unseen rows, mean over the levels
    behind: float  # this loss minus that of the best
    error: float  # standard error of `behind`
    selected: bool


@dataclass(frozen=True)
class Contestant:
    """A pair, and its components of the rows that it did not see."""

    center_name: str
    noise_name: str
    pair: CrossPair
    y: np.ndarray  # (n,): targets of the rows that some members of both parts did not see
    unseen: Components  # components of these rows by these members
    factors: np.ndarray  # (2, k): gamma1 and gamma2
    row_losses: np.ndarray  # (n,)
    rows: np.ndarray  # (n,): the numbers of these rows among those that the pair was judged on
    weight: np.ndarray | None = None  # (n,): how many rows each counts as

    @property
    def names(self) -> tuple[str, str]:
        return self.center_name, self.noise_name

    def surplus_variance(self) -> np.ndarray:
        """The surplus variance (n,) of the center, see `CrossPart.surplus_variance`."""
        unseen = CenterAndWidths(self.unseen.center, self.unseen.epistemic)
        return self.pair.epistemic.surplus_variance(unseen)

    @property
    def loss(self) -> float:
        return mean_of(self.row_losses, self.weight)


def judge(
    rows: Rows,
    names: tuple[str, str],
    epistemic: CrossPart,
    unseen_center: CenterAndWidths,
    noise: ResampledPart,
    levels: Sequence[float],
    visible: str,
    nested: NestedPredictions | None = None,
    fixed: FixedColumns | None = None,
    learns_target: bool = False,
) -> Contestant:
    """Fit the noise around a fitted center, and calibrate both on unseen rows.

    `unseen_center` holds the center's components of the rows by members that did not see them.
    `nested` holds those of centers that left out one more fold: then a member of the noise learns
    nothing of the rows that it judges. No width depends on the columns that are held `fixed`. With
    `learns_target` the noise learns y itself instead of residuals.
    """
    learned = rows.y if learns_target else rows.y - unseen_center.center
    part = match_quantile_model(clone(noise), epistemic)
    pair = CrossPair(epistemic, part, visible, fixed)
    how: dict[str, Any] = {"groups": rows.groups}
    if nested is not None and part.takes_nested and not learns_target:
        how = {"nested": _nested_rows(rows, unseen_center, nested, visible)}
    fit_weighted(
        part, pair.aleatoric_view(rows.X, unseen_center), learned, rows.sample_weight, **how
    )
    unseen = pair.unseen_components(rows.X, unseen_center)
    return assess(names, pair, rows.y, unseen, levels, rows.sample_weight)


def assess(
    names: tuple[str, str],
    pair: CrossPair,
    y: np.ndarray,
    unseen: Components,
    levels: Sequence[float],
    weight: np.ndarray | None = None,
) -> Contestant:
    """Calibrate a fitted pair on its components of rows that it did not see."""
    judges = unseen_rows(unseen.aleatoric[:, 0, 0], pair.epistemic.judges_all)
    y, unseen = y[judges], unseen.take(judges)
    weight = None if weight is None else weight[judges]
    with suppress_warnings(CalibrationWarning):  # the chosen pairs are calibrated once more
        calibrator = ClearCalibrator(list(levels)).fit(y, *unseen, sample_weight=weight)
        losses = row_losses(y, unseen, calibrator, levels)
    factors = np.stack([calibrator.gamma1_, calibrator.gamma2_])
    return Contestant(*names, pair, y, unseen, factors, losses, judges, weight)


def _nested_rows(
    rows: Rows, unseen_center: CenterAndWidths, nested: NestedPredictions, visible: str
) -> NestedRows:
    typical = float(np.mean(unseen_center.widths))

    def see(fold: int) -> tuple[np.ndarray, np.ndarray]:
        center, widths = nested.without_fold(fold)
        # Members that saw fewer rows disagree more; the widths that are shown must be of one size.
        widths = widths * (typical / (float(np.mean(widths)) or 1.0))
        predicted = CenterAndWidths(center, widths)
        return np.asarray(add_visible_columns(rows.X, predicted, visible), float), rows.y - center

    return NestedRows(nested.draws.folds(), see)


def unseen_rows(unseen: np.ndarray, all_should_be: bool = True) -> np.ndarray:
    """Return the numbers of the rows that are not NaN, which must be more than half of the rows."""
    is_unseen = np.isfinite(unseen)
    if not all_should_be:
        return np.flatnonzero(is_unseen)
    n_left, n = int(np.count_nonzero(is_unseen)), len(unseen)
    if n_left < n / 2:
        raise ValueError(
            f"Only {n_left} of {n} rows were left out by any member; calibration on all rows needs "
            "more members, such as more bootstraps."
        )
    if n_left < n:
        warn(
            f"{n - n_left} of {n} rows were seen by every member and do not calibrate; "
            "more members would leave out each of them.",
            CalibrationWarning,
        )
    return np.flatnonzero(is_unseen)


def row_losses(
    y: np.ndarray, components: Components, calibrator: Any, levels: Sequence[float]
) -> np.ndarray:
    """Return the quantile loss of both bounds for each row (n,), mean over the levels."""
    widths = np.add(*calibrator.scale(components.aleatoric, components.epistemic))
    bounds = make_interval(components.center, widths)
    losses = []
    for j, level in enumerate(levels):
        lower, upper = bounds[:, 0, j], bounds[:, 1, j]
        outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
        losses.append((alpha(level) / 2 * (upper - lower) + outside) / 2)
    return np.mean(losses, axis=0)


def not_told_apart(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Return the best pair and those that the rows do not tell apart from it, best first."""
    ranked = sorted(contestants, key=lambda contestant: contestant.loss)
    return [c for c in ranked if may_be_chance(_row_differences(c, ranked[0]), c.weight)]


PAIRS_PER_CENTER = 2


def most_diverse(ranked: Sequence[Contestant], most: int) -> list[Contestant]:
    """Return the best pair of every center first, then the second of every center.

    Centers err in different ways, so their mean errs less; noises around one center hardly differ.
    """
    seen: dict[str, int] = {}
    turns = []
    for contestant in ranked:
        turns.append(seen.setdefault(contestant.center_name, 0))
        seen[contestant.center_name] += 1
    order = sorted(range(len(ranked)), key=lambda k: turns[k])  # stable: best first in a turn
    return [ranked[k] for k in order if turns[k] < PAIRS_PER_CENTER][:most]


def averaged(
    contestants: Sequence[Contestant], most: int, levels: Sequence[float]
) -> list[Contestant]:
    """Return the pairs whose mean is taken, at most `most`.

    They are the pairs that the rows do not tell apart from the best, and the best pair of each
    other center if the mean is better with it than without.
    """
    chosen = most_diverse(not_told_apart(contestants), most)
    others = most_diverse(sorted(contestants, key=lambda each: each.loss), most)
    for other in others:
        is_new = all(other.center_name != each.center_name for each in chosen)
        if is_new and len(chosen) < most:
            together = [*chosen, other]
            if loss_of_mean(together, levels) < loss_of_mean(chosen, levels):
                chosen = together
    return chosen


def loss_of_mean(chosen: Sequence[Contestant], levels: Sequence[float]) -> float:
    """Return the calibrated quantile loss of the mean of pairs on rows that they did not see."""
    _, unseen = blend(chosen)
    y, weight = chosen[0].y, chosen[0].weight
    with suppress_warnings(CalibrationWarning):
        calibrator = ClearCalibrator(list(levels)).fit(y, *unseen.components, sample_weight=weight)
        return mean_of(row_losses(y, unseen.components, calibrator, levels), weight)


def leaderboard(
    contestants: Sequence[Contestant], chosen: Sequence[Contestant]
) -> tuple[LeaderboardRow, ...]:
    """Return one line for each contestant, best first."""
    ranked = sorted(contestants, key=lambda contestant: contestant.loss)
    names = {c.names for c in chosen}
    return tuple(
        LeaderboardRow(
            c.center_name,
            c.noise_name,
            c.loss,
            *_behind(c, ranked[0]),
            c.names in names,
        )
        for c in ranked
    )


def _behind(contestant: Contestant, best: Contestant) -> tuple[float, float]:
    differences, weight = _row_differences(contestant, best), contestant.weight
    return mean_of(differences, weight), error_of_mean(differences, weight)


def _row_differences(contestant: Contestant, best: Contestant) -> np.ndarray:
    losses, of_best = contestant.row_losses, best.row_losses
    with np.errstate(invalid="ignore"):  # infinite bounds, which bring no row nearer to others
        return np.where(losses == of_best, 0.0, losses - of_best)


class UnseenRows(NamedTuple):
    """Training rows, and their components by members that did not see them."""

    numbers: np.ndarray  # (n,): the numbers of these rows among those that train
    components: Components
    shrinkage: np.ndarray
    """The error of a new row, which all members predict, as a share of the error here, (n,)."""


def blend(chosen: Sequence[Contestant]) -> tuple[Blend, UnseenRows]:
    """Return the mean of the pairs, and its components of rows that members of each did not see."""
    factors = np.stack([contestant.factors for contestant in chosen])
    # An epistemic part that no pair uses is kept: far from the data it may be the only width.
    unused = (factors[:, 1] == 0).all(axis=0)
    factors[:, 1, unused] = factors[:, 0, unused]
    if len(chosen) == 1:
        factors = np.ones_like(factors)  # lambda and the gammas then mean what they do in the paper
    mean = Blend([contestant.pair for contestant in chosen], factors)
    components = mean.average([contestant.unseen for contestant in chosen])
    return mean, UnseenRows(chosen[0].rows, components, shrinkage(chosen, components))


def shrinkage(chosen: Sequence[Contestant], components: Components) -> np.ndarray:
    """Return how much smaller errors (n,) are when all members predict a row.

    The squared error of an unseen row is that of a new row plus the variance that the mean of few
    members has beyond the mean of all. Both are divided by the squared width, so that noisy rows do
    not decide alone. Centers of different models vary independently of each other.
    """
    share = dict.fromkeys((contestant.center_name for contestant in chosen), 0.0)
    for contestant in chosen:
        share[contestant.center_name] += 1 / len(chosen)
    of_centers = {contestant.center_name: contestant for contestant in chosen}
    surplus = np.sum(
        [share[name] ** 2 * each.surplus_variance() for name, each in of_centers.items()], axis=0
    )
    width = (components.aleatoric + components.epistemic)[:, :, 0].sum(axis=1)
    is_known = width > 0
    if not is_known.any():
        return np.ones(len(width))
    error = (chosen[0].y - components.center)[is_known] / width[is_known]
    typical = mean_of(error**2, None if chosen[0].weight is None else chosen[0].weight[is_known])
    share_of_square = np.zeros(len(width))
    if typical > 0:
        share_of_square[is_known] = surplus[is_known] / (typical * width[is_known] ** 2)
    return np.sqrt(1 - np.minimum(share_of_square, MOST_SURPLUS))


MOST_SURPLUS = 0.5
"""The largest share of a squared error that is taken away, however much members disagree."""
