"""The effects of categories, which a member learns only from the rows that it sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearbands.rows.coded import NEVER_SEEN, code_columns

N_FOLDS = 10
"""The number of folds into which a member divides its own rows. The effect of a category for a row
comes from the other folds; with fewer folds it differs more among the rows of one category."""

SWEEPS = 2
"""How many times the effects of every column are fitted to the residuals of the others."""

MOST_COLUMNS = 256
"""The most numeric columns for a linear fit; with more, it would cost more than trees do."""

ERRORS = 2.0  # a gain pays if it is more than so many standard errors above 0

RIDGE = 1e-3  # the ridge of the linear fit, whose columns have variance 1


@dataclass(frozen=True)
class CategoryEffects:
    """The effects of categories that one member learned, and rows as this member sees them.

    Every column of codes has two effects for each target: how far the targets of a category lie
    from the mean of all, and how far from a linear fit of all other columns. Both are random
    effects by empirical Bayes: they are shrunk to 0 the more, the fewer rows the category has and
    the more targets scatter. A further feature is the share that shrinkage left, which tells a
    category of one row from one of a thousand. A category that the member did not see has effects
    of 0, and the smallest share that a training row has. A column is left out if its effects do not
    improve the predictions of targets that they were not learned from.
    """

    columns: np.ndarray  # (t,): the numbers of the columns that hold codes
    tables: Sequence[np.ndarray]  # (values + 1, features) each; the last row is for unseen values

    def view(self, X: np.ndarray) -> np.ndarray:
        """Return the columns without codes, followed by the effects of categories (n, columns)."""
        return self.view_coded(CodedRows.of(X, self.columns))

    def view_coded(self, rows: CodedRows) -> np.ndarray:
        """Return the same for rows that were prepared once for many members."""
        blocks = [
            table[np.minimum(code, len(table) - 1)]
            for code, table in zip(rows.codes, self.tables, strict=True)
            if table.shape[1]
        ]
        return np.hstack([rows.plain, *blocks])


class CodedRows(NamedTuple):
    """Rows divided once for all members into columns without codes, and codes."""

    plain: np.ndarray  # (n, p)
    codes: np.ndarray  # (t, n): the code of a category that no fit saw is larger than all others

    @classmethod
    def of(cls, X: np.ndarray, columns: np.ndarray) -> CodedRows:
        whole = np.asarray(X)
        codes = whole[:, columns].T.astype(np.int64)
        codes[codes < 0] = np.iinfo(np.int64).max
        return cls(np.delete(whole, columns, axis=1), codes)


def learn_effects(
    X: np.ndarray,
    targets: np.ndarray,
    count: np.ndarray,
    rng: np.random.RandomState,
    groups: np.ndarray | None = None,
) -> tuple[CategoryEffects, np.ndarray]:
    """Return the effects of categories, and X (n, columns) as the member sees it in training.

    The effects are on `targets` (n, s). `count` (n,) is how often the member sees each row, 0 for
    rows that it must not see. A row that it sees gets the effects of its categories from the other
    folds, so that they do not depend on its own target. Rows of one label in `groups` are in one
    fold.
    """
    columns, plain = np.array(code_columns(X)), np.asarray(X)
    rows = _Rows.of(plain, columns, count)
    seen = np.flatnonzero(count)
    fold = np.full(len(plain), N_FOLDS)
    fold[seen] = _folds(len(seen), None if groups is None else groups[seen], rng)
    blocks = np.zeros((len(columns), len(plain), 2 * targets.shape[1] + 1))
    rest = np.zeros((2, *targets.shape))
    for out, gram in _grams(rows, fold):
        train, others = np.flatnonzero((fold != out) & (count > 0)), np.flatnonzero(fold == out)
        slopes, effects = _fit_effects(rows.take(train), gram, targets[train])
        blocks[:, others] = effects[rows.first[:-1, None] + rows.codes[:, others]]
        rest[0, others] = targets[others] - np.average(targets[train], axis=0, weights=count[train])
        rest[1, others] = targets[others] - rows.numbers[others] @ slopes
    tables = np.split(effects, rows.first[1:-1])
    for block, table in zip(blocks, tables, strict=True):
        # No share is below the smallest in training, because smooth models must not extrapolate.
        table[:, -1] = np.maximum(table[:, -1], block[seen, -1].min())
    pays = _reduce_errors(blocks[:, seen, :-1], rest[:, seen], count[seen])
    tables = [t if does else np.empty((1, 0)) for t, does in zip(tables, pays, strict=True)]
    view = np.hstack([np.delete(plain, columns, axis=1), *blocks[pays]])
    if view.shape[1] == 0:  # models need a column, so they get one that is equal for all rows
        tables[0], view = np.zeros((1, 1)), np.zeros((len(plain), 1))
    return CategoryEffects(columns, tables), view


def useful_columns(
    X: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> list[bool]:
    """Return for each column of codes whether a member that saw all rows would be shown it."""
    count = np.ones(len(X)) if weight is None else weight
    effects, _ = learn_effects(X, targets, count, np.random.RandomState(0), groups)
    return [bool(table.shape[1]) for table in effects.tables]


class _Rows(NamedTuple):
    """Rows divided into standardised numbers, codes and weights."""

    numbers: np.ndarray  # (n, p): a column of ones, and numbers of mean 0 and variance 1
    codes: np.ndarray  # (t, n)
    first: np.ndarray  # (t + 1,): where the values of each column begin if all are in a row
    weight: np.ndarray  # (n,): how much each row counts

    @classmethod
    def of(cls, X: np.ndarray, columns: np.ndarray, count: np.ndarray) -> _Rows:
        codes = np.ascontiguousarray(X[:, columns].T, np.int64)
        numbers = np.delete(X, columns, axis=1)
        if numbers.shape[1] > MOST_COLUMNS:
            numbers = numbers[:, :0]
        ones = np.ones((len(X), 1))
        n_values = codes.max(axis=1, initial=NEVER_SEEN) + 2  # with one for codes that no row has
        codes = np.where(codes < 0, n_values[:, None] - 1, codes)
        first = np.append(0, np.cumsum(n_values))
        return cls(np.hstack([ones, _standardised(numbers, count)]), codes, first, count)

    def take(self, rows: np.ndarray) -> _Rows:
        return self._replace(
            numbers=self.numbers[rows], codes=self.codes[:, rows], weight=self.weight[rows]
        )


def _fit_effects(
    rows: _Rows, gram: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slopes (p, s) of the numbers, and the effects (values, 2 s + 1) of all codes.

    Each code has the effects from the mean, the effects beside all other columns, and the share
    of its mean that shrinkage left.
    """
    # Imported late: numba takes a second to load, which `import clearbands` should not.
    from clearbands.engine.effects import effects_alone

    n_targets, n_values = targets.shape[1], rows.first[-1]
    alone, left = np.zeros((n_targets, n_values)), np.zeros(n_values)
    by_target = np.ascontiguousarray(targets.T, dtype=float)
    effects_alone(rows.codes, rows.first, by_target, rows.weight, alone, left)
    slopes, beside = np.zeros((rows.numbers.shape[1], n_targets)), np.zeros_like(alone)
    inverse = np.linalg.inv(gram)  # the numbers are standardised and a ridge is added
    for s, y in enumerate(by_target):
        slopes[:, s], beside[s] = _fit_in_turns(rows, inverse, y)
    return slopes, np.vstack([alone, beside, left]).T


