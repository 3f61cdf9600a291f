"""The checked parameters of a `ClearRegressor`, for rows in memory and in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, get_args

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.models.monotone import Monotone, check_monotone
from clearbands.prediction.familiarity import texts_of_rows
from clearbands.prediction.table_estimator import check_encoder_sees_no_target, make_encoder
from clearbands.rows.checks import check_choice, check_count, check_scale
from clearbands.rows.settings import Calibration, Residuals, Split
from clearbands.rows.split import Rows, divide_rows
from clearbands.rows.target_transform import (
    check_transform,
    fit_target_transform,
    shift_large_targets,
)
from clearbands.rows.targets import Support, Targets, check_support
from clearbands.selection.model_search import ModelSearch
from clearbands.tables.encoder import encode_to_fit
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import EpistemicPart

CALIBRATIONS, SPLITS, RESIDUALS = map(get_args, (Calibration, Split, Residuals))


@dataclass(frozen=True)
class Plan:
    """The parameters of a `ClearRegressor`, taken together; parts that are None compete."""

    epistemic: EpistemicPart | None
    aleatoric: AleatoricPart | None
    residuals: str | None
    show_center: bool | None
    search: ModelSearch | None
    time_budget: float | None
    levels: list[float]
    n_jobs: int | None
    gap: int | None  # for rows in the order of time: see `clearbands.rows.time_order`
    calibration: str  # "cross", "joint" or "conformal"
    calibration_size: float
    encoder: BaseEstimator  # not fitted
    target_transform: BaseEstimator | str | None
    support: Support
    whole_numbers: bool
    monotone: Monotone
    direction: np.ndarray | None = None
    """Directions (columns,) of X as parts see it: 1 rises, -1 falls; None if all are free.

    Centers that cannot obey them do not compete. No width depends on a column with a direction, so
    that bounds obey them as the center does.
    """

    @classmethod
    def of(cls, regressor: Any, levels: Sequence[float], *, has_calibration_set: bool) -> Plan:
        """Check the parameters; `has_calibration_set` says whether calibration rows are given."""
        _check(regressor)
        dates = "parts" if regressor.monotone is None else "seconds"
        codes = all(
            part is None or getattr(part, "learns_categories", False)
            for part in (regressor.epistemic, regressor.aleatoric)
        )
        return cls(
            epistemic=regressor.epistemic,
            aleatoric=regressor.aleatoric,
            residuals=regressor.residuals,
            show_center=regressor.show_center,
            search=regressor.search,
            time_budget=regressor.time_budget,
            levels=list(levels),
            n_jobs=regressor.n_jobs,
            gap=regressor.gap if regressor.split == "time" else None,
            calibration=choose_calibration(regressor, has_calibration_set=has_calibration_set),
            calibration_size=regressor.calibration_size,
            encoder=make_encoder(regressor.encoder, codes=codes, dates=dates),
            target_transform=regressor.target_transform,
            support=check_support(regressor.support),
            whole_numbers=regressor.whole_numbers,
            monotone=regressor.monotone,
        )

    @property
    def is_given(self) -> bool:
        """Whether nothing competes."""
        return self.epistemic is not None and self.aleatoric is not None

    @property
    def follows_trend(self) -> bool:
        """Whether widths follow a trend of the coverage, if the rows that calibrate show one.

        Three kinds of fits do not: given parts are calibrated as in the paper; in the order of time
        a trend may be one of time; and if the center must rise or fall with a column, no width may
        depend on it.
        """
        return not self.is_given and self.gap is None and self.direction is None

    def divide_rows(
        self, rows: Rows, held_out: Rows | None, rng: np.random.RandomState
    ) -> list[Rows]:
        """Return the rows that train, those that choose and those that calibrate.

        Some rows may be held out already.
        """
        size, gap = self.calibration_size, self.gap
        return divide_rows(rows, held_out, self.calibration, size=size, gap=gap, rng=rng)

    def fit_targets(self, y: np.ndarray) -> Targets:
        """Return what is known of targets; y are those of the training rows."""
        transform = fit_target_transform(self.target_transform, y)
        if transform is None and not getattr(self.epistemic, "fitted_elsewhere", False):
            transform = shift_large_targets(y)
        return Targets(self.support, transform, self.whole_numbers)


def choose_calibration(
    estimator: Any, *, has_calibration_set: bool, useless: str = "X_cal and y_cal"
) -> str:
    """Return the calibration of an estimator that is about to be fitted.

    By default all rows train and calibrate, so the encoder may not learn from y; if rows are given
    for calibration, only these calibrate. `useless` names the arguments that "cross" has no use
    for.
    """
    calibration = estimator.calibration
    if calibration is None:
        calibration = "joint" if has_calibration_set else "cross"
    check_choice(calibration, "calibration", CALIBRATIONS)
    if calibration == "cross":
        if has_calibration_set:
            raise ValueError(
                f'calibration="cross" calibrates on the rows that train, so {useless} have no '
                'use: leave them out, or choose "joint" or "conformal".'
            )
        check_encoder_sees_no_target(estimator.encoder)
    return calibration


def encoded(rows: Rows, encoder: BaseEstimator) -> Rows:
    """Return the rows as parts see them, with the texts that the encoder turned into numbers."""
    texts = texts_of_rows(encoder, rows.X)
    return replace(rows, X=encode_to_fit(encoder, rows.X), texts=texts)


def rescaled(rows: Rows, targets: Targets) -> Rows:
    """Return the rows with targets on the scale on which models learn them."""
    y = targets.to_model(rows.y)
    check_scale(y, "y")
    return replace(rows, y=y)


def _check(regressor: Any) -> None:
    if regressor.verbose not in (0, 1):
        raise ValueError(f"verbose must be 0 or 1, got {regressor.verbose!r}.")
    check_support(regressor.support)
    check_transform(regressor.target_transform)
    check_choice(regressor.split, "split", SPLITS)
    check_monotone(regressor.monotone)
    check_count(regressor.gap, "gap", smallest=0)
    if regressor.gap and regressor.split == "random":
        raise ValueError(f'gap={regressor.gap} needs split="time": a random split has no order.')
    if regressor.residuals is not None:
        check_choice(regressor.residuals, "residuals", RESIDUALS)
    _check_time_budget(regressor)


def _check_time_budget(regressor: Any) -> None:
    budget = regressor.time_budget
    if budget is None:
        return
    if isinstance(budget, bool) or not isinstance(budget, Real) or not 0 < float(budget) < np.inf:
        raise ValueError(f"time_budget must be a number of seconds above 0, got {budget!r}.")
    are_given = regressor.epistemic is not None and regressor.aleatoric is not None
    if regressor.search is not None or are_given:
        raise ValueError(
            "time_budget chooses between searches, and here the search or both parts are given: "
            "leave one of them out."
        )
