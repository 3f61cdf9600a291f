"""What categories are worth to a member, learned from the rows that it sees and from no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearbands.rows.coded import NEVER_SEEN, code_columns

N_FOLDS = 10
"""Into so many parts a member divides its own rows: what a category is worth to a row, the other
parts tell. With fewer of them, the rows of one category differ more in what it is worth to them."""

SWEEPS = 2
"""Times that the effects of all columns are taken from what the others leave over."""

MOST_COLUMNS = 256
"""Of numbers: with more, the line that they are taken out by would cost more than trees do."""

ERRORS = 2.0  # standard ones that a gain must be above 0 to pay

RIDGE = 1e-3  # of that line, beside columns of variance 1


@dataclass(frozen=True)
class Worths:
    """Rows as one member sees them: numbers, and what their categories are worth.

    Of every column of codes there are, for each target, two effects: how far the targets of a
    category lie from the mean of all, and how far from what all other columns say in a line. Both
    are shrunk to 0 the more, the fewer rows the category has and the more targets scatter: random
    effects, by empirical Bayes. Beside them stands how much of them was left, which tells a
    category of one row from one of a thousand. A category that the member did not see has effects
    of 0, and nothing was left. A column whose effects do not bring the member nearer to targets
    that had no part in them is not shown.
    """

    columns: np.ndarray  # (t,): the numbers of the columns that hold codes
    tables: Sequence[np.ndarray]  # (values + 1, features) of each; the last row is of unseen values

    def view(self, X: np.ndarray) -> np.ndarray:
        """(n, columns): those that are no codes in their order, and behind them the worths."""
        return self.view_of(CodedRows.of(X, self.columns))

    def view_of(self, rows: CodedRows) -> np.ndarray:
        """The same of rows that many members look at."""
        blocks = [
            table[np.minimum(code, len(table) - 1)]
            for code, table in zip(rows.codes, self.tables, strict=True)
            if table.shape[1]
        ]
        return np.hstack([rows.plain, *blocks])


class CodedRows(NamedTuple):
    """Rows taken apart once for all members: columns that are no codes, and the codes."""

    plain: np.ndarray  # (n, p)
    codes: np.ndarray  # (t, n): a code that no fit saw is larger than all others

    @classmethod
    def of(cls, X: np.ndarray, columns: np.ndarray) -> CodedRows:
        whole = np.asarray(X)
        codes = whole[:, columns].T.astype(np.int64)
        codes[codes < 0] = np.iinfo(np.int64).max
        return cls(np.delete(whole, columns, axis=1), codes)


def learn_worths(
    X: np.ndarray,
    targets: np.ndarray,
    count: np.ndarray,
    rng: np.random.RandomState,
    groups: np.ndarray | None = None,
) -> tuple[Worths, np.ndarray]:
    """The worths, and X (n, columns) as the member sees it while it trains.

    `targets` (n, s) are what effects are learned of, `count` (n,) how often the member sees each
    row, 0 for rows that it must not see. A row that it sees gets the worths of its categories from
    other folds: its own target has no part in them. Rows of one label in `groups` are in one fold.
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
        slopes, worths = _learn(rows.take(train), gram, targets[train])
        blocks[:, others] = worths[rows.first[:-1, None] + rows.codes[:, others]]
        rest[0, others] = targets[others] - np.average(targets[train], axis=0, weights=count[train])
        rest[1, others] = targets[others] - rows.numbers[others] @ slopes
    tables = np.split(worths, rows.first[1:-1])
    for block, table in zip(blocks, tables, strict=True):
        # Smooth models shall not be asked beyond what they saw: about fewer rows than any had.
        table[:, -1] = np.maximum(table[:, -1], block[seen, -1].min())
    pays = _pays(blocks[:, seen, :-1], rest[:, seen], count[seen])
    tables = [t if does else np.empty((1, 0)) for t, does in zip(tables, pays, strict=True)]
    view = np.hstack([np.delete(plain, columns, axis=1), *blocks[pays]])
    if view.shape[1] == 0:  # models need a column: here one that says the same of all rows
        tables[0], view = np.zeros((1, 1)), np.zeros((len(plain), 1))
    return Worths(columns, tables), view


