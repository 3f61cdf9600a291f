"""The result of a fit before calibration, from rows in memory or in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.calibration.calibration_set import (
    CalibrationSet,
    fit_calibrator,
    for_groups,
    keep_levels,
    scale,
)
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.trend import Trend
from clearbands.prediction.extrapolation import (
    MOST_COUNTS,
    Extrapolation,
    category_deviations,
    center_moves_without,
    deviations_of_new,
    draw_gaps,
    drop_numbers,
    factors_by_gap_count,
    gap_deviations,
    rows_for_gaps,
)
from clearbands.prediction.familiarity import (
    Familiarity,
    are_alone,
    epistemic_width,
    ordinary_rows,
    texts_in,
    widths_as_if_new,
)
from clearbands.prediction.predictor import Predictor
from clearbands.prediction.table_estimator import was_fitted_elsewhere
from clearbands.rows.bands import Components, covered, make_interval
from clearbands.rows.messages import warn
from clearbands.rows.split import Rows
from clearbands.rows.targets import OFTEN, Targets, TargetWarning, support_hint
from clearbands.selection.compete import ChosenParts
from clearbands.selection.plan import Plan
from clearbands.uncertainty.pairs import Blend, configured_clone


@dataclass(frozen=True)
class UnseenScores:
    """Scores on the rows that calibrated a model, each judged by members that did not see it.

    These rows chose how wide intervals are, so their coverage is near the level by construction; a
    report on rows that were kept out of the fit tests it.
    """

    n_rows: int
    coverage: tuple[float, ...]  # by level
    width: tuple[float, ...]  # the median, by level
    rmse: float  # the error of the center
    rmse_of_mean: float  # the error of a model that always predicts the mean of these rows
    lowest_bound: float  # at the first level
    lowest_target: float
    is_often_negative: bool  # whether enough lower bounds are negative for `fit` to warn of it

    @classmethod
    def of(
        cls,
        z: np.ndarray,
        calibrated: Components,
        targets: Targets,
        weight: np.ndarray | None = None,
    ) -> UnseenScores:
        """Score targets (n,) and calibrated distances, both on the scale of the model."""
        y, center = targets.center(z), targets.center(calibrated.center)
        distances = np.add(calibrated.aleatoric, calibrated.epistemic)
        bounds = targets.points(make_interval(calibrated.center, distances), calibrated.center)
        levels = range(bounds.shape[2])
        mean = np.average(y, weights=weight)
        return cls(
            n_rows=len(y),
            coverage=tuple(
                float(np.average(covered(y, bounds[:, :, j]), weights=weight)) for j in levels
            ),
            width=tuple(float(np.median(bounds[:, 1, j] - bounds[:, 0, j])) for j in levels),
            rmse=_root_mean_square(y - center, weight),
            rmse_of_mean=_root_mean_square(y - mean, weight),
            lowest_bound=float(bounds[:, 0, 0].min()),
            lowest_target=float(y.min()),
            is_often_negative=bool(np.mean(bounds[:, 0, 0] < 0) > OFTEN),
        )


def _root_mean_square(errors: np.ndarray, weight: np.ndarray | None) -> float:
    return float(np.sqrt(np.average(errors**2, weights=weight)))


class Span(NamedTuple):
    """The ranges of all training rows, for fits that hold only some of them in memory."""

    low: np.ndarray  # (columns,)
    high: np.ndarray
    texts: Sequence[set[str] | None]  # all categories, by text column; None for too many


@dataclass(frozen=True)
class FitResult:
    """Fitted parts, and what calibration needs of the rows that they were fitted on."""

    plan: Plan
    encoder: BaseEstimator
    targets: Targets
    chosen: ChosenParts
    train: Rows  # the training rows as parts see them
    held_out: Rows | None  # the rows that calibrate; None if the training rows do
    calibration_set: CalibrationSet
    chooser: CalibrationSet | None  # the rows that choose lambda; None if those that calibrate do
    y: np.ndarray  # the targets of all rows in memory, as they were given
    n_train: int
    has_copies: bool  # whether rows that judge are copies of rows that train
    span: Span | None = None

    @classmethod
    def of(
        cls,
        plan: Plan,
        encoder: BaseEstimator,
        targets: Targets,
        chosen: ChosenParts,
        train: Rows,
        held_out: Sequence[Rows],
        **known: Any,
    ) -> FitResult:
        """Judge rows by members that did not see them, with centers inside the support."""
        support = targets.inner
        if not held_out:
            assert chosen.unseen is not None
            numbers, components, shrinkage = chosen.unseen
            rows = train.take(numbers)
            own = CalibrationSet.of(rows, components, support, shrinkage)
            trend = _trend(plan, own, rows.groups)
            if trend is not None:
                assert isinstance(chosen.parts, Blend)  # parts competed
                chosen = chosen._replace(parts=replace(chosen.parts, trend=trend))
                own = own._replace(components=trend(own.components))
            return cls(plan, encoder, targets, chosen, train, None, own, None, **known)
        *others, own = (
            CalibrationSet.of(rows, chosen.parts.components(rows.X), support) for rows in held_out
        )
        chooser = others[0] if others else None
        return cls(plan, encoder, targets, chosen, train, held_out[-1], own, chooser, **known)

    @property
    def choosing_set(self) -> CalibrationSet:
        """The rows that choose lambda."""
        return self.calibration_set if self.chooser is None else self.chooser

    @property
    def sees_numbers(self) -> bool:
        """Whether parts see an array, not a table."""
        return isinstance(self.train.X, np.ndarray)

    def predictor(self, calibrator: BaseEstimator, calibrated: Components) -> Predictor:
        """Return what answers for new rows; `calibrated` are components of rows that calibrate."""
        judged, levels = self.calibration_set, np.array(self.plan.levels)
        return Predictor(
            self.encoder,
            self.chosen.parts,
            self.targets,
            calibrator,
            levels,
            keep_levels(calibrator, judged, levels, chooser=self.chooser),
            self.familiarity(),
            self.extrapolation(calibrator, calibrated, float(levels[0])),
        )

    def calibrated(self, calibrator: BaseEstimator) -> Components:
        """Return the components of the rows that calibrate, with calibrated widths."""
        judged = self.calibration_set
        return scale(calibrator, judged.components, judged.calibration_groups)

    def unseen_scores(self, calibrated: Components) -> UnseenScores:
        """Return the scores of the rows that calibrate."""
        judged = self.calibration_set
        return UnseenScores.of(judged.y, calibrated, self.targets, judged.weight)

    def calibrate(self, calibrator: BaseEstimator, rng: np.random.RandomState) -> BaseEstimator:
        """Fit the calibrator; if there are groups, one for each of them."""
        if self.calibration_set.calibration_groups is not None:
            calibrator = for_groups(calibrator, self.calibration_set.calibration_groups)
        calibrator = configured_clone(calibrator, self.plan.levels, self.plan.n_jobs, rng)
        return fit_calibrator(calibrator, self.calibration_set, self.chooser)

    def familiarity(self) -> Familiarity | None:
        """Return what tells how ordinary rows look; None if parts see a table."""
        if not self.sees_numbers:
            return None
        train, rows = self.train, self.held_out
        widths = epistemic_width(self.calibration_set.components)
        if rows is not None:
            familiar = Familiarity.of(train, widths, held_out=rows)
        else:
            some = ordinary_rows(len(widths))
            seen = epistemic_width(self.chosen.parts.components(self._encoded_rows(some)))
            widths, numbers = widths_as_if_new(seen, widths[some]), self._numbers[some]
            familiar = Familiarity.of(train, widths, rows=numbers)
        return familiar if self.span is None else familiar.widened(*self.span)

    def extrapolation(
        self, calibrator: BaseEstimator, calibrated: Components, level: float
    ) -> Extrapolation | None:
        """Return what is unknown beyond the training rows, learned from rows that calibrate.

        None in three cases: the parts were given and rows were held out, as in the paper; rows are
        in the order of time, where rows that calibrate lie beyond those that trained, as new ones
        do; or parts see a table.
        """
        is_as_in_paper = self.plan.is_given and self.chosen.unseen is None
        if is_as_in_paper or self.plan.gap is not None or not self.sees_numbers:
            return None
        gaps, together = self._gap_deviations(calibrated, level)
        worth = self._category_deviations(calibrator, calibrated, level)
        beyond = replace(
            self.slopes_at_ends(), category_deviations=worth, gaps=gaps, gap_factors=together
        )
        return beyond if self.span is None else beyond.widened(self.span.low, self.span.high)

    def slopes_at_ends(self) -> Extrapolation:
        """Return how fast the center changes towards the ends of the training rows."""
        known = self.calibration_set
        some, weight = ordinary_rows(len(known.y)), known.sample_weight
        return Extrapolation.of(
            self.train.X,
            self.train.sample_weight,
            self._encoded_rows(some),
            known.components.center[some],
            None if weight is None else weight[some],
            self.plan.direction,
        )

    def guarantee(self, *, has_calibration_set: bool, has_labels: bool) -> Guarantee:
        """Return which coverage is guaranteed.

        `has_calibration_set` says whether rows were given for calibration, and `has_labels`
        whether rows were kept together: labels are exchangeable then, their rows are not.
        """
        if was_fitted_elsewhere(self.plan.epistemic, has_calibration_set=has_calibration_set):
            return Guarantee.UNKNOWN
        if self.has_copies:
            return Guarantee.COPIES
        if self.plan.gap is not None:
            return Guarantee.TIME
        if self.plan.calibration != "conformal":
            return Guarantee.of(self.plan.calibration)
        is_parted = has_labels and not has_calibration_set
        return Guarantee.CROSS if is_parted else self.calibration_set.guarantee

    def warn_of_support(self, calibrated: Components) -> None:
        """Warn if bounds of the first level leave the range of all targets."""
        center, *widths = calibrated
        bounds = make_interval(center, np.add(*widths)[:, :, 0])
        sentence = support_hint(self.y, self.targets.points(bounds, center), self.targets)
        if sentence is not None:
            warn(sentence, TargetWarning)

    def _category_deviations(
        self, calibrator: BaseEstimator, calibrated: Components, level: float
    ) -> np.ndarray | None:
        """Return deviations of centers without their categories; None if there are no categories.

        They come from rows that calibrate. If enough of these have a category of their own, no
        deviation is larger than such rows need.
        """
        n_categories = [len(set(column.tolist())) for column in texts_in(self.train).T]
        if not n_categories:
            return None
        judged, parts = self.calibration_set, self.chosen.parts
        some = rows_for_gaps(len(judged.y), len(n_categories))
        known, numbers = self._locate_calibration_rows(some)
        X, texts, labels = known.X[numbers], texts_in(known)[numbers], judged.calibration_groups
        error = (judged.y - judged.components.center)[some]
        weight = None if judged.weight is None else judged.weight[some]

        def predict_distances(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return centers and distances of rows, which may be several tables in one."""
            own = None if labels is None else labels[np.resize(some, len(rows))]
            center, *widths = scale(calibrator, parts.components(rows), own)
            return center, np.add(*widths)[:, :, 0]

        forget = self.encoder.forget
        worth = category_deviations(
            predict_distances, forget, X, texts, n_categories, error, level, weight
        )
        distances = np.add(calibrated.aleatoric, calibrated.epistemic)[:, :, 0]
        errors, is_new = judged.y - judged.components.center, self._have_new_categories()
        return np.minimum(worth, deviations_of_new(errors, distances, is_new, level, judged.weight))

    def _have_new_categories(self) -> np.ndarray:
        """Return (n, text columns) booleans: which categories of rows that calibrate are new.

        Nobody had seen them who judged the row.
        """
        texts = texts_in(self.train)
        if self.held_out is None:
            return are_alone(texts)[self._numbers]
        held_out = texts_in(self.held_out)
        known = [~np.isin(own, seen) for own, seen in zip(held_out.T, texts.T, strict=True)]
        return np.column_stack(known)

    def _gap_deviations(
        self, calibrated: Components, level: float
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return deviations of centers without a number, and the factors for several numbers.

        Both are None if the encoder cannot drop a value.
        """
        if not hasattr(self.encoder, "drop_value"):
            return None, None
        complete, judged = self.encoder.complete_columns(), self.calibration_set
        distances = np.add(calibrated.aleatoric, calibrated.epistemic)[:, :, 0]
        usable = np.flatnonzero(np.isfinite(distances).all(axis=1))
        deviations, columns = np.zeros(len(complete)), np.flatnonzero(complete)
        if len(columns) == 0 or len(usable) == 0:
            return deviations, None
        predict, drop = self.chosen.parts.predict, self.encoder.drop_value

        def known(rows: np.ndarray) -> tuple[Any, ...]:
            weight = None if judged.weight is None else judged.weight[rows]
            return (judged.y - judged.components.center)[rows], distances[rows], level, weight

        rows = usable[rows_for_gaps(len(usable), len(columns))]
        moves = center_moves_without(predict, drop, self._encoded_rows(rows), columns)
        deviations[columns] = gap_deviations(moves, *known(rows))
        rows = usable[rows_for_gaps(len(usable), MOST_COUNTS)]
        X, gone = self._encoded_rows(rows), draw_gaps(len(rows), len(columns))
        center = predict(X) if gone else np.zeros(len(rows))
        together = factors_by_gap_count(
            {n: center - predict(drop_numbers(drop, X, columns, own)) for n, own in gone.items()},
            {n: np.sqrt(own @ deviations[columns] ** 2) for n, own in gone.items()},
            *known(rows),
        )
        return deviations, together

    @property
    def _numbers(self) -> np.ndarray:
        """The numbers (n,) of the rows that calibrate, among those that train."""
        assert self.chosen.unseen is not None
        return self.chosen.unseen.numbers

    def _encoded_rows(self, some: np.ndarray) -> np.ndarray:
        """Return some of the rows that calibrate, as parts see them."""
        rows, numbers = self._locate_calibration_rows(some)
        return rows.X[numbers]

    def _locate_calibration_rows(self, some: np.ndarray) -> tuple[Rows, np.ndarray]:
        """Return rows that hold those that calibrate, and the numbers in them of some of these."""
        if self.held_out is not None:
            return self.held_out, some
        return self.train, self._numbers[some]


def _trend(plan: Plan, own: CalibrationSet, groups: np.ndarray | None) -> Trend | None:
    """Return the trend of coverage that widths follow; None if there is none."""
    if not plan.follows_trend:
        return None
    return Trend.of(own.y, own.components, plan.levels, weight=own.weight, groups=groups)
