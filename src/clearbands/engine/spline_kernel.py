"""A kernel that computes the values of B-splines on uniform knots."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import Real, Whole, inlined, kernel_with_memory


@kernel_with_memory
def fill_splines(
    X: np.ndarray,
    columns: np.ndarray,
    low: np.ndarray,
    span: np.ndarray,
    n_splines: Whole,
    order: Whole,
    first: Whole,
    terms: np.ndarray,
) -> None:
    """Fill `terms`, from its column `first` on, with all splines but the last of each of `columns`.

    The knots of a column lie from `low` (d,) to `low + span`; beyond, splines are straight lines.
    """
    weight, before = np.empty(order + 1), np.empty(order + 1)
    n_cells = n_splines - order
    for row in range(len(X)):
        for k in range(len(columns)):
            start = first + k * (n_splines - 1)
            own = terms[row, start : start + n_splines - 1]
            own[:] = 0
            unit = (X[row, columns[k]] - low[columns[k]]) / span[columns[k]]
            if np.isnan(unit):
                own[:] = np.nan
                continue
            inside = min(max(unit, 0.0), 1.0)
            cell = min(np.int64(inside * n_cells), n_cells - 1)
            _weigh(inside * n_cells - cell, order, weight, before)
            for j in range(order + 1):
                if cell + j < n_splines - 1:
                    own[cell + j] = weight[j]
            if unit != inside:
                steps = (unit - inside) * n_cells
                for j in range(order + 1):
                    if cell + j < n_splines - 1:
                        rises = before[j - 1] if j > 0 else 0.0
                        falls = before[j] if j < order else 0.0
                        own[cell + j] += steps * (rises - falls)


@inlined
def _weigh(place: Real, order: Whole, weight: np.ndarray, before: np.ndarray) -> None:
    """Fill `weight` (order + 1,) with the splines that are not 0 at a place, 0 to 1, of a cell.

    `before` gets the splines of the order below, whose differences are slopes (Cox and de Boor).
    """
    weight[0] = 1.0
    for degree in range(1, order + 1):
        for j in range(degree):
            before[j] = weight[j]
        weight[0] = (1 - place) / degree * before[0]
        for j in range(1, degree):
            rising = (place + degree - j) / degree
            weight[j] = rising * before[j - 1] + (1 - place + j) / degree * before[j]
        weight[degree] = place / degree * before[degree - 1]
