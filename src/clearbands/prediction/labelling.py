"""Which rows to label next."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearbands.rows.checks import check_count
from clearbands.rows.typed import TableLike


def rank_by_epistemic(model: Any, X: TableLike, n: int) -> np.ndarray:
    """(n,): the numbers of the rows of X whose targets would teach the model most, best first.

    The first is the row with the largest epistemic width. Each further one has the largest product
    of its width and its distance to the nearest row that was chosen before, so that the model is
    not taught the same twice; distances are those of the encoded columns, each divided by its
    standard deviation.

    Parameters
    ----------
    model : a fitted ClearRegressor
    X : rows without targets
    n : how many to choose

    Examples
    --------
    A line that was learned between -1 and 1 is known least at the far ends:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from clearbands import ClearRegressor, FoldedEnsemble, LinearQuantiles, ResidualQuantiles
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (100, 1))
    >>> y = 3 * X[:, 0] + rng.normal(size=100)
    >>> parts = FoldedEnsemble(LinearRegression()), ResidualQuantiles(LinearQuantiles())
    >>> model = ClearRegressor(*parts, random_state=0).fit(X, y)
    >>> rank_by_epistemic(model, [[0.0], [5.0], [5.1], [-4.0]], 2).tolist()
    [2, 3]
    """
    components = model.components(X)
    widths = components.epistemic[:, :, 0].sum(axis=1)
    check_count(n, "n", largest=len(widths))
    place = _standardised(np.asarray(model.encode(X), float))
    nearest = np.full(len(widths), np.inf)
    left = np.ones(len(widths), bool)
    chosen: list[int] = []
    while len(chosen) < n:
        worth = widths * (nearest if chosen else 1.0)
        best = int(np.argmax(np.where(left, worth, -1.0)))
        chosen.append(best)
        left[best] = False
        nearest = np.minimum(nearest, np.linalg.norm(place - place[best], axis=1))
    return np.array(chosen)


def _standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0)
