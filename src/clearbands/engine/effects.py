"""The effects of codes on a target, shrunk as random effects are."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import kernel

DOUBT = 30.0
"""Rows that say, beside those that share a code, that codes make no difference: where hardly any
two share one, these alike by chance must not let every other code be taken at its word."""


@kernel
def renew_effects(
    code: np.ndarray, rest: np.ndarray, weight: np.ndarray, effect: np.ndarray, left: np.ndarray
) -> None:
    """Learn the effects of one column anew, from what all others leave over.

    `rest` (n,) is what is left over without the effects of `code` (n,) as they are, and becomes
    what is left over without the new ones. `effect` (values + 1,) and `left`, how much of the mean
    of a code it is, are filled; the last value is of codes that no row has, and stays 0.

    The share that is left of the mean of m rows is m / (m + a), where a is the variance within
    codes over that between them, as the rows tell by an analysis of variance, with some `DOUBT`. A
    code weighs what its rows do by `weight` (n,).
    """
    n_rows, n_values = len(code), len(effect)
    rows, mean = np.zeros(n_values), np.zeros(n_values)
    total, n = 0.0, 0.0
    for i in range(n_rows):
        rest[i] += effect[code[i]]
        rows[code[i]] += weight[i]
        mean[code[i]] += weight[i] * rest[i]
        total += weight[i] * rest[i]
        n += weight[i]
    effect[:], left[:] = 0.0, 0.0
    middle = total / n
    n_codes, squares, between = 0, 0.0, 0.0
    for value in range(n_values):
        if rows[value] > 0:
            mean[value] /= rows[value]
            n_codes += 1
            squares += rows[value] ** 2
            between += rows[value] * (mean[value] - middle) ** 2
    within, around = 0.0, 0.0
    for i in range(n_rows):
        within += weight[i] * (rest[i] - mean[code[i]]) ** 2
        around += weight[i] * (rest[i] - middle) ** 2
    spread = n - squares / n
    if n > n_codes and spread > 0:
        within = (within + DOUBT * around / n) / (n - n_codes + DOUBT)
        between = (between - (n_codes - 1) * within) / spread
        if between > 0:
            for value in range(n_values):
                if rows[value] > 0:
                    left[value] = rows[value] / (rows[value] + within / between)
                    effect[value] = left[value] * (mean[value] - middle)
    for i in range(n_rows):
        rest[i] -= effect[code[i]]
