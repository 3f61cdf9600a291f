"""Diagnostics that learn from one part of the rows and judge with another.

If a search or a classifier chooses where to look, the rows that it looked at make any intervals
appear worse than they are. Here, only rows that it did not look at count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from clearbands.diagnostics.coverage import Cell, Range, inside, make_cell
from clearbands.rows.checks import check_count, check_share
from clearbands.rows.levels import check_one_level
from clearbands.rows.typed import Seed, TableLike
from clearbands.tables.encoder import TableEncoder, encode

ROWS_NEEDED = 100
"""The fewest rows from which a classifier or a search for slabs learns anything."""


@dataclass(frozen=True)
class Slab:
    """The rows between two parallel planes in X, and their coverage."""

    cell: Cell  # the coverage of the rows in the slab that did not choose it
    searched: float  # the coverage of the rows that chose the slab: too low by construction
    rows: np.ndarray  # (n,) booleans: which of all rows lie in the slab


def worst_slab(
    y: ArrayLike,
    intervals: ArrayLike,
    X: TableLike,
    *,
    share: float = 0.2,
    n_directions: int = 500,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> Slab:
    """Worst-slab coverage (Cauchois, Gupta, Duchi 2021), without the bias of the search.

    A slab holds the rows whose projection on a direction lies in a range. A random half of the
    rows chooses, among `n_directions` random directions and all ranges with at least the share
    `share` of that half, the slab of least coverage; the other half judges it. Best is the
    confidence level, which is what is expected wherever coverage does not depend on X. Columns
    are standardised, and encoded where they are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, 9.0, 0.0)  # outside where X is large
    >>> slab = worst_slab(y, np.tile([-1.0, 1.0], (200, 1)), X)
    >>> slab.cell.coverage, bool(X[slab.rows].min() > 0.5)
    (0.0, True)
    """
    hit = inside(y, intervals)
    _check_enough(len(hit), "worst_slab")
    check_share(share, "share")
    check_count(n_directions, "n_directions")
    rng = check_random_state(random_state)
    Z = _standardise(_encode(X, len(hit)))
    search, judge = np.array_split(rng.permutation(len(hit)), 2)
    least = int(np.ceil(share * len(search)))
    best, rows = np.inf, np.zeros(len(hit), bool)
    for direction in _directions(Z.shape[1], n_directions, rng):
        projection = Z @ direction
        coverage, (low, high) = least_covered_range(projection[search], hit[search], least)
        if coverage < best:
            best, rows = coverage, (low <= projection) & (projection <= high)
    judged = judge[rows[judge]]
    if len(judged) == 0:
        raise ValueError(
            "The slab holds none of the rows that should judge it; give more rows, or a larger "
            f"share than {share:g}."
        )
    where = "the rows where a search on other rows found least coverage"
    return Slab(make_cell("worst slab", where, hit[judged], confidence), best, rows)


def least_covered_range(projection: np.ndarray, hit: np.ndarray, least: int) -> tuple[float, Range]:
    """Return the least coverage of a range of values with at least `least` rows, and the range.

    A range has a coverage below t if its hits minus t times its rows is negative. The most negative
    range is found in one pass, and t falls to its coverage, until there is no such range.
    """
    order = np.argsort(projection, kind="stable")
    values = projection[order]
    cuts = np.flatnonzero(np.r_[True, values[1:] != values[:-1], True])  # between distinct values
    hits = np.r_[0, np.cumsum(hit[order])][cuts]
    last_start = np.searchsorted(cuts, cuts - least, side="right") - 1
    ends = np.flatnonzero(last_start >= 0)
    start, end, t = 0, len(cuts) - 1, hits[-1] / len(values)
    while True:
        excess = hits - t * cuts
        gain = excess[ends] - np.maximum.accumulate(excess)[last_start[ends]]
        j = ends[np.argmin(gain)]
        i = int(np.argmax(excess[: last_start[j] + 1]))
        lower = (hits[j] - hits[i]) / (cuts[j] - cuts[i])
        if lower >= t:
            return float(t), Range(float(values[cuts[start]]), float(values[cuts[end] - 1]))
        start, end, t = i, int(j), lower


@dataclass(frozen=True)
class ExcessRisk:
    """The distance of the coverage at x from the level, averaged over x. Best is 0 for all."""

    total: float  # over + under
    over: float  # the part of rows that are expected to be covered more than the level says
    under: float  # the part of rows that are expected to be covered less
    low: float  # the lower end of a normal interval of the total
    high: float
    cells: tuple[Cell, ...]  # coverage where less and where more is expected, if there are rows


def excess_risk(
    y: ArrayLike,
    intervals: ArrayLike,
    X: TableLike,
    confidence_level: float,
    *,
    classifier: BaseEstimator | None = None,
    n_folds: int = 5,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> ExcessRisk:
    """Excess risk of the target coverage (ERT) in its L1 form.

    Let p(x) be the coverage at x. What is wanted is the mean of |p(x) - level|. A classifier
    fitted to the other folds gives each row a guess h of p(x); with s = sign(h - level) and z = 1
    where the row is covered, else 0, the row's value is s * (z - level), and the result is their
    mean. Its expectation is that of s * (p(x) - level): never more than what is wanted, equal to
    it if h is on the right side of the level everywhere, and 0 where coverage holds everywhere.
    Plugging h itself into |h - level| would instead be above 0 by the noise of h. Rows with s = 1
    make up `over`, those with s = -1 `under`. By chance the result may be negative.

    `classifier` is any scikit-learn classifier with `predict_proba`; by default a small random
    forest. The interval takes the rows' values for independent, which folds that learn from each
    other are not quite: it is somewhat short, and where coverage holds it lies above 0 more often
    than it should.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.where(X[:, 0] > 0, 9.0, 0.0)  # half of the rows are never covered
    >>> risk = excess_risk(y, np.tile([-1.0, 1.0], (200, 1)), X, 0.9)
    >>> round(risk.total, 2), round(risk.over, 2), round(risk.under, 2)
    (0.5, 0.05, 0.45)
    """
    hit = inside(y, intervals)
    level = check_one_level(confidence_level)
    _check_enough(len(hit), "excess_risk")
    folds = KFold(n_folds, shuffle=True, random_state=_seed(random_state))
    guess = _cross_fit(classifier, _encode(X, len(hit)), hit, folds)
    values = np.sign(guess - level) * (hit - level)
    spread = float(values.std(ddof=1)) / np.sqrt(len(hit))
    margin = float(stats.norm.isf((1 - confidence) / 2) * spread)
    total, over = float(values.mean()), float(np.sum(values[guess > level]) / len(hit))
    under = float(np.sum(values[guess < level]) / len(hit))
    expected = {"below": guess < level, "above": guess > level}
    cells = tuple(
        make_cell(
            "classifier",
            f"rows whose coverage is expected {where} the level",
            hit[rows],
            confidence,
        )
        for where, rows in expected.items()
        if rows.any()
    )
    return ExcessRisk(total, over, under, total - margin, total + margin, cells)


@dataclass(frozen=True)
class TwoSampleTest:
    """A measure of how well a classifier tells new rows from calibration rows."""

    auc: float  # 0.5 if it cannot tell them apart, 1 if it always can
    low: float  # the lower end of a normal interval of the AUC
    high: float
    p_value: float  # one-sided, for the hypothesis that it cannot


def exchangeability(
    X_calibration: TableLike,
    X_new: TableLike,
    *,
    classifier: BaseEstimator | None = None,
    n_folds: int = 5,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> TwoSampleTest:
    """Whether new rows look like calibration rows, as the guarantee of coverage assumes.

    A classifier learns on the other folds to tell them apart. Per fold the AUC is the share of
    pairs, one row of each kind, that it puts in the right order; the result is the mean over the
    folds. The p-value takes the folds' Mann-Whitney statistics for independent and their mean for
    normal. Best is 0.5. Only X is compared: a change of y given x is not seen.

    Examples
    --------
    >>> import numpy as np
    >>> old = np.linspace(0, 1, 100)[:, None]
    >>> exchangeability(old, old + 2).auc
    1.0
    """
    encoder = TableEncoder().fit(X_calibration)
    blocks = [encode(encoder, X_calibration), encode(encoder, X_new)]
    for block, name in zip(blocks, ("X_calibration", "X_new"), strict=True):
        _check_enough(len(block), "exchangeability", f" in {name}")
    is_new = np.repeat([False, True], [len(block) for block in blocks])
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=_seed(random_state))
    guess = _cross_fit(classifier, np.vstack(blocks), is_new, folds)
    aucs, variances, null_variances = [], [], []
    for _, fold in folds.split(is_new, is_new):
        old, new = guess[fold][~is_new[fold]], guess[fold][is_new[fold]]
        places_new, places_old = _shares_below(new, old), 1 - _shares_below(old, new)
        aucs.append(places_new.mean())
        variances.append(places_new.var() / len(new) + places_old.var() / len(old))
        null_variances.append((len(new) + len(old) + 1) / (12 * len(new) * len(old)))
    auc = float(np.mean(aucs))
    margin = stats.norm.isf((1 - confidence) / 2) * np.sqrt(np.sum(variances)) / n_folds
    score = (auc - 0.5) * n_folds / np.sqrt(np.sum(null_variances))
    low, high = max(auc - margin, 0.0), min(auc + margin, 1.0)
    return TwoSampleTest(auc, float(low), float(high), float(stats.norm.sf(score)))


def _shares_below(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the share of `others` below each value (n,); ties count half."""
    others = np.sort(others)
    below = np.searchsorted(others, values, side="left")
    not_above = np.searchsorted(others, values, side="right")
    return (below + not_above) / (2 * len(others))


