"""The effects of codes on a target, shrunk as random effects are."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import called, called_with_memory, kernel, kernel_with_memory

DOUBT = 30.0
"""The number of rows that are added to the evidence that codes make no difference. Where hardly any
two rows share a code, a few that agree by chance must not make all other codes credible."""


@called
def _shrink(
    rows: np.ndarray, mean: np.ndarray, within: float, effect: np.ndarray, left: np.ndarray
) -> None:
    effect[:], left[:] = 0.0, 0.0
    n, total, n_codes, squares = 0.0, 0.0, 0, 0.0
    for value in range(len(rows)):
        if rows[value] > 0:
            n += rows[value]
            total += rows[value] * mean[value]
            n_codes += 1
            squares += rows[value] ** 2
    if n == 0:
        return
    middle, between = total / n, 0.0
    for value in range(len(rows)):
        if rows[value] > 0:
            between += rows[value] * (mean[value] - middle) ** 2
    around, spread = within + between, n - squares / n
    if n > n_codes and spread > 0:
        within = (within + DOUBT * around / n) / (n - n_codes + DOUBT)
        between = (between - (n_codes - 1) * within) / spread
        if between > 0:
            for value in range(len(rows)):
                if rows[value] > 0:
                    left[value] = rows[value] / (rows[value] + within / between)
                    effect[value] = left[value] * (mean[value] - middle)


@kernel
def effects_of_sums(
    rows: np.ndarray, mean: np.ndarray, within: float, effect: np.ndarray, left: np.ndarray
) -> None:
    """Learn the effects as `renew_effects` does, from sums over many files.

    The sums are the weight of the rows of each code, their mean, and `within`, the sum of the
    squares around these means.
    """
    _shrink(rows, mean, within, effect, left)


@called_with_memory
def _renew(
    code: np.ndarray, rest: np.ndarray, weight: np.ndarray, effect: np.ndarray, left: np.ndarray
) -> None:
    n_rows, n_values = len(code), len(effect)
    rows, mean = np.zeros(n_values), np.zeros(n_values)
    for i in range(n_rows):
        rest[i] += effect[code[i]]
        rows[code[i]] += weight[i]
        mean[code[i]] += weight[i] * rest[i]
    within = 0.0
    for value in range(n_values):
        if rows[value] > 0:
            mean[value] /= rows[value]
    for i in range(n_rows):
        within += weight[i] * (rest[i] - mean[code[i]]) ** 2
    _shrink(rows, mean, within, effect, left)
    for i in range(n_rows):
        rest[i] -= effect[code[i]]


@kernel
def renew_effects(
    codes: np.ndarray,
    first: np.ndarray,
    rest: np.ndarray,
    weight: np.ndarray,
    effect: np.ndarray,
    left: np.ndarray,
) -> None:
    """Learn the effects of each column of codes again, one column after the other.

    `rest` (n,) comes as what the old effects of `codes` (columns, n) leave of the target, and
    becomes what the new effects leave. `effect` and `left`, the share of a code's mean that is its
    effect, are filled. The codes of a column begin at `first` (columns + 1,); the last code of a
    column stands for codes that no row has, and its effect stays 0.

    The share that is left of the mean of m rows is m / (m + a), where a is the variance within
    codes over that between them. An analysis of variance estimates it, with some `DOUBT`. Rows
    count by their `weight` (n,).
    """
    for j in range(len(codes)):
        own = slice(first[j], first[j + 1])
        _renew(codes[j], rest, weight, effect[own], left[own])


@kernel_with_memory
def effects_alone(
    codes: np.ndarray,
    first: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray,
    effects: np.ndarray,
    left: np.ndarray,
) -> None:
    """Learn the effects of each column alone on each of `targets` (s, n), into `effects`.

    `effects` are (s, values); `left` (values,) becomes the largest share that any target leaves.
    """
    n_rows = len(weight)
    rest, share = np.empty(n_rows), np.empty(len(left))
    for s in range(len(targets)):
        for j in range(len(codes)):
            own = slice(first[j], first[j + 1])
            rest[:] = targets[s]
            effects[s, own] = 0.0
            _renew(codes[j], rest, weight, effects[s, own], share[own])
        for value in range(len(left)):
            left[value] = max(left[value], share[value])
