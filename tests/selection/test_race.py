import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from clearbands.models.gam import ExpectileGAM
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.draws import Folds
from clearbands.rows.split import Rows
from clearbands.selection.centers import constant_width_loss, judge_center, race_centers, stages_of
from tests.toys import noisy_line


class Broken(RegressorMixin, BaseEstimator):
    """A regressor that fails on any data."""

    def fit(self, X, y):
        raise ValueError("these rows are beyond me.")


class Nonsense(DummyRegressor):
    """A regressor that predicts NaN."""

    def predict(self, X):
        return np.full(len(X), np.nan)


def run(candidates, X, y, *, most=9, fewest=1, n_judges=5):
    draws = Folds.draw(len(y), 5, 1, np.random.RandomState(0)).members(slice(n_judges))
    return race_centers(candidates, Rows(X, y), draws, [0.9], n_jobs=1, most=most, fewest=fewest)


def test_errors_are_those_of_unseen_rows():
    X, y = noisy_line(120)
    draws = Folds.draw(120, 5, 1, np.random.RandomState(0))
    ((standing, predicted, _),) = run({"line": LinearRegression()}, X, y)[0]
    expected = np.empty(120)
    for seen in draws.counts.astype(bool):
        expected[~seen] = LinearRegression().fit(X[seen], y[seen]).predict(X[~seen])
    np.testing.assert_allclose(predicted, expected)
    assert standing.mae == pytest.approx(np.mean(np.abs(y - expected)))
    assert standing.rmse == pytest.approx(np.sqrt(np.mean((y - expected) ** 2)))
    assert standing.loss == pytest.approx(constant_width_loss(y - expected, [0.9], None))


class Shifted(LinearRegression):
    """A line with an error of a given size."""

    def __init__(self, by=0.0):
        super().__init__()
        self.by = by

    def predict(self, X):
        return super().predict(X) + self.by * np.sin(40 * X[:, 0])


def test_who_makes_the_mean_no_better_is_beaten():
    """Two of three candidates err in opposite directions, so that their mean does not err."""
    X, y = noisy_line(120)
    pool = {"best": Shifted(10.0), "alike": Shifted(11.0), "opposite": Shifted(-13.0)}
    finalists, beaten = run(pool, X, y)
    assert [each.score.name for each in finalists] == ["best", "opposite"]
    assert [each.score.name for each in beaten] == ["alike"]
    assert len(run(pool, X, y, fewest=3)[0]) == 3


def test_not_more_come_through_than_are_allowed():
    X, y = noisy_line(120)
    pool = {name: Shifted(by) for name, by in (("a", 10.0), ("b", -11.0), ("c", -12.0))}
    for most in (1, 2):
        finalists, beaten = run(pool, X, y, most=most)
        assert (len(finalists), len(beaten)) == (most, 3 - most)


def test_rows_that_all_members_saw_are_not_judged():
    X, y = noisy_line(120)
    ((_, predicted, *_),) = run({"line": LinearRegression()}, X, y, n_judges=2)[0]
    assert len(predicted) == 48  # the rows of two folds


def test_trees_stop_where_more_are_not_worth_it():
    """48 trees win if there is nothing to learn, and no member grows more than the next 100."""
    X, _ = noisy_line(200)
    y = np.random.default_rng(1).normal(size=200)
    draws = Folds.draw(200, 5, 1, np.random.RandomState(0))
    grown = []

    class Watched(SymmetricTrees):
        def start_bag(self, *rows, **options):
            growing = super().start_bag(*rows, **options)
            grow = growing.grow
            object.__setattr__(growing, "grow", lambda n, **o: (grown.append(n), grow(n, **o))[1])
            return growing

    model = Watched(max_depth=6, random_state=0)
    assert stages_of(model) == [48, 100, 200, 400]
    judged = judge_center("trees", model, Rows(X, y), draws, [0.9], n_jobs=1)
    assert judged.score.name == "trees with 48 trees"
    assert judged.score.model.n_trees == 48
    assert grown == [48, 100]


def test_a_candidate_that_fails_is_left_out_by_name():
    X, y = noisy_line(120)
    with pytest.warns(UserWarning, match="'broken' is left out: these rows are beyond me"):
        finalists, _ = run({"broken": Broken(), "line": LinearRegression()}, X, y)
    assert [each.score.name for each in finalists] == ["line"]
    with pytest.warns(
        UserWarning, match="'nonsense' is left out: Nonsense predicts NaN or infinity"
    ):
        finalists, _ = run({"nonsense": Nonsense(), "line": LinearRegression()}, X, y)
    assert [each.score.name for each in finalists] == ["line"]
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
    ((standing, *_),) = run(pool, X, y)[0]
    assert standing.name == "GAM"
    assert isinstance(standing.model, ExpectileGAM)
