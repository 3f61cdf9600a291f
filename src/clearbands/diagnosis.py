"""All diagnostics of a model on new rows, and what they amount to in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import _safe_indexing

import clearbands.diagnostics as parts
from clearbands.bands import check_vector
from clearbands.cells import MISSING, check_groups, coverage_by_group
from clearbands.columns import columns_of
from clearbands.crossfit import ROWS_NEEDED
from clearbands.levels import find_level
from clearbands.tables import is_frame

FALSE_ALARMS = 0.05
"""At most this share of diagnoses of a flawless model has any finding."""

RARE = 20
"""Categories of a text column with fewer rows are taken together."""

MOST_SENTENCES = 10

NAMES = ("diagnostic", "where", "n", "value", "low", "high", "p_value")


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found. None stands for what the model or the rows do not allow."""

    confidence_level: float
    n_calibration: int | None  # rows that calibrated the model
    expected: parts.Range | None  # of the coverage, given that many
    coverage: parts.Cell
    by_group: tuple[parts.Cell, ...]  # of the groups given
    by_feature: tuple[parts.Cell, ...]  # thirds of numbers, categories of text
    by_width: tuple[parts.Cell, ...]
    by_ratio: tuple[parts.Cell, ...]  # epistemic over aleatoric
    coverage_gap: float | None  # over the groups given
    worst_slab: parts.Slab | None
    excess_risk: parts.ExcessRisk | None
    width_error: parts.Correlation
    hsic: parts.Dependence
    lambda_: float | None
    lambda_edge: str | None
    exchangeability: parts.TwoSampleTest | None

    @property
    def cells(self) -> tuple[parts.Cell, ...]:
        """Every part of the rows in which coverage was measured; all rows come first."""
        slab = (self.worst_slab.cell,) if self.worst_slab else ()
        learned = self.excess_risk.cells if self.excess_risk else ()
        named = self.by_group + self.by_feature + self.by_width + self.by_ratio
        return (self.coverage, *named, *slab, *learned)

    @property
    def p_values(self) -> np.ndarray:
        """Holm's p-values of every cell, then of HSIC, then of exchangeability if tested.

        A cell's own is exact and two-sided, of the hypothesis that its rows are covered as
        calibration with this many rows makes all rows covered: with a probability drawn once from
        the Beta law. Where the number is unknown, with that of the level.
        """
        own = [_p_value(cell, self.confidence_level, self.n_calibration) for cell in self.cells]
        own.append(self.hsic.p_value)
        own += [self.exchangeability.p_value] if self.exchangeability else []
        return holm(np.array(own))

    @property
    def findings(self) -> list[str]:
        """What is wrong, in plain words, coverage first; empty where nothing is.

        Of models whose coverage holds everywhere, at most 5 % get any (see `p_values`). When the
        coverage of all rows is off, parts are named only if they differ from it.
        """
        wrong = self.p_values < FALSE_ALARMS
        cells = [cell for cell, is_wrong in zip(self.cells, wrong, strict=False) if is_wrong]
        if wrong[0]:
            overall = self.coverage.coverage
            differs = [c for c in cells[1:] if not c.low <= overall <= c.high]
            cells = [self.coverage, *differs]
        cells.sort(key=lambda c: (c.by != "all", -abs(c.coverage - self.confidence_level)))
        said = [_sentence(cell, self.confidence_level) for cell in cells[:MOST_SENTENCES]]
        if len(cells) > MOST_SENTENCES:
            said.append(f"{len(cells) - MOST_SENTENCES} more parts are off; to_frame() has them.")
        if wrong[len(self.cells)]:
            said.append("Coverage depends on the width of the interval (HSIC).")
        if self.exchangeability and wrong[-1]:
            said.append(
                "New rows differ from the calibration rows: a classifier tells them apart with an "
                f"AUC of {self.exchangeability.auc:.2f}, so the coverage is not guaranteed."
            )
        return said

    @property
    def notes(self) -> list[str]:
        """What to know when reading the numbers; nothing here is a fault."""
        said = []
        if self.expected is not None:
            low, high = self.expected
            said.append(
                f"With {self.n_calibration} calibration rows, coverage between {low:.3f} and "
                f"{high:.3f} is to be expected in 19 of 20 cases; these rows show "
                f"{self.coverage.coverage:.3f}."
            )
        if self.lambda_edge:
            said.append(
                f"lambda is {self.lambda_:g}, the {self.lambda_edge} value searched: the ratio of "
                "the two uncertainties was not settled by the data."
            )
        if self.excess_risk is None:
            said.append(
                f"worst_slab and excess_risk need at least {ROWS_NEEDED} rows; there are "
                f"{self.coverage.n}."
            )
        return said

    def to_frame(self) -> Any:
        """A pandas frame with a row per number: where, of how many rows, its interval, p-value.

        `p_value` is Holm's, over all that have one.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas.") from error
        return pd.DataFrame(list(self._rows()), columns=list(NAMES))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        p, nan, n = self.p_values, math.nan, self.coverage.n
        for cell, p_value in zip(self.cells, p, strict=False):
            yield _name(cell), cell.where, cell.n, cell.coverage, cell.low, cell.high, p_value
        if self.coverage_gap is not None:
            yield "coverage gap", "groups", n, self.coverage_gap, nan, nan, nan
        if self.excess_risk is not None:
            risk = self.excess_risk
            yield "excess risk", "all rows", n, risk.total, risk.low, risk.high, nan
            yield "excess risk, over", "all rows", n, risk.over, nan, nan, nan
            yield "excess risk, under", "all rows", n, risk.under, nan, nan, nan
        width = self.width_error
        yield "width and error", "all rows", n, width.value, width.low, width.high, nan
        yield "HSIC", "all rows", n, self.hsic.value, nan, nan, p[len(self.cells)]
        if self.exchangeability is not None:
            test = self.exchangeability
            yield "exchangeability", "all rows", n, test.auc, test.low, test.high, p[-1]
        if self.lambda_ is not None:
            yield "lambda", "model", n, self.lambda_, nan, nan, nan


def diagnose(
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    confidence_level: float | None = None,
    X_calibration: Any = None,
    classifier: Any = None,
    random_state: Any = 0,
) -> Diagnosis:
    """Check on new rows whether the intervals of a fitted model hold what they promise.

    Parameters
    ----------
    model : fitted ClearRegressor or baseline
        Anything with `levels_` and `predict_interval`.
    X, y : rows that no step of the fit has seen
        Columns of text are divided by category, others in thirds; those of arrays are named x0,
        x1, ...
    groups : (n,), optional
        Labels of rows between which coverage should not differ.
    confidence_level : float, optional
        One of the model's levels, by default its first.
    X_calibration : optional
        The calibration rows, to be compared with X; models do not keep them.
    classifier : optional
        For the excess risk and the comparison with X_calibration, see `diagnostics.excess_risk`.
    random_state
        Chooses folds, halves and directions.
    """
    y = check_vector(y, "y")
    if len(y) < 4:
        raise ValueError(f"diagnose needs at least 4 rows, got {len(y)}.")
    j, level = _level(model, confidence_level)
    center, intervals = model.predict_interval(X)
    if len(center) != len(y):
        raise ValueError(f"X has {len(center)} rows where y has {len(y)}.")
    intervals = intervals[:, :, j]
    by_group = () if groups is None else tuple(coverage_by_group(y, intervals, groups))
    has_enough = len(y) >= ROWS_NEEDED
    table = _with_values(X)
    tools = {"classifier": classifier, "random_state": random_state}
    n_calibration = getattr(model, "n_calibration_", None)
    lambda_ = _lambda(model, j)
    return Diagnosis(
        confidence_level=level,
        n_calibration=n_calibration,
        expected=parts.coverage_range(n_calibration, level) if n_calibration else None,
        coverage=parts.coverage(y, intervals),
        by_group=by_group,
        by_feature=_by_feature(X, y, intervals),
        by_width=tuple(parts.coverage_by_width(y, intervals)),
        by_ratio=_by_ratio(model, X, y, intervals, level),
        coverage_gap=parts.coverage_gap(by_group, level) if by_group else None,
        worst_slab=(
            parts.worst_slab(y, intervals, table, random_state=random_state) if has_enough else None
        ),
        excess_risk=parts.excess_risk(y, intervals, table, level, **tools) if has_enough else None,
        width_error=parts.width_error_correlation(y, center, intervals),
        hsic=parts.hsic(y, intervals, n_shuffles=999, random_state=random_state),
        lambda_=lambda_,
        lambda_edge=None if lambda_ is None else parts.lambda_edge(lambda_, _lambdas(model)),
        exchangeability=(
            None if X_calibration is None else parts.exchangeability(X_calibration, X, **tools)
        ),
    )


def holm(p_values: np.ndarray) -> np.ndarray:
    """(m,): below t for any true hypothesis with a probability of at most t, whatever depends."""
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _p_value(cell: parts.Cell, level: float, n_calibration: int | None) -> float:
    if n_calibration is None:
        law = stats.binom(cell.n, level)
    else:
        law = stats.betabinom(cell.n, *parts.beta_parameters(n_calibration, level))
    tail = min(law.cdf(cell.n_covered), law.sf(cell.n_covered - 1))
    return float(np.clip(2 * tail, 0, 1))


def _sentence(cell: parts.Cell, level: float) -> str:
    gap = 100 * (cell.coverage - level)
    verb = "over-covers" if gap > 0 else "under-covers"
    size = f"{abs(gap):.0f}" if abs(gap) >= 1 else f"{abs(gap):.1f}"
    unit = "point" if size == "1" else "points"
    where = "over" if cell.by == "all" else f"in {cell.where},"
    return f"{verb} by {size} {unit} {where} {cell.n} rows"


def _name(cell: parts.Cell) -> str:
    return "coverage" if cell.by == "all" else f"coverage by {cell.by}"


def _level(model: Any, confidence_level: float | None) -> tuple[int, float]:
    """Position and value of the level, or an error that says what the model has."""
    if not hasattr(model, "predict_interval") or not hasattr(model, "levels_"):
        raise TypeError(
            "diagnose needs a fitted model with predict_interval and levels_, got "
            f"{type(model).__name__}; for intervals of other origin use clearbands.diagnostics."
        )
    j = find_level(model.levels_, confidence_level)
    return j, float(model.levels_[j])


def _lambda(model: Any, j: int) -> float | None:
    return float(model.lambda_[j]) if hasattr(model, "lambda_") else None


def _lambdas(model: Any) -> Any:
    lambdas = getattr(getattr(model, "calibrator_", None), "lambdas", "exact")
    return (0.0, math.inf) if isinstance(lambdas, str) else lambdas


def _by_ratio(
    model: Any, X: Any, y: np.ndarray, intervals: np.ndarray, level: float
) -> tuple[parts.Cell, ...]:
    if not hasattr(model, "predict_uncertainty"):
        return ()
    ratio = model.predict_uncertainty(X, confidence_level=level).ratio
    return tuple(parts.coverage_by_ratio(y, intervals, ratio))


def _by_feature(X: Any, y: np.ndarray, intervals: np.ndarray) -> tuple[parts.Cell, ...]:
    cells: list[parts.Cell] = []
    for column in columns_of(X):
        if column.is_text:
            labels = _without_rare(column.values)
            cells += coverage_by_group(y, intervals, labels, name=column.name)
        else:
            cells += parts.coverage_by_feature(y, intervals, column.values, name=column.name)
    return tuple(cells)


def _with_values(X: Any) -> Any:
    """The table without columns that are missing in every row: a model may know them, here
    there is nothing to learn from them."""
    kept = [not column.is_missing.all() for column in columns_of(X)]
    return _safe_indexing(X if is_frame(X) else np.asarray(X, float), kept, axis=1)


def _without_rare(values: Any) -> np.ndarray:
    labels = check_groups(values, len(values))
    found, where, counts = np.unique(labels, return_inverse=True, return_counts=True)
    is_rare = (counts < RARE) & (found != MISSING)
    return np.where(is_rare[where], "any rare value", labels)
