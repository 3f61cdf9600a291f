"""How errors on unseen rows fall with the number of training rows: a small search at each size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.engine.threads import one_blas_thread, run_threads
from clearbands.models.bagging import Draws, fit_bag, seed_missing
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.pools import GAM_COLUMNS, STAGES, SURFACE_COLUMNS
from clearbands.models.random_trees import RandomTrees
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.split import Rows
from clearbands.rows.time_order import stages
from clearbands.rows.weighting import may_be_chance, mean_of

STAGE = "measuring the learning curve"
N_FOLDS = 5
SHARES = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Of the training rows of a fold, that a step of the curve trains on."""

ENOUGH_ROWS = 600
"""That are judged: of more rows some folds stay unjudged."""

DRAWN_TWICE = 250
"""Of so few rows, smaller sets are drawn twice, without a row in common."""

FEWEST_ROWS = 60
"""Or groups: of an eighth of fewer nothing is learned."""

MOST_ROWS = 10_000
"""Which the curve is measured on; of more, so many are drawn."""


class LearningCurve(NamedTuple):
    """Errors of the best of a few centers at each of several training sizes."""

    sizes: np.ndarray  # (s,): training rows, rising
    errors: np.ndarray  # (s, draws, n): y minus the center of members that did not see the row
    weight: np.ndarray | None  # (n,): how many rows each counts as
    names: tuple[str, ...]  # of the center that was best at each size

    def mean_absolute(self) -> np.ndarray:
        """(s,): the mean absolute error at each size."""
        return np.array([mean_of(np.abs(each).mean(axis=0), self.weight) for each in self.errors])

    def covariance(self) -> np.ndarray:
        """(s, s): of these means, from how they differ between rows."""
        absolute = np.abs(self.errors).mean(axis=1)
        weight = np.ones(absolute.shape[1]) if self.weight is None else self.weight
        away = (absolute - self.mean_absolute()[:, None]) * weight / weight.sum()
        return away @ away.T


class _Task(NamedTuple):
    """One fit: which rows train, and which are judged."""

    step: int
    draw: int
    train: np.ndarray
    judged: np.ndarray


def curve_pool(n_columns: int) -> dict[str, BaseEstimator]:
    """The centers that compete at each size: one of each kind that the default knows."""
    pool: dict[str, Any] = {
        "trees of depth 4": SymmetricTrees(max_depth=4, n_trees=200),
        "trees of depth 6": SymmetricTrees(n_trees=200),
        "random trees": RandomTrees(40, min_samples_leaf=5),
    }
    if n_columns <= GAM_COLUMNS:
        trees = SymmetricTrees(max_depth=4, n_trees=200)
        pool["GAM"] = TreesOnSmooth(ExpectileGAM(), trees)
    if n_columns <= SURFACE_COLUMNS:
        pool["surface"] = KernelRidge(n_landmarks=200, turn_rows=300)
    return pool


def measure_curve(
    rows: Rows,
    rng: np.random.RandomState,
    *,
    gap: int | None = None,
    n_jobs: int | None = None,
    pool: Mapping[str, BaseEstimator] | None = None,
) -> LearningCurve | None:
    """The curve of rows that parts see as numbers; None where there are too few of them.

    `pool` are the centers that compete at each size, by default those of `curve_pool`.

    Rows of one group stay on one side. With a `gap` rows are in the order of time: blocks are
    judged by what was fitted before them, and smaller training sets are the last rows of it.
    """
    rows = _some(rows, rng, gap)
    units = np.arange(len(rows)) if rows.groups is None else rows.groups
    if len(np.unique(units)) < FEWEST_ROWS:
        return None
    tasks = list(_tasks(rows, rng) if gap is None else _tasks_in_time(rows, gap))
    pool = curve_pool(rows.X.shape[1]) if pool is None else pool
    models = {name: seed_missing(clone(model), rng) for name, model in pool.items()}
    predicted = _predict(models, rows, tasks, n_jobs)
    judged = np.unique(np.concatenate([task.judged for task in tasks]))
    return _best_at_each_size(predicted, rows.take(judged), judged, tasks)


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
    n_draws = 2 if len(rows) <= DRAWN_TWICE else 1
    for own in range(_n_judged(len(rows))):
        judged = np.flatnonzero(fold[unit] == own)
        others = rng.permutation(np.flatnonzero(fold != own))
        for step, share in enumerate(SHARES):
            size = max(2, int(len(others) * share))
            for draw in range(1 if share == 1 else n_draws):
                some = others[draw * size : (draw + 1) * size]
                yield _Task(step, draw, np.flatnonzero(np.isin(unit, some)), judged)


