"""The importance of features for the prediction, and for the noise and ignorance around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing, check_random_state

from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.checks import check_count, check_vector
from clearbands.rows.frames import is_frame
from clearbands.rows.messages import renamed
from clearbands.rows.typed import Seed, Table, TableLike

MOST_PREDICTIONS = 20_000
MOST_ROWS = 500
FEWEST_ROWS = 50


@dataclass(frozen=True)
class Importance:
    """The changes if the values of one feature are shuffled between the rows."""

    name: str
    center: float  # the relative increase of the mean absolute error; it may be below 0
    width: float  # the mean absolute change of the width, as a share of the mean width
    n_rows: int  # the number of rows that took part
    aleatoric: float = 0.0  # the change of the aleatoric width, as a share of the mean width
    epistemic: float = 0.0


@renamed(groups="calibration_groups")
def feature_importance(
    model: Any,
    X: TableLike,
    y: ArrayLike,
    *,
    confidence_level: float | None = None,
    calibration_groups: ArrayLike | None = None,
    n_repeats: int = 2,
    random_state: Seed = 0,
    predicted: Uncertainty | None = None,
) -> list[Importance]:
    """Permutation importance of every feature: for the center, the width, and its two parts.

    The values of one feature after another are shuffled between the rows, which breaks their link
    to y and to the other features. If several features say the same, each looks less important
    than they are together. To bound the work, at most 500 rows take part, drawn at random, and
    fewer (at least 50) if many features would need more than 20,000 predictions in all.

    `calibration_groups` are the labels that a model calibrated by group needs; they are not
    shuffled.
    `predicted` may hold the model's parts for X, so that they are not computed again.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty
    >>> class Line:  # predicts the first column, with intervals as wide as the second
    ...     def predict_uncertainty(self, X, confidence_level=None):
    ...         width = np.repeat(X[:, 1:], 2, axis=1)
    ...         return Uncertainty(X[:, 0], width, 0 * width, 0.9)
    >>> X = np.random.default_rng(0).uniform(size=(80, 2))
    >>> first, second = feature_importance(Line(), X, X[:, 0] + 0.1)
    >>> first.center > 1, first.width, second.center, second.width > 0.3, first.n_rows
    (True, 0.0, 0.0, True, 80)
    """
    target = check_vector(y, "y")
    check_count(n_repeats, "n_repeats")
    rng = check_random_state(random_state)
    table: Table = X if is_frame(X) else np.asarray(X, float)
    names = _names(table)
    affordable = MOST_PREDICTIONS // (n_repeats * len(names))
    n_rows = min(len(target), MOST_ROWS, max(affordable, FEWEST_ROWS))
    some = np.sort(rng.choice(len(target), n_rows, replace=False))
    X, target = _safe_indexing(table, some), target[some]

    options: dict[str, ArrayLike] = {}
    if calibration_groups is not None:  # a column's name stays, labels go with their rows
        is_name = isinstance(calibration_groups, str)
        options["calibration_groups"] = (
            calibration_groups if is_name else _safe_indexing(calibration_groups, some)
        )

    def measure(X: TableLike) -> Measured:
        parts = model.predict_uncertainty(X, confidence_level=confidence_level, **options)
        return _errors_and_widths(parts, target)

    whole = measure(X) if predicted is None else _errors_and_widths(predicted.take(some), target)
    importances = []
    for j, name in enumerate(names):
        shuffled = [measure(_shuffle(X, j, rng.permutation(n_rows))) for _ in range(n_repeats)]
        worse = float(np.mean([each.errors.mean() for each in shuffled]) - whole.errors.mean())
        mean_width = whole.widths[2].mean()
        changes = [np.abs(each.widths - whole.widths).mean(axis=1) for each in shuffled]
        noise, ignorance, width = (
            _relative_change(c, mean_width) for c in np.mean(changes, axis=0)
        )
        center = _relative_change(worse, whole.errors.mean())
        importances.append(Importance(name, center, width, n_rows, noise, ignorance))
    return importances


def _names(X: Table) -> list[str]:
    if isinstance(X, np.ndarray):
        return [f"x{j}" for j in range(X.shape[1])]
    return [str(name) for name in nw.from_native(X, eager_only=True).columns]


class Measured(NamedTuple):
    """Errors and widths of rows, which shuffling may change."""

    errors: np.ndarray  # (n,): absolute errors
    widths: np.ndarray  # (3, n): both parts and their sum; infinite widths count as 0


def _errors_and_widths(parts: Uncertainty, y: np.ndarray) -> Measured:
    widths = np.vstack([parts.widths.T, parts.widths.sum(axis=1)])
    return Measured(np.abs(y - parts.center), np.where(np.isinf(widths), 0.0, widths))


def _shuffle(X: Table, j: int, order: np.ndarray) -> Any:
    """Return X with the values of column j in another order."""
    if isinstance(X, np.ndarray):
        X = X.copy()
        X[:, j] = X[order, j]
        return X
    frame = nw.from_native(X, eager_only=True)
    column = frame.get_column(frame.columns[j])
    return frame.with_columns(column[order.tolist()].alias(column.name)).to_native()


def _relative_change(value: float, of: Any) -> float:
    return float(value / of) if of > 0 else 0.0
