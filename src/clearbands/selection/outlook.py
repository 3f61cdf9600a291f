"""The outlook of a fit: its learning curve, and the split of its widths that follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.calibration.calibration_set import scale
from clearbands.prediction.curve_posterior import CurvePosterior, excess_of, extrapolate
from clearbands.prediction.outlook import ALL_LIKELY, Outlook, Split
from clearbands.rows.bands import make_interval
from clearbands.rows.copies import copy_labels
from clearbands.rows.levels import alpha
from clearbands.rows.weighting import mean_of
from clearbands.selection.fit_result import FitResult
from clearbands.selection.learning_curve import FEWEST_ROWS, LearningCurve, measure_curve
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble

TOO_FEW = (
    f"A learning curve needs {FEWEST_ROWS} rows, or groups of rows, and there are fewer: how "
    "much of a width is ignorance is not known."
)
NO_ERRORS = "Rows are predicted without an error, so there is no learning curve to look at."
NO_NUMBERS = "The parts take a table as it is; a learning curve is measured on numbers only."


def shows_curve(learned: FitResult) -> bool:
    """Whether the split follows a learning curve; for given parts it follows the paper instead."""
    plan = learned.plan
    return not plan.is_given or isinstance(plan.epistemic, FoldedEnsemble)


def make_outlook(
    learned: FitResult,
    calibrator: BaseEstimator,
    level: float,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> Outlook:
    """Return the outlook of a fit from its own rows."""
    judged, targets = learned.calibration_set, learned.targets
    center, *parts = scale(calibrator, judged.components, judged.calibration_groups)
    distances = np.add(*parts)[:, :, 0]
    bounds = targets.points(make_interval(center, distances), center)
    y, weight = targets.center(judged.y), judged.sample_weight
    width = bounds[:, 1] - bounds[:, 0]
    outside = np.maximum(bounds[:, 0] - y, 0) + np.maximum(y - bounds[:, 1], 0)
    rmse = np.sqrt(mean_of((y - targets.center(center)) ** 2, weight))
    # A group with too few rows has infinite bounds; the forecast is about the other rows.
    counted = np.isfinite(width) if np.isfinite(width).any() else np.full(len(width), True)
    counted_weight = None if weight is None else weight[counted]
    loss = mean_of((alpha(level) / 2 * width + outside)[counted] / 2, counted_weight)
    error = mean_of(np.abs(judged.y - center), weight)
    finite = np.isfinite(distances).all(axis=1)
    if not finite.any():  # too few rows for the level: then all rows count alike
        finite[:], distances = True, np.ones_like(distances)
    rows, widths = judged.components.take(finite), distances[finite].sum(axis=1)
    mean_width = mean_of(widths, None if weight is None else weight[finite])
    has_widths = np.isfinite(width).any()
    excess = excess_of(mean_width, error, level, learned.n_train) if has_widths else 0.0
    posterior, reason, curve = _posterior(learned, error, excess, rng, n_jobs)
    shares = ALL_LIKELY if posterior is None else posterior.shares()
    likely, least, most = (
        Split.of(rows, widths, 1 - share) for share in (shares.middle, shares.high, shares.low)
    )
    known: dict[str, Any] = {}
    if curve is not None:
        known = {"sizes": curve.sizes, "errors": curve.mean_absolute(), "names": curve.names}
    measures = mean_of(width[counted], counted_weight), float(rmse), loss
    splits = likely, least, most
    return Outlook(*measures, learned.n_train, posterior, splits, reason, **known)


def _posterior(
    learned: FitResult,
    error: float,
    excess: float,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> tuple[CurvePosterior | None, str, LearningCurve | None]:
    if not learned.sees_numbers:
        return None, NO_NUMBERS, None
    rows, n_rows = learned.train, learned.n_train
    own: float | None = error
    if learned.has_copies and rows.groups is None:
        copies = copy_labels(rows.X, rows.y)
        own, excess = None, 0.0  # members judge copies of rows that they have seen
        # For a table in files `rows` holds only some of the training rows.
        n_rows = round(n_rows * len(np.unique(copies)) / len(rows))
        rows = replace(rows, groups=copies)
    gap, pool = learned.plan.gap, _own_pool(learned.plan.epistemic)
    curve = measure_curve(rows, rng, gap=gap, n_jobs=n_jobs, pool=pool)
    if curve is None:
        return None, TOO_FEW, None
    means = curve.means()
    if error <= 0 or means.errors.min() <= 0:
        return None, NO_ERRORS, curve
    return extrapolate(means, rows=n_rows, error=own, excess=excess), "", curve


def _own_pool(epistemic: EpistemicPart | None) -> dict[str, BaseEstimator] | None:
    """Return a given center as the only model of the curve; None if centers compete."""
    if not isinstance(epistemic, FoldedEnsemble):
        return None
    return {"the center": epistemic.center_model()}