class _Rows(NamedTuple):
    """Rows taken apart."""

    numbers: np.ndarray  # (n, p): a column of ones, and numbers of mean 0 and variance 1
    codes: np.ndarray  # (t, n)
    first: np.ndarray  # (t + 1,): where those of each column begin, when all values are in a row
    weight: np.ndarray  # (n,): what a row counts

    @classmethod
    def of(cls, X: np.ndarray, columns: np.ndarray, count: np.ndarray) -> _Rows:
        codes = np.ascontiguousarray(X[:, columns].T, np.int64)
        numbers = np.delete(X, columns, axis=1)
        if numbers.shape[1] > MOST_COLUMNS:
            numbers = numbers[:, :0]
        ones = np.ones((len(X), 1))
        n_values = codes.max(axis=1, initial=NEVER_SEEN) + 2  # and one for codes that no row has
        codes = np.where(codes < 0, n_values[:, None] - 1, codes)
        first = np.append(0, np.cumsum(n_values))
        return cls(np.hstack([ones, _standardised(numbers, count)]), codes, first, count)

    def take(self, rows: np.ndarray) -> _Rows:
        return self._replace(
            numbers=self.numbers[rows], codes=self.codes[:, rows], weight=self.weight[rows]
        )


def _learn(rows: _Rows, gram: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slopes (p, s) of the numbers; of the values of all columns (values, 2 s + 1): effects
    from the mean, effects beside all else, and how much of them is left at the most."""
    # Imported late: numba takes a second to load, which `import clearbands` should not.
    from clearbands.engine.effects import effects_alone

    n_targets, n_values = targets.shape[1], rows.first[-1]
    alone, left = np.zeros((n_targets, n_values)), np.zeros(n_values)
    by_target = np.ascontiguousarray(targets.T, dtype=float)
    effects_alone(rows.codes, rows.first, by_target, rows.weight, alone, left)
    slopes, beside = np.zeros((rows.numbers.shape[1], n_targets)), np.zeros_like(alone)
    inverse = np.linalg.inv(gram)  # of numbers of mean 0 and variance 1, beside a ridge
    for s, y in enumerate(by_target):
        slopes[:, s], beside[s] = _beside_all_else(rows, inverse, y)
    return slopes, np.vstack([alone, beside, left]).T


def _beside_all_else(
    rows: _Rows, inverse: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A line of the numbers and an effect of each category, in turns: what others leave over."""
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
    """(n_values + 1,): the effect of each code, and how much of its mean is left; 0 of unseen ones.

    >>> code, y = np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 9.0, 11.0])
    >>> effect, left = shrunken_effects(code, 2, y, np.ones(4))
    >>> effect.round(2).tolist(), left.round(2).tolist()
    ([-3.88, 3.88, 0.0], [0.97, 0.97, 0.0])
    """
    from clearbands.engine.effects import renew_effects

    effect, left = np.zeros(n_values + 1), np.zeros(n_values + 1)
    first = np.array([0, n_values + 1])
    renew_effects(code[None], first, y.astype(float), weight, effect, left)
    return effect, left


def _grams(rows: _Rows, fold: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Every fold, and last of all none, with the products of the numbers without it."""
    numbers, count = rows.numbers, rows.weight
    whole = (numbers * count[:, None]).T @ numbers
    ridge = RIDGE * count.sum() * np.eye(numbers.shape[1])
    ridge[0, 0] = 0.0
    for out in range(N_FOLDS):
        own = np.flatnonzero(fold == out)
        if len(own):
            yield out, whole - (numbers[own] * count[own, None]).T @ numbers[own] + ridge
    yield N_FOLDS, whole + ridge


def _pays(effects: np.ndarray, rest: np.ndarray, count: np.ndarray) -> list[bool]:
    """Whether the effects (t, n, 2 s) of each column bring it nearer to what is left (2, n, s)."""
    n_targets = rest.shape[2]
    alone = rest[0]
    beside = rest[1] - sum(effect[:, n_targets:] for effect in effects)
    return [
        bool(
            _is_less(alone - effect[:, :n_targets], alone, count)
            or _is_less(beside, beside + effect[:, n_targets:], count)
        )
        for effect in effects
    ]


def _is_less(error: np.ndarray, other: np.ndarray, count: np.ndarray) -> bool:
    """Whether any of the errors (n, s) has a smaller mean square than the other, not by chance."""
    gain = other**2 - error**2
    return bool((count @ gain > ERRORS * np.sqrt(count @ gain**2)).any())


def _standardised(X: np.ndarray, count: np.ndarray) -> np.ndarray:
    mean = np.average(X, axis=0, weights=count)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=count))
    return (X - mean) / np.where(deviation > 0, deviation, 1.0)


def _folds(n: int, groups: np.ndarray | None, rng: np.random.RandomState) -> np.ndarray:
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    return rng.permutation(np.arange(units.max() + 1) % N_FOLDS)[units]
