"""Which features matter for the prediction, and which for the width of its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from clearbands.bands import check_vector
from clearbands.tables import check_count, is_frame

MOST_PREDICTIONS = 20_000
MOST_ROWS = 500
FEWEST_ROWS = 50


@dataclass(frozen=True)
class Importance:
    """What shuffling one feature between the rows does."""

    name: str
    center: float  # increase of the mean absolute error, as a share of it; may fall below 0
    width: float  # mean absolute change of the width, as a share of the mean width


def feature_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    confidence_level: float | None = None,
    n_repeats: int = 2,
    random_state: Any = 0,
) -> list[Importance]:
    """Permutation importance of every feature for the center and for the width.

    Feature by feature, values are shuffled between the rows, which breaks their link to y and to
    the other features. Of features that say the same, each looks less important than they are
    together. So that the work is bounded, at most 500 rows take part, drawn at random, and fewer
    (at least 50) where many features would need more than 20,000 predictions in all.
    """
    y = check_vector(y, "y")
    check_count(n_repeats, "n_repeats")
    rng = check_random_state(random_state)
    names = _names(X)
    affordable = MOST_PREDICTIONS // (n_repeats * len(names))
    n_rows = min(len(y), MOST_ROWS, max(affordable, FEWEST_ROWS))
    kept = np.sort(rng.choice(len(y), n_rows, replace=False))
    X, y = _safe_indexing(X if is_frame(X) else np.asarray(X, float), kept), y[kept]
    error, width = _error_and_width(model, X, y, confidence_level)
    found = []
    for j, name in enumerate(names):
        shuffled = [
            _error_and_width(model, _shuffle(X, j, rng.permutation(n_rows)), y, confidence_level)
            for _ in range(n_repeats)
        ]
        worse = float(np.mean([e.mean() for e, _ in shuffled]) - error.mean())
        change = float(np.mean([np.abs(w - width).mean() for _, w in shuffled]))
        found.append(Importance(name, _share(worse, error.mean()), _share(change, width.mean())))
    return found


def _names(X: Any) -> list[str]:
    if is_frame(X):
        return [str(name) for name in nw.from_native(X, eager_only=True).columns]
    return [f"x{j}" for j in range(np.shape(X)[1])]


def _error_and_width(
    model: Any, X: Any, y: np.ndarray, level: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (n,); infinite widths count as 0, for nothing changes them."""
    parts = model.predict_uncertainty(X, confidence_level=level)
    width = (parts.aleatoric + parts.epistemic).sum(axis=1)
    return np.abs(y - parts.center), np.where(np.isinf(width), 0.0, width)


def _shuffle(X: Any, j: int, order: np.ndarray) -> Any:
    """X with the values of column j in another order."""
    if not is_frame(X):
        X = X.copy()
        X[:, j] = X[order, j]
        return X
    frame = nw.from_native(X, eager_only=True)
    column = frame.get_column(frame.columns[j])
    return frame.with_columns(column[order.tolist()].alias(column.name)).to_native()


def _share(value: float, of: float) -> float:
    return value / of if of > 0 else 0.0
