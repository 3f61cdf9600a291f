"""The learning curve: the errors of a small search on unseen rows at several training sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.engine.threads import one_blas_thread, run_threads
from clearbands.models.bagging import fit_bag
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.pools import GAM_COLUMNS, STAGES, SURFACE_COLUMNS
from clearbands.models.random_trees import RandomTrees
from clearbands.models.seeds import seed_missing
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.prediction.curve_posterior import NO_NOISE_SEEN, CurveMeans
from clearbands.rows.draws import Draws
from clearbands.rows.split import Rows
from clearbands.rows.time_order import time_blocks
from clearbands.rows.weighting import may_be_chance, mean_of

STAGE = "measuring the learning curve"
N_FOLDS = 5
SHARES = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""The shares of the training rows of a fold on which the steps of the curve train."""

ENOUGH_ROWS = 600
"""The number of rows that suffice to judge the curve; a larger table leaves folds unjudged."""

N_DRAWS = 2
"""The draws of each smaller training set. They share no row, so their difference is chance."""

RACE_ROWS = 100
"""All centers judge this many rows; after them only the best centers of each size continue."""

N_BEST = 2  # the centers of each size that continue, at most

FEWEST_ROWS = 60
"""The fewest rows, or groups of rows, for a curve; nothing is learned from an eighth of fewer."""

FEWEST_REPEATS = 30
"""The fewest rows with a repeated x from which noise is measured."""

UNLIKE, SHAPE = 0.3, 0.05
"""Errors of the logarithm of noise: for rows without a repeated x, and for noise that is not
normal."""

MOST_ROWS = 10_000
"""The most rows on which the curve is measured; they are drawn from a larger table."""


class LearningCurve(NamedTuple):
    """Errors of the best of a few centers at each of several training sizes."""

    sizes: np.ndarray  # (s,): training rows, rising
    errors: np.ndarray  # (s, draws, n): y minus the center of members that did not see the row
    weight: np.ndarray | None  # (n,): how many rows each counts as
    names: tuple[str, ...]  # (s,): the center that was best at each size

    noise: tuple[float, float] = NO_NOISE_SEEN  # as in `CurveMeans`

    def mean_absolute(self) -> np.ndarray:
        """Return the mean absolute error (s,) at each size."""
        return np.array([mean_of(np.abs(each).mean(axis=0), self.weight) for each in self.errors])

    def means(self) -> CurveMeans:
        """Return the errors at each size, and the differences of two fits on different rows."""
        errors, covariance = _mean_over_rows(np.abs(self.errors).mean(axis=1), self.weight)
        if self.errors.shape[1] == 1:
            return CurveMeans(self.sizes, errors, covariance, noise=self.noise)
        apart = np.abs(self.errors[:-1, 0] - self.errors[:-1, 1])
        return CurveMeans(
            self.sizes, errors, covariance, *_mean_over_rows(apart, self.weight), self.noise
        )


