"""Kernels, and classifiers on their landmarks."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.kernels import KERNELS, Kernel, Landmarks, distances_between
from clearbands.models.pools import MOST_ROWS_OF_KERNELS, class_pool
from tests.models.wave_rows import waves


@parametrize_with_checks([Landmarks(10)])
def test_landmarks_are_a_transformer(estimator, check):
    check(estimator)


def test_with_all_rows_the_kernel_is_exact_and_nothing_is_said():
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = Landmarks(300, random_state=0).fit_transform(X)
    np.testing.assert_allclose(found @ found.T, rbf_kernel(X), atol=1e-6)


def test_what_no_line_divides_is_told_apart():
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = (X**2).sum(axis=1) < 1.4  # a disc
    model = make_pipeline(Landmarks(50, random_state=0), LogisticRegression(C=10.0))
    assert model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.93
    assert LogisticRegression().fit(X[:400], y[:400]).score(X[400:], y[400:]) < 0.7


def test_large_tables_have_no_kernel():
    assert list(class_pool(MOST_ROWS_OF_KERNELS)) == ["logistic", "trees", "kernel"]
    assert list(class_pool(MOST_ROWS_OF_KERNELS + 1)) == ["logistic", "trees"]


def test_a_number_that_cannot_be():
    with pytest.raises(ValueError, match="n_landmarks must be a whole number"):
        Landmarks(0).fit(np.ones((5, 1)))


@pytest.mark.parametrize(("name", "peer"), [("gaussian", RBF()), ("matern", Matern(nu=1.5))])
def test_kernels_are_those_of_scikit_learn(name, peer):
    X, _ = waves(20)
    np.testing.assert_allclose(Kernel(name)(distances_between(X, X)), peer(X), atol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_the_slope_is_the_derivative(name):
    at, step = np.array([0.3, 1.0, 2.5]), 1e-6
    derivative = (Kernel(name)(at + step) - Kernel(name)(at - step)) / (2 * step)
    np.testing.assert_allclose(Kernel(name).slope(at) * at, derivative, rtol=1e-5)