def _fit_in_turns(rows: _Rows, inverse: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit a line of the numbers and the effects of categories in turns, each to the residuals."""
    from clearbands.engine.effects import renew_effects

    numbers, codes, first, weight = rows
    slopes, effect, left = np.zeros(numbers.shape[1]), np.zeros(first[-1]), np.zeros(first[-1])
    rest = y.copy()
    for _ in range(SWEEPS):
        rest += numbers @ slopes
        slopes = inverse @ (numbers.T @ (weight * rest))
        rest -= numbers @ slopes
        renew_effects(codes, first, rest, weight, effect, left)
    return slopes, effect


def shrunken_effects(
    code: np.ndarray, n_values: int, y: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each code's shrunken effect and the share of its mean that is left (n_values + 1,).

    The last item is 0: it is for codes that were not seen.

    >>> code, y = np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 9.0, 11.0])
    >>> effect, left = shrunken_effects(code, 2, y, np.ones(4))
    >>> effect.round(2).tolist(), left.round(2).tolist()
    ([-3.0, 3.0, 0.0], [0.75, 0.75, 0.0])
    """
    from clearbands.engine.effects import renew_effects

    effect, left = np.zeros(n_values + 1), np.zeros(n_values + 1)
    first = np.array([0, n_values + 1])
    renew_effects(code[None], first, y.astype(float), weight, effect, left)
    return effect, left


def _grams(rows: _Rows, fold: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield every fold, and at last no fold, with the products of the numbers without it."""
    numbers, count = rows.numbers, rows.weight
    whole = (numbers * count[:, None]).T @ numbers
    ridge = RIDGE * count.sum() * np.eye(numbers.shape[1])
    ridge[0, 0] = 0.0
    for out in range(N_FOLDS):
        own = np.flatnonzero(fold == out)
        if len(own):
            yield out, whole - (numbers[own] * count[own, None]).T @ numbers[own] + ridge
    yield N_FOLDS, whole + ridge


def _reduce_errors(effects: np.ndarray, rest: np.ndarray, count: np.ndarray) -> list[bool]:
    """Return for each column whether its effects (t, n, 2 s) reduce the residuals (2, n, s)."""
    n_targets = rest.shape[2]
    alone = rest[0]
    beside = rest[1] - sum(effect[:, n_targets:] for effect in effects)
    return [
        bool(
            _is_smaller(alone - effect[:, :n_targets], alone, count)
            or _is_smaller(beside, beside + effect[:, n_targets:], count)
        )
        for effect in effects
    ]


def _is_smaller(error: np.ndarray, other: np.ndarray, count: np.ndarray) -> bool:
    """Whether the mean square of any column of `error` (n, s) is clearly below that of `other`."""
    gain = other**2 - error**2
    return bool((count @ gain > ERRORS * np.sqrt(count @ gain**2)).any())


def _standardised(X: np.ndarray, count: np.ndarray) -> np.ndarray:
    mean = np.average(X, axis=0, weights=count)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=count))
    return (X - mean) / np.where(deviation > 0, deviation, 1.0)


def _folds(n: int, groups: np.ndarray | None, rng: np.random.RandomState) -> np.ndarray:
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    return rng.permutation(np.arange(units.max() + 1) % N_FOLDS)[units]
