"""Scorers for scikit-learn: `cross_val_score(model, X, y, scoring=scorers.interval_score)`.

A scorer takes a fitted model, rows and their targets, and larger is better: `interval_score` and
`quantile_loss` are therefore negative. `coverage` is a share, which is best at the level of the
model; report it, but do not choose models by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from clearbands import metrics
from clearbands.rows.levels import check_one_level
from clearbands.rows.typed import TableLike

__all__ = ["ALL", "IntervalScorer", "coverage", "interval_score", "quantile_loss"]


@dataclass(frozen=True)
class IntervalScorer:
    """One metric of the intervals of a model, for scikit-learn.

    The score of a model with several levels is the mean over its levels. In a `Pipeline` the last
    step is scored, on the rows as the other steps transform them; in a fitted search, the best
    estimator is scored.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from clearbands import fast, scorers
    >>> X = np.linspace(0, 1, 90)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 90)
    >>> scores = cross_val_score(fast(random_state=0), X, y, cv=2, scoring=scorers.interval_score)
    >>> scores.shape, bool(np.all(scores < 0))
    ((2,), True)
    """

    metric: Callable[..., float]  # a function of targets, intervals (n, 2) and a level
    sign: int = -1
    confidence_level: float | None = None  # None takes the levels of the model

    def at(self, confidence_level: float) -> IntervalScorer:
        """Return the same scorer at one level, whatever the levels of the model are.

        >>> from clearbands import scorers
        >>> scorers.coverage.at(0.5).confidence_level
        0.5
        """
        return replace(self, confidence_level=check_one_level(confidence_level))

    def __call__(
        self, estimator: Any, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        model, rows = _model_and_rows(estimator, X)
        if self.confidence_level is None:
            levels = np.atleast_1d(getattr(model, "levels_", model.confidence_level)).tolist()
            _, intervals = model.predict_interval(rows)
        else:
            levels = [self.confidence_level]
            _, intervals = model.predict_interval(rows, confidence_level=levels)
        scores = [
            self.metric(y, intervals[:, :, j], level, sample_weight=sample_weight)
            for j, level in enumerate(levels)
        ]
        return self.sign * float(np.mean(scores))


def _coverage(
    y: ArrayLike,
    intervals: ArrayLike,
    confidence_level: float,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    return metrics.picp(y, intervals, sample_weight=sample_weight)


def _model_and_rows(estimator: Any, X: TableLike) -> tuple[Any, Any]:
    """Return the model inside a search or pipeline, and the rows as it sees them."""
    if hasattr(estimator, "best_estimator_"):
        return _model_and_rows(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        return _model_and_rows(estimator[-1], estimator[:-1].transform(X))
    if not hasattr(estimator, "predict_interval"):
        raise TypeError(
            f"{type(estimator).__name__} has no predict_interval, so its intervals cannot be "
            "scored: give a ClearRegressor, one of the baselines, or a Pipeline that ends with one."
        )
    return estimator, X


interval_score = IntervalScorer(metrics.interval_score)
"""Minus the mean interval score: the width, and 2/alpha times the distance of rows outside."""

quantile_loss = IntervalScorer(metrics.quantile_loss)
"""Minus the mean pinball loss of the two bounds."""

coverage = IntervalScorer(_coverage, sign=1)
"""The share of rows inside their intervals."""

ALL = {"interval_score": interval_score, "quantile_loss": quantile_loss, "coverage": coverage}
"""All scorers by name: `cross_validate(model, X, y, scoring=scorers.ALL)`."""
