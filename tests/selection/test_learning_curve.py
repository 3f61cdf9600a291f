"""The errors on unseen rows at several training sizes."""

import numpy as np
import pytest

from clearbands.prediction.curve_posterior import NO_NOISE_SEEN
from clearbands.rows.split import Rows
from clearbands.selection.learning_curve import (
    SHARES,
    _noise_of_repeats,
    _tasks,
    _tasks_in_time,
    measure_curve,
)


def rows(n=80, **labels):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 3))
    return Rows(X, np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n), **labels)


def test_errors_fall_where_there_is_something_to_learn():
    found = measure_curve(rows(200), np.random.RandomState(0), n_jobs=1)
    assert found.sizes == pytest.approx(160 * np.array(SHARES))
    assert found.errors.shape == (4, 2, 200)
    assert np.isfinite(found.errors).all()
    means = found.mean_absolute()
    assert means[0] > 1.5 * means[-1]
    assert (np.linalg.eigvalsh(found.means().covariance) > 0).all()


def test_two_fits_differ_by_less_than_they_are_wrong_and_less_with_more_rows():
    means = measure_curve(rows(300), np.random.RandomState(0), n_jobs=1).means()
    assert means.differences.shape == (3,)
    assert (means.differences < 2 * means.errors[:3]).all()
    assert means.differences[-1] < means.differences[0]


def test_rows_with_the_same_x_tell_noise():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.uniform(size=(100, 3)), 3, axis=0)
    f, noise = 10 * rng.normal(size=100).repeat(3), rng.normal(size=300)
    errors = np.full(300, 2.0)
    ratio, variance = _noise_of_repeats(Rows(X, f + noise), errors)
    # The mean absolute value of a standard normal distribution is the root of 2 over pi.
    assert np.exp(ratio) == pytest.approx(np.sqrt(2 / np.pi) / 2, rel=0.1)
    assert variance < 0.1**2
    nothing = _noise_of_repeats(Rows(X[::3], f[::3]), errors[::3])
    assert nothing == NO_NOISE_SEEN
    assert _noise_of_repeats(Rows(X, f + noise, groups=np.arange(300)), errors) == nothing


def test_the_number_of_threads_changes_nothing():
    one, two = (
        measure_curve(rows(), np.random.RandomState(0), n_jobs=jobs).errors for jobs in (1, 2)
    )
    assert np.array_equal(one, two)


def test_too_few_rows_or_groups_have_no_curve():
    assert measure_curve(rows(40), np.random.RandomState(0)) is None
    few = rows(80, groups=np.arange(80) // 4)
    assert measure_curve(few, np.random.RandomState(0)) is None


def test_rows_of_a_group_stay_on_one_side():
    groups = np.repeat(np.arange(60), 3)
    tasks = list(_tasks(rows(180, groups=groups), np.random.RandomState(0)))
    for task in tasks:
        assert not set(groups[task.train]) & set(groups[task.judged])
        assert set(np.bincount(groups[task.train])) <= {0, 3}


def test_smaller_training_sets_of_one_size_have_no_row_in_common():
    tasks = list(_tasks(rows(), np.random.RandomState(0)))
    of_fold = [task for task in tasks if task.judged[0] == tasks[0].judged[0]]
    for step in range(3):
        first, second = (task.train for task in of_fold if task.step == step)
        assert not set(first) & set(second)


def test_in_the_order_of_time_only_the_past_trains():
    for task in _tasks_in_time(rows(100, groups=np.arange(100)), gap=3):
        assert task.train.max() < task.judged.min() - 3


def test_a_weight_counts_as_so_many_rows_in_the_means():
    weight = np.r_[np.full(40, 2.0), np.ones(40)]
    found = measure_curve(rows(sample_weight=weight), np.random.RandomState(0), n_jobs=1)
    absolute = np.abs(found.errors[-1]).mean(axis=0)
    assert found.mean_absolute()[-1] == pytest.approx(np.average(absolute, weights=weight))
