import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from clearbands.models.bagging import Folds
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.split import Rows
from clearbands.selection.race import Round, Runner, race
from tests.toys import noisy_line


class Broken(RegressorMixin, BaseEstimator):
    """Cannot cope with any data."""

    def fit(self, X, y):
        raise ValueError("these rows are beyond me.")


class Nonsense(DummyRegressor):
    """Predicts no numbers."""

    def predict(self, X):
        return np.full(len(X), np.nan)


class Counts(LinearRegression):
    """A line that counts how often it is fitted."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)


class CountsMean(DummyRegressor):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y)


def run(candidates, X, y, rounds=None):
    draws = Folds.draw(len(y), 5, 1, np.random.RandomState(0))
    return race(candidates, Rows(X, y), draws, [0.9], n_jobs=1, rounds=rounds or [Round(5, 9)])


def test_errors_are_those_of_unseen_rows():
    X, y = noisy_line(120)
    draws = Folds.draw(120, 5, 1, np.random.RandomState(0))
    ((standing, predicted),) = run({"line": LinearRegression()}, X, y).finalists
    expected = np.empty(120)
    for seen in draws.counts.astype(bool):
        expected[~seen] = LinearRegression().fit(X[seen], y[seen]).predict(X[~seen])
    np.testing.assert_allclose(predicted, expected)
    assert standing.mae == pytest.approx(np.mean(np.abs(y - expected)))
    assert standing.rmse == pytest.approx(np.sqrt(np.mean((y - expected) ** 2)))


def test_who_is_clearly_worse_after_the_first_round_runs_no_further():
    X, y = noisy_line(120)
    Counts.fits = CountsMean.fits = 0
    pool = {"mean": CountsMean(), "line": Counts(), "same line": LinearRegression()}
    finalists, beaten = run(pool, X, y, [Round(2, 3), Round(5, 3)])
    assert [each.standing.name for each in finalists] == ["line", "same line"]
    assert [each.standing.name for each in beaten] == ["mean"]
    assert (Counts.fits, CountsMean.fits) == (5, 2)
    assert len(finalists[0].predicted) == 120
    assert len(beaten[0].predicted) == 48  # of two folds


def test_not_more_go_on_than_a_round_allows():
    X, y = noisy_line(120)
    pool = {name: LinearRegression() for name in "abc"}
    finalists, beaten = run(pool, X, y, [Round(2, 2), Round(5, 1)])
    assert (len(finalists), len(beaten)) == (1, 2)


def test_members_judge_the_same_whatever_the_rounds():
    X, y = noisy_line(120)
    pool = {"trees": SymmetricTrees(max_depth=2, random_state=0)}
    ((_, at_once),) = run(pool, X, y).finalists
    assert np.isfinite(at_once).all()
    assert len(at_once) == 120


def test_trees_stop_where_more_are_not_worth_it():
    """48 trees win where there is nothing to learn, and no member grows more than the next 100."""
    X, _ = noisy_line(200)
    y = np.random.default_rng(1).normal(size=200)
    draws = Folds.draw(200, 5, 1, np.random.RandomState(0))
    runner = Runner("trees", SymmetricTrees(max_depth=6, random_state=0), Rows(X, y), [0.9], 1)
    runner.judge(draws, 0, 5, is_last=True)
    judged = runner.judged()
    assert judged.standing.name == "trees with 48 trees"
    assert judged.standing.model.n_trees == 48
    assert list(runner._stages) == [48, 100]


def test_a_candidate_that_fails_is_left_out_by_name():
    X, y = noisy_line(120)
    with pytest.warns(UserWarning, match="'broken' is left out: these rows are beyond me"):
        finalists, _ = run({"broken": Broken(), "line": LinearRegression()}, X, y)
    assert [each.standing.name for each in finalists] == ["line"]
    with pytest.warns(
        UserWarning, match="'nonsense' is left out: Nonsense predicts NaN or infinity"
    ):
        finalists, _ = run({"nonsense": Nonsense(), "line": LinearRegression()}, X, y)
    assert [each.standing.name for each in finalists] == ["line"]
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(
            ValueError, match=r"No center could be fitted \(The center 'broken': these rows"
        ),
    ):
        run({"broken": Broken()}, X, y)


def test_a_smooth_model_may_win_without_trees():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = 3 * X[:, 0] + rng.normal(size=200)
    pool = {"GAM": TreesOnSmooth(ExpectileGAM(), SymmetricTrees(max_depth=6, random_state=0))}
    ((standing, _),) = run(pool, X, y).finalists
    assert standing.name == "GAM"
    assert isinstance(standing.model, ExpectileGAM)


def test_a_surface_is_coarse_until_it_has_come_through():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=150)
    surface = TreesOnSmooth(KernelRidge(n_landmarks=60), SymmetricTrees(max_depth=2))
    surface.set_params(smooth__random_state=0, trees__random_state=0)
    ((_, in_rounds),) = run({"surface": surface}, X, y, [Round(2, 3), Round(5, 3)]).finalists
    ((_, at_once),) = run({"surface": surface}, X, y).finalists
    np.testing.assert_allclose(in_rounds, at_once)
    draws = Folds.draw(150, 5, 1, np.random.RandomState(0))
    runner = Runner("surface", surface, Rows(X, y), [0.9], 1)
    runner.judge(draws, 0, 2, is_last=False)
    assert not np.allclose(runner.judged().predicted, at_once[: len(runner.judged().predicted)])