def _mean_over_rows(values: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the means (s,) of values (s, n) over rows, and the covariance (s, s) of the means."""
    weight = np.ones(values.shape[1]) if weight is None else weight
    part = weight / weight.sum()
    means = values @ part
    away = (values - means[:, None]) * part
    return means, away @ away.T


class _Task(NamedTuple):
    """A fit on some rows, which predicts a block of other rows."""

    block: int
    step: int  # the index of the training size
    draw: int
    train: np.ndarray
    judged: np.ndarray


def curve_pool(n_columns: int) -> dict[str, BaseEstimator]:
    """Return the centers that compete at each size: one of each kind that the default knows."""
    pool: dict[str, Any] = {
        "trees of depth 4": SymmetricTrees(max_depth=4, n_trees=200),
        "trees of depth 6": SymmetricTrees(n_trees=200),
        "random trees": RandomTrees(40, min_samples_leaf=5),
    }
    if n_columns <= GAM_COLUMNS:
        trees = SymmetricTrees(max_depth=4, n_trees=200)
        pool["GAM"] = TreesOnSmooth(ExpectileGAM(), trees)
    if n_columns <= SURFACE_COLUMNS:
        pool["surface"] = KernelRidge(n_landmarks=200, turn_rows=200)
    return pool


def measure_curve(
    rows: Rows,
    rng: np.random.RandomState,
    *,
    gap: int | None = None,
    n_jobs: int | None = None,
    pool: Mapping[str, BaseEstimator] | None = None,
) -> LearningCurve | None:
    """Measure the learning curve on rows of numbers; return None if there are too few of them.

    `pool` holds the centers that compete at each size, by default those of `curve_pool`.

    Rows of one group either all train or are all judged. With a `gap` the rows are in the order of
    time: fits on earlier rows predict each block, and smaller training sets are the last of these.
    """
    rows = _some(rows, rng, gap)
    units = np.arange(len(rows)) if rows.groups is None else rows.groups
    if len(np.unique(units)) < FEWEST_ROWS:
        return None
    tasks = list(_tasks(rows, rng) if gap is None else _tasks_in_time(rows, gap))
    pool = curve_pool(rows.X.shape[1]) if pool is None else pool
    models = {name: seed_missing(clone(model), rng) for name, model in pool.items()}
    return _best_at_each_size(_race(models, rows, tasks, n_jobs), rows)


def _some(rows: Rows, rng: np.random.RandomState, gap: int | None) -> Rows:
    if len(rows) <= MOST_ROWS:
        return rows
    if gap is not None:
        return rows.take(np.arange(len(rows) - MOST_ROWS, len(rows)))
    if rows.groups is None:
        return rows.take(np.sort(rng.permutation(len(rows))[:MOST_ROWS]))
    _, label, counts = np.unique(rows.groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(counts))
    n_labels = max(1, int(np.searchsorted(np.cumsum(counts[order]), MOST_ROWS, side="right")))
    return rows.take(np.flatnonzero(np.isin(label, order[:n_labels])))


def _tasks(rows: Rows, rng: np.random.RandomState) -> Iterator[_Task]:
    labels = np.arange(len(rows)) if rows.groups is None else rows.groups
    unit = np.unique(labels, return_inverse=True)[1]
    n_units = int(unit.max()) + 1
    fold = rng.permutation(np.arange(n_units) % N_FOLDS)
    for own in range(_n_judged(len(rows))):
        judged = np.flatnonzero(fold[unit] == own)
        others = rng.permutation(np.flatnonzero(fold != own))
        for step, share in enumerate(SHARES):
            size = max(2, int(len(others) * share))
            for draw in range(1 if share == 1 else N_DRAWS):
                some = others[draw * size : (draw + 1) * size]
                yield _Task(own, step, draw, np.flatnonzero(np.isin(unit, some)), judged)


def _n_judged(n_rows: int) -> int:
    """Return how many folds are judged: enough for `ENOUGH_ROWS` rows, and at least two."""
    return max(2, min(N_FOLDS, ceil(N_FOLDS * ENOUGH_ROWS / n_rows)))


def _tasks_in_time(rows: Rows, gap: int) -> Iterator[_Task]:
    place = np.arange(len(rows)) if rows.groups is None else rows.groups
    for number, (past, block) in enumerate(time_blocks(place, gap)):
        for step, share in enumerate(SHARES):
            yield _Task(number, step, 0, past[-max(2, int(len(past) * share)) :], block)


class _Judged(NamedTuple):
    """A task, and the predictions of each center for its block."""

    task: _Task
    centers: dict[str, np.ndarray]


def _race(
    models: dict[str, BaseEstimator], rows: Rows, tasks: list[_Task], n_jobs: int | None
) -> list[_Judged]:
    """Fit all models for the last blocks, and only the best models of each size for the others.

    In the order of time the last blocks have the most rows before them.
    """
    sizes = {task.block: len(task.judged) for task in tasks}
    reached = np.cumsum([sizes[block] for block in sorted(sizes, reverse=True)])
    n_blocks = 1 + min(int(np.searchsorted(reached, RACE_ROWS)), len(sizes) - 1)
    first = sorted(sizes)[-n_blocks]
    everyone = dict.fromkeys(range(len(SHARES)), models)
    race = _judge(everyone, rows, [task for task in tasks if task.block >= first], n_jobs)
    left = {
        step: {name: models[name] for name in _in_reach(race, rows, step, list(models))}
        for step in range(len(SHARES))
    }
    return race + _judge(left, rows, [task for task in tasks if task.block < first], n_jobs)


def _in_reach(race: list[_Judged], rows: Rows, step: int, names: list[str]) -> list[str]:
    """Return the best center and those whose errors may differ from its errors by chance."""
    _, errors, weight = _centers(race, rows, step)
    loss = {name: mean_of(each, weight) for name, each in errors.items()}
    own = {name: [each for each in loss if each.startswith(name)] for name in names}
    best = {name: min(own[name], key=loss.__getitem__) for name in names}
    order = sorted(names, key=lambda name: loss[best[name]])
    least = errors[best[order[0]]]
    return [name for name in order[:N_BEST] if may_be_chance(errors[best[name]] - least, weight)]


def _judge(
    models: dict[int, dict[str, BaseEstimator]], rows: Rows, tasks: list[_Task], n_jobs: int | None
) -> list[_Judged]:
    """Return the predictions of the models of each size, for trees at several stages."""
    # The longest fits start first, so that no thread waits for one of them at the end.
    judged = [_Judged(task, {}) for task in sorted(tasks, key=lambda task: -len(task.train))]

    def work(number: int, stop: np.ndarray) -> None:
        task, centers = judged[number]
        for name, model in models[task.step].items():
            centers.update(_predictions(name, model, rows, task))

    with one_blas_thread():
        run_threads(work, len(tasks), n_jobs=n_jobs, stage=STAGE)
    return judged


def _predictions(name: str, model: BaseEstimator, rows: Rows, task: _Task) -> dict[str, np.ndarray]:
    train, X = rows.take(task.train), rows.X[task.judged]
    once = Draws(np.ones((1, len(train)), np.uint8))
    labels = {"weight": train.sample_weight, "groups": train.groups}
    bag: Any = fit_bag(clone(model), train.X, train.y, once, **labels, n_jobs=1, stage=STAGE)
    if isinstance(model, SymmetricTrees):
        return _stopped(name, bag, X, np.zeros(len(X)))
    if isinstance(model, TreesOnSmooth):
        smooth, trees = bag.bags
        before = _one(smooth, X)
        return {name: before} | _stopped(name, trees, X, before)
    return {name: _one(bag, X)}


def _stopped(name: str, trees: Any, X: np.ndarray, before: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}, {n} of them": before + _one(trees.first(n), X) for n in STAGES if n <= 200}


def _one(bag: Any, X: np.ndarray) -> np.ndarray:
    return bag.predict_members(X)[:, 0, 0]


def _centers(
    judged: list[_Judged], rows: Rows, step: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray | None]:
    """Return the predictions (draws, n) at one size by center, NaN for rows that are not judged.

    Also return the absolute errors of the judged rows by center, and the weight of these rows.
    """
    own = [each for each in judged if each.task.step == step]
    n_draws = 1 + max(task.draw for task, _ in judged)
    centers: dict[str, np.ndarray] = {}
    for name in sorted(set.intersection(*(set(each.centers) for each in own))):
        centers[name] = np.full((n_draws, len(rows)), np.nan)
        for task, by_name in own:
            centers[name][task.draw, task.judged] = by_name[name]
    known = np.unique(np.concatenate([task.judged for task, _ in own]))
    y, weight = rows.y[known], None if rows.sample_weight is None else rows.sample_weight[known]
    errors = {
        name: np.nanmean(np.abs(y - each[:, known]), axis=0) for name, each in centers.items()
    }
    return centers, errors, weight


def _best_at_each_size(judged: list[_Judged], rows: Rows) -> LearningCurve:
    known = np.unique(np.concatenate([task.judged for task, _ in judged]))
    names, errors, sizes = [], [], []
    for step in range(len(SHARES)):
        centers, absolute, weight = _centers(judged, rows, step)
        best = min(absolute, key=lambda name: mean_of(absolute[name], weight))
        names.append(best)
        center = centers[best]
        center = np.where(np.isnan(center), center[0], center)  # draw 0 replaces missing ones
        errors.append((rows.y - center)[:, known])
        sizes.append(np.mean([len(task.train) for task, _ in judged if task.step == step]))
    noise = _noise_of_repeats(rows.take(known), errors[-1].mean(axis=0))
    return LearningCurve(np.array(sizes), np.array(errors), weight, tuple(names), noise)


def _noise_of_repeats(rows: Rows, errors: np.ndarray) -> tuple[float, float]:
    """Return the logarithm of noise over errors, from rows with the same x, and its variance.

    Two such rows differ by the noise of both. With groups no noise is measured, because rows of one
    group may have more in common than x.
    """
    if rows.groups is not None:
        return NO_NOISE_SEEN
    cell = np.unique(rows.X, axis=0, return_inverse=True)[1].reshape(-1)
    n_rows = np.bincount(cell)
    is_repeated = n_rows[cell] > 1
    if is_repeated.sum() < FEWEST_REPEATS:
        return NO_NOISE_SEEN
    order = np.lexsort((rows.y, cell))
    y, ordered = rows.y[order], cell[order]
    place = np.arange(len(y)) - np.concatenate([[0], np.cumsum(n_rows)[:-1]])[ordered]
    # The sum of all differences of sorted values is a weighted sum of these values.
    coefficients = 2 * place - n_rows[ordered] + 1.0
    between = np.bincount(ordered, coefficients * (y - y.mean()))
    several = n_rows > 1
    noise = between[several] * np.sqrt(2) / (n_rows[several] - 1)  # summed over the rows of a cell
    error = np.bincount(cell, np.abs(errors))[several]
    if min(noise.sum(), error.sum()) <= 0:
        return NO_NOISE_SEEN
    sampling = np.square(noise / noise.sum() - error / error.sum()).sum()
    unlike = (UNLIKE * (1 - is_repeated.mean())) ** 2
    return float(np.log(noise.sum() / error.sum())), float(sampling + SHAPE**2 + unlike)