def _cross_fit(
    classifier: BaseEstimator, X: np.ndarray, labels: np.ndarray, folds: Any
) -> np.ndarray:
    """Return the probability of True (n,) of each row by a classifier that did not see its fold."""
    guess = np.empty(len(labels))
    for learn, judge in folds.split(X, labels):
        seen = labels[learn]
        if seen.all() or not seen.any():
            guess[judge] = seen[0]
            continue
        fitted = (_default_classifier() if classifier is None else clone(classifier)).fit(
            X[learn], seen
        )
        guess[judge] = fitted.predict_proba(X[judge])[:, 1]
    return guess


def _default_classifier() -> BaseEstimator:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(50, min_samples_leaf=20, random_state=0)


def _encode(X: TableLike, n: int) -> np.ndarray:
    encoded = TableEncoder().fit_transform(X)
    if len(encoded) != n:
        raise ValueError(f"X has {len(encoded)} rows where {n} are needed, as many as y.")
    return encoded


def _standardise(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _directions(d: int, n: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw unit vectors (n, d); in one dimension there is only one."""
    vectors = rng.normal(size=(n if d > 1 else 1, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _seed(random_state: Seed) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


def _check_enough(n: int, name: str, where: str = "") -> None:
    if n < ROWS_NEEDED:
        raise ValueError(f"{name} needs at least {ROWS_NEEDED} rows{where}, got {n}.")