def _n_judged(n_rows: int) -> int:
    """Of the folds: as many as it takes, and at least two."""
    return max(2, min(N_FOLDS, ceil(N_FOLDS * ENOUGH_ROWS / n_rows)))


def _tasks_in_time(rows: Rows, gap: int) -> Iterator[_Task]:
    place = np.arange(len(rows)) if rows.groups is None else rows.groups
    for past, block in stages(place, gap):
        for step, share in enumerate(SHARES):
            yield _Task(step, 0, past[-max(2, int(len(past) * share)) :], block)


def _predict(
    models: dict[str, BaseEstimator], rows: Rows, tasks: list[_Task], n_jobs: int | None
) -> list[dict[str, np.ndarray]]:
    """For every task the predictions of centers, and of trees that are stopped early.

    Where a center is clearly beaten on the rows that are judged first, it is not fitted for the
    other rows at this size.
    """
    by_center: list[dict[str, dict[str, np.ndarray]]] = [{} for _ in tasks]
    is_first = [task.judged[0] == tasks[0].judged[0] for task in tasks]
    running = {task.step: list(models) for task in tasks}

    def fit(numbers: list[int]) -> None:
        def work(place: int, stop: np.ndarray) -> None:
            task = tasks[numbers[place]]
            for name in running[task.step]:
                predictions = _predictions(name, models[name], rows, task)
                by_center[numbers[place]][name] = predictions

        run_threads(work, len(numbers), n_jobs=n_jobs, stage=STAGE)

    with one_blas_thread():
        fit([k for k, first in enumerate(is_first) if first])
        for step in running:
            own = [k for k, task in enumerate(tasks) if is_first[k] and task.step == step]
            judged = rows.take(tasks[own[0]].judged)
            running[step] = _in_reach([by_center[k] for k in own], judged)
        fit([k for k, first in enumerate(is_first) if not first])
    return [dict(chain.from_iterable(map(dict.items, each.values()))) for each in by_center]


def _in_reach(draws: list[dict[str, dict[str, np.ndarray]]], judged: Rows) -> list[str]:
    """The centers that these rows do not tell apart from the best one."""
    errors = {}
    for name, variants in draws[0].items():
        each = [
            np.mean([np.abs(judged.y - draw[name][variant]) for draw in draws], axis=0)
            for variant in variants
        ]
        errors[name] = min(each, key=lambda error: mean_of(error, judged.sample_weight))
    best = min(errors.values(), key=lambda error: mean_of(error, judged.sample_weight))
    return [name for name in errors if may_be_chance(errors[name] - best, judged.sample_weight)]


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


def _best_at_each_size(
    predicted: list[dict[str, np.ndarray]], rows: Rows, judged: np.ndarray, tasks: list[_Task]
) -> LearningCurve:
    place = np.full(int(judged.max()) + 1, -1)
    place[judged] = np.arange(len(judged))
    sizes, errors, names = [], [], []
    n_draws = 1 + max(task.draw for task in tasks)
    for step in range(len(SHARES)):
        own = [(t, p) for t, p in zip(tasks, predicted, strict=True) if t.step == step]
        everywhere = [name for name in own[0][1] if all(name in by_name for _, by_name in own)]
        centers = {name: np.full((n_draws, len(rows)), np.nan) for name in everywhere}
        for task, by_name in own:
            for name in everywhere:
                centers[name][task.draw, place[task.judged]] = by_name[name]
        loss = {
            name: mean_of(np.nanmean(np.abs(rows.y - center), axis=0), rows.sample_weight)
            for name, center in centers.items()
        }
        best = min(loss, key=loss.__getitem__)
        names.append(best)
        errors.append(rows.y - _filled(centers[best]))
        sizes.append(np.mean([_size(rows, task) for task, _ in own]))
    return LearningCurve(np.array(sizes), np.array(errors), rows.sample_weight, tuple(names))


def _filled(center: np.ndarray) -> np.ndarray:
    """Where a size has one draw, it stands for all."""
    return np.where(np.isnan(center), center[0], center)


def _size(rows: Rows, task: _Task) -> float:
    return float(len(task.train))
