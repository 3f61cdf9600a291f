import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from clearbands.models.bagging import Folds
from clearbands.models.gam import ExpectileGAM
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.split import Rows
from clearbands.selection.centers import (
    CenterStanding,
    JudgedCenter,
    judge_centers,
    mix,
    rank_centers,
)
from tests.toys import noisy_line


class Broken(RegressorMixin, BaseEstimator):
    """Cannot cope with any data."""

    def fit(self, X, y):
        raise ValueError("these rows are beyond me.")


class Nonsense(DummyRegressor):
    """Predicts no numbers."""

    def predict(self, X):
        return np.full(len(X), np.nan)


def judged(candidates, n=120):
    X, y = noisy_line(n)
    draws = Folds.draw(n, 5, 1, np.random.RandomState(0))
    return rank_centers(judge_centers(candidates, Rows(X, y), draws, [0.9], n_jobs=1))


def test_errors_are_those_of_unseen_rows():
    X, y = noisy_line(120)
    draws = Folds.draw(120, 5, 1, np.random.RandomState(0))
    ((found, said),) = judge_centers(
        {"line": LinearRegression()}, Rows(X, y), draws, [0.9], n_jobs=1
    )
    predicted = np.empty(120)
    for seen in draws.counts.astype(bool):
        predicted[~seen] = LinearRegression().fit(X[seen], y[seen]).predict(X[~seen])
    np.testing.assert_allclose(said, predicted)
    assert found.mae == pytest.approx(np.mean(np.abs(y - predicted)))
    assert found.rmse == pytest.approx(np.sqrt(np.mean((y - predicted) ** 2)))


def test_the_best_is_chosen():
    standings = judged({"mean": DummyRegressor(), "line": LinearRegression()})
    assert [s.name for s in standings] == ["line", "mean"]


def test_few_trees_win_where_there_is_nothing_to_learn():
    X, _ = noisy_line(200)
    y = np.random.default_rng(1).normal(size=200)
    draws = Folds.draw(200, 5, 1, np.random.RandomState(0))
    pool = {"trees": SymmetricTrees(max_depth=6)}
    ((found, _),) = judge_centers(pool, Rows(X, y), draws, [0.9], n_jobs=1)
    assert found.name == "trees with 48 trees"
    assert found.model.n_trees == 48


def test_a_candidate_that_fails_is_left_out_by_name():
    with pytest.warns(UserWarning, match="'broken' is left out: these rows are beyond me"):
        standings = judged({"broken": Broken(), "line": LinearRegression()})
    assert [s.name for s in standings] == ["line"]
    with pytest.warns(
        UserWarning, match="'nonsense' is left out: Nonsense predicts NaN or infinity"
    ):
        standings = judged({"nonsense": Nonsense(), "line": LinearRegression()})
    assert [s.name for s in standings] == ["line"]
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(
            ValueError, match=r"No center could be fitted \(The center 'broken': these rows"
        ),
    ):
        judged({"broken": Broken()})


def test_a_smooth_model_may_win_without_trees():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = 3 * X[:, 0] + rng.normal(size=200)
    draws = Folds.draw(200, 5, 1, np.random.RandomState(0))
    pool = {"GAM": TreesOnSmooth(ExpectileGAM(), SymmetricTrees(max_depth=6))}
    ((found, _),) = judge_centers(pool, Rows(X, y), draws, [0.9], n_jobs=1)
    assert found.name == "GAM"
    assert isinstance(found.model, ExpectileGAM)


def judged_as(name, predicted):
    return JudgedCenter(CenterStanding(name, DummyRegressor(), 0.0, 0.0, 0.0), predicted)


def test_a_mixture_takes_those_that_err_in_different_directions():
    wave = np.sin(np.arange(100))
    rows = Rows(np.zeros((100, 1)), np.zeros(100))
    pool = [judged_as("up", wave + 1), judged_as("down", wave - 1), judged_as("far", wave + 9)]
    standing, predicted = mix(pool, rows, [0.9], 2)
    assert standing.name == "50% up + 50% down"
    assert standing.model.weights == [0.5, 0.5]
    np.testing.assert_allclose(predicted, wave)
    assert standing.rmse == pytest.approx(np.sqrt(np.mean(wave**2)))
    assert mix(pool, rows, [0.9], 1) is None


def test_there_is_no_mixture_where_one_alone_is_best():
    y = np.arange(10.0)
    pool = [judged_as("right", y), judged_as("wrong", y + 1)]
    assert mix(pool, Rows(np.zeros((10, 1)), y), [0.9], 3) is None
