"""All diagnostics of a fitted model on new rows, in one call."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from clearbands.diagnostics.compared_groups import (
    compared_groups,
    has_groups,
    needed_groups,
    pooled_bounds,
)
from clearbands.diagnostics.coverage import (
    Cell,
    chance_range,
    coverage,
    coverage_by_feature,
    coverage_by_group,
    coverage_by_ratio,
    coverage_by_width,
    coverage_gap,
    coverage_range,
    lambda_edge,
)
from clearbands.diagnostics.cross_fitted import (
    ROWS_NEEDED,
    excess_risk,
    exchangeability,
    worst_slab,
)
from clearbands.diagnostics.dependence import hsic, width_error_correlation
from clearbands.diagnostics.diagnosis import Diagnosis, corrected
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.checks import MISSING, check_group_labels, check_vector
from clearbands.rows.frames import is_frame
from clearbands.rows.group_columns import are_columns, read_group_columns
from clearbands.rows.levels import find_level
from clearbands.rows.messages import renamed
from clearbands.rows.typed import Seed, TableLike
from clearbands.tables.columns import columns_of
from clearbands.tables.native import kind_of

FEWEST_ROWS = 4

RARE = 20
"""The categories of a text column with fewer rows than this are taken together."""


class Predicted(NamedTuple):
    """The predictions of a model for some rows at one level."""

    center: np.ndarray  # (n,)
    intervals: np.ndarray  # (n, 2)
    ratio: np.ndarray | None  # (n,) epistemic over aleatoric width, for models that have both
    together: np.ndarray | None = None  # (n, 2): intervals as if groups were calibrated together

    @classmethod
    def of(cls, parts: Uncertainty, together: np.ndarray | None = None) -> Predicted:
        return cls(parts.center, parts.interval, parts.ratio, together)


@renamed(groups="by")
def diagnose(
    model: Any,
    X: TableLike,
    y: ArrayLike,
    *,
    by: ArrayLike | None = None,
    confidence_level: float | None = None,
    X_calibration: TableLike | None = None,
    classifier: BaseEstimator | None = None,
    random_state: Seed = 0,
) -> Diagnosis:
    """Check on new rows whether the intervals of a fitted model hold what they promise.

    Parameters
    ----------
    model : fitted ClearRegressor or baseline
        Anything with `levels_` and `predict_interval`.
    X, y : rows that no step of the fit has seen
        Columns of text are divided by category, others in thirds; those of arrays are named x0,
        x1, ...
    by : (n,) or table, optional
        Labels of rows between which coverage should not differ, or several columns of groups; by
        default the columns that a model was calibrated by. A model that was calibrated with labels
        or columns needs them.
    confidence_level : float, optional
        One of the model's levels, by default its first.
    X_calibration : optional
        The calibration rows, to be compared with X; models do not keep them.
    classifier : optional
        For the excess risk and the comparison with X_calibration, see `diagnostics.excess_risk`.
    random_state
        Chooses folds, halves and directions.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import diagnose
    >>> class Constant:  # 0, give or take 1.645: 90 % of a normal target
    ...     levels_ = np.array([0.9])
    ...     def predict_interval(self, X):
    ...         return np.zeros(len(X)), np.tile([[-1.645], [1.645]], (len(X), 1, 1))
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 80, size=900)
    >>> y = rng.normal(size=900) * np.where(age > 60, 2.0, 1.0)  # the old differ more
    >>> found = diagnose(Constant(), age[:, None], y)
    >>> found.findings[1]
    'under-covers by 31 points in the highest third of `x0`, 300 rows'
    >>> found.coverage.n_covered, found.coverage.is_off
    (708, True)
    """
    y = check_vector(y, "y")
    if len(y) < FEWEST_ROWS:
        raise ValueError(f"diagnose needs at least {FEWEST_ROWS} rows, got {len(y)}.")
    return diagnose_predictions(
        model,
        X,
        y,
        _predict(model, X, by, confidence_level),
        by=by,
        confidence_level=confidence_level,
        X_calibration=X_calibration,
        classifier=classifier,
        random_state=random_state,
    )


def diagnose_predictions(
    model: Any,
    X: TableLike,
    y: np.ndarray,
    predicted: Predicted,
    *,
    by: ArrayLike | None = None,
    confidence_level: float | None = None,
    X_calibration: TableLike | None = None,
    classifier: BaseEstimator | None = None,
    random_state: Seed = 0,
) -> Diagnosis:
    """Diagnose a model as `diagnose` does, from predictions that were made before."""
    center, intervals, ratio, together = predicted
    if len(center) != len(y):
        raise ValueError(f"X has {len(center)} rows where y has {len(y)}.")
    j = find_level(model.levels_, confidence_level)
    level = float(model.levels_[j])
    by = compared_groups(model, X, by)
    by_group, before = _by_group(y, by, intervals), _by_group(y, by, together)
    has_enough = len(y) >= ROWS_NEEDED
    table = _without_empty_columns(X)
    tools: dict[str, Any] = {"classifier": classifier, "random_state": random_state}
    n_calibration = getattr(model, "n_calibration_", None)
    lambda_ = _lambda(model, j)
    diagnosis = Diagnosis(
        confidence_level=level,
        n_calibration=n_calibration,
        expected=coverage_range(n_calibration, level) if n_calibration else None,
        chance=chance_range(len(y), level, n_calibration),
        coverage=coverage(y, intervals),
        by_group=by_group,
        by_group_together=before,
        by_feature=_by_feature(X, y, intervals),
        by_width=tuple(coverage_by_width(y, intervals)),
        by_ratio=() if ratio is None else tuple(coverage_by_ratio(y, intervals, ratio)),
        coverage_gap=coverage_gap(by_group, level) if by_group else None,
        worst_slab=(
            worst_slab(y, intervals, table, random_state=random_state) if has_enough else None
        ),
        excess_risk=excess_risk(y, intervals, table, level, **tools) if has_enough else None,
        width_error=width_error_correlation(y, center, intervals),
        hsic=hsic(y, intervals, n_shuffles=999, random_state=random_state),
        lambda_=lambda_,
        lambda_edge=None if lambda_ is None else lambda_edge(lambda_, _lambdas(model)),
        exchangeability=(
            None if X_calibration is None else exchangeability(X_calibration, X, **tools)
        ),
        n_below_zero=_n_below_zero(y, intervals),
        kind=kind_of(X),
    )
    return corrected(diagnosis)


def _predict(
    model: Any, X: TableLike, by: ArrayLike | None, confidence_level: float | None
) -> Predicted:
    """Predict the rows in one pass; raise if the model lacks a method."""
    if not hasattr(model, "predict_interval") or not hasattr(model, "levels_"):
        raise TypeError(
            "diagnose needs a fitted model with predict_interval and levels_, got "
            f"{type(model).__name__}; for intervals of other origin use clearbands.diagnostics."
        )
    j = find_level(model.levels_, confidence_level)
    if hasattr(model, "predict_uncertainty"):
        level = float(model.levels_[j])
        options = {"calibration_groups": needed_groups(model, by)} if has_groups(model) else {}
        parts = model.predict_uncertainty(X, confidence_level=level, **options)
        return Predicted.of(parts, pooled_bounds(model, X, level))
    center, intervals = model.predict_interval(X)
    return Predicted(center, intervals[:, :, j], None)


def _by_group(
    y: np.ndarray, by: ArrayLike | None, intervals: np.ndarray | None
) -> tuple[Cell, ...]:
    if by is None or intervals is None:
        return ()
    if not are_columns(by):
        return tuple(coverage_by_group(y, intervals, by))
    columns, cells = read_group_columns(by, len(y)), []
    for name in columns.dtype.names or ():
        values = columns[name]
        if values.dtype.kind == "U":
            cells += coverage_by_group(y, intervals, values, name=name)
        elif np.isin(values, (0, 1)).all():
            cells += coverage_by_group(y, intervals, values.astype(int), name=name)
        else:
            cells += coverage_by_feature(y, intervals, values, name=name)
    return tuple(cells)


def _n_below_zero(y: np.ndarray, intervals: np.ndarray) -> int:
    """Count the finite lower bounds below 0 if no true value is negative, otherwise return 0."""
    lower = intervals[:, 0]
    return int(np.sum((lower < 0) & np.isfinite(lower))) if y.min() >= 0 else 0


def _lambda(model: Any, j: int) -> float | None:
    return float(model.lambda_[j]) if hasattr(model, "lambda_") else None


def _lambdas(model: Any) -> Any:
    lambdas = getattr(getattr(model, "calibrator_", None), "lambdas", "exact")
    return (0.0, math.inf) if isinstance(lambdas, str) else lambdas


def _by_feature(X: TableLike, y: np.ndarray, intervals: np.ndarray) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for column in columns_of(X):
        if column.is_text:
            labels = _without_rare(column.values)
            cells += coverage_by_group(y, intervals, labels, name=column.name)
        else:
            cells += coverage_by_feature(y, intervals, column.values, name=column.name)
    return tuple(cells)


def _without_empty_columns(X: TableLike) -> Any:
    """Return the table without columns that are missing in every row and so teach nothing here."""
    has_values = [not column.is_missing.all() for column in columns_of(X)]
    return _safe_indexing(X if is_frame(X) else np.asarray(X, float), has_values, axis=1)


def _without_rare(values: Any) -> np.ndarray:
    labels = check_group_labels(values, len(values), "by")
    names, where, counts = np.unique(labels, return_inverse=True, return_counts=True)
    is_rare = (counts < RARE) & (names != MISSING)
    return np.where(is_rare[where], "any rare value", labels)
