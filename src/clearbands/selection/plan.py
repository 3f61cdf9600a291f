"""What a `ClearRegressor` does with rows, wherever they are: its parameters, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Protocol, get_args

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.models.monotone import Monotone, check_monotone
from clearbands.prediction.interval_regressor import make_encoder
from clearbands.rows.checks import check_choice, check_count, check_scale
from clearbands.rows.settings import Calibration, Split
from clearbands.rows.split import Rows, Shares, share_out
from clearbands.rows.target_transform import check_transform, fit_transform, shift_from_afar
from clearbands.rows.targets import Support, Targets, check_support
from clearbands.rows.typed import Seed
from clearbands.selection.fit_result import FitResult
from clearbands.selection.model_search import ModelSearch
from clearbands.selection.recipe import RESIDUALS, Recipe
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import EpistemicPart

CALIBRATIONS, SPLITS = get_args(Calibration), get_args(Split)


class Parameters(Protocol):
    """Those of a `ClearRegressor` that decide how it is fitted."""

    epistemic: EpistemicPart | None
    aleatoric: AleatoricPart | None
    calibration: str | None
    calibration_size: float
    split: str
    gap: int
    residuals: str | None
    show_center: bool | None
    search: ModelSearch | None
    time_budget: float | None
    support: tuple[float | None, float | None] | None
    target_transform: BaseEstimator | str | None
    whole_numbers: bool
    monotone: Monotone
    encoder: BaseEstimator | str | None
    n_jobs: int | None
    random_state: Seed


@dataclass(frozen=True)
class Plan:
    """What the parameters mean together."""

    recipe: Recipe  # of the parts
    calibration: str  # "cross", "joint" or "conformal"
    calibration_size: float
    encoder: BaseEstimator  # not fitted yet
    target_transform: BaseEstimator | str | None
    support: Support
    whole_numbers: bool
    monotone: Monotone

    @classmethod
    def of(cls, given: Parameters, levels: Sequence[float], *, has_set: bool) -> Plan:
        """`has_set` says whether there are rows given for calibration."""
        _check(given)
        recipe = Recipe(
            given.epistemic,
            given.aleatoric,
            given.residuals,
            given.show_center,
            given.search,
            given.time_budget,
            list(levels),
            given.n_jobs,
            given.gap if given.split == "time" else None,
        )
        return cls(
            recipe,
            choose_calibration(given.calibration, has_set=has_set),
            given.calibration_size,
            make_encoder(
                given.encoder,
                codes=given.epistemic is given.aleatoric is None,
                dates="parts" if given.monotone is None else "seconds",
            ),
            given.target_transform,
            check_support(given.support),
            given.whole_numbers,
            given.monotone,
        )

    def share_out(
        self, rows: Rows, held_out: Rows | None, rng: np.random.RandomState
    ) -> Shares[Rows]:
        """Who trains, who chooses and who calibrates; some rows may be held out already."""
        size, gap = self.calibration_size, self.recipe.gap
        return share_out(rows, held_out, self.calibration, size=size, gap=gap, rng=rng)

    def fit_targets(self, y: np.ndarray) -> Targets:
        """What is known of targets, those of training rows being y."""
        transform = fit_transform(self.target_transform, y)
        if transform is None and not getattr(self.recipe.epistemic, "fitted_elsewhere", False):
            transform = shift_from_afar(y)
        return Targets(self.support, transform, self.whole_numbers)


class GivenRows(Protocol):
    """Rows that `fit` was given."""

    def learn(self, plan: Plan, rng: np.random.RandomState) -> FitResult:
        """Fit encoder and parts, and have rows judged by what did not see them."""


def choose_calibration(calibration: str | None, *, has_set: bool) -> str:
    """What was asked for; by default all rows train, unless some were given for calibration.

    >>> choose_calibration(None, has_set=False), choose_calibration(None, has_set=True)
    ('cross', 'joint')
    """
    if calibration is None:
        return "joint" if has_set else "cross"
    if calibration == "cross" and has_set:
        raise ValueError(
            'calibration="cross" calibrates on the rows that train, so X_cal and y_cal have no '
            'use: leave them out, or choose "joint" or "conformal".'
        )
    return calibration


def rescaled(rows: Rows, targets: Targets) -> Rows:
    """The rows with targets on the scale on which they are learned."""
    y = targets.to_model(rows.y)
    check_scale(y, "y")
    return replace(rows, y=y)


def _check(given: Parameters) -> None:
    if given.calibration is not None:
        check_choice(given.calibration, "calibration", CALIBRATIONS)
    check_support(given.support)
    check_transform(given.target_transform)
    check_choice(given.split, "split", SPLITS)
    check_monotone(given.monotone)
    check_count(given.gap, "gap", smallest=0)
    if given.gap and given.split == "random":
        raise ValueError(f'gap={given.gap} needs split="time": rows at random have no order.')
    if given.residuals is not None:
        check_choice(given.residuals, "residuals", RESIDUALS)
    _check_time_budget(given)


def _check_time_budget(given: Parameters) -> None:
    budget = given.time_budget
    if budget is None:
        return
    if isinstance(budget, bool) or not isinstance(budget, Real) or not 0 < budget < np.inf:
        raise ValueError(f"time_budget must be a number of seconds above 0, got {budget!r}.")
    if given.search is not None or (given.epistemic is not None and given.aleatoric is not None):
        raise ValueError(
            "time_budget chooses between searches, and here the search or both parts are given: "
            "leave one of them out."
        )
