"""Members of any model learn what categories are worth."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from clearbands import BoostedQuantiles, ExpectileGAM, ForestQuantiles, LinearQuantiles
from clearbands.models.bagging import fit_bag, predict_unseen
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.mixture import Mixture
from clearbands.models.random_trees import RandomTrees
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.draws import Folds
from tests.models.test_categories import streets

TREES = SymmetricTrees(n_trees=8, max_depth=3, random_state=0)
MODELS = {
    "trees": TREES,
    "random trees": RandomTrees(5, random_state=0),
    "GAM": ExpectileGAM(quantiles=(0.5,)),
    "trees on a surface": TreesOnSmooth(KernelRidge(n_landmarks=20, random_state=0), TREES),
    "mixture": Mixture([TREES, RandomTrees(5, random_state=1)], [0.5, 0.5]),
    "boosting": BoostedQuantiles(n_trees=5, max_depth=2, quantiles=(0.1, 0.9)),
    "forest": ForestQuantiles(n_trees=5, quantiles=(0.1, 0.9), random_state=0),
    "lines": LinearQuantiles(quantiles=(0.5,)),
    "a model of others": LinearRegression(),
}


def bag_of(model, X, y, draws, **options):
    return fit_bag(clone(model), X, y, draws, **({"n_jobs": 1, "stage": "test"} | options))


@pytest.mark.parametrize("name", MODELS)
def test_nothing_that_is_said_of_a_row_unseen_depends_on_its_target(name):
    X, y, _ = streets(120)
    draws = Folds.draw(len(y), 3, 1, np.random.RandomState(0))
    other = y.copy()
    other[11] += 500.0
    before, after = (
        predict_unseen(bag_of(MODELS[name], X, target, draws), X, draws) for target in (y, other)
    )
    # Smooth models measure y in a unit that depends on all rows: only rounding may differ.
    np.testing.assert_allclose(before[11], after[11], rtol=1e-7)
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("name", ["trees", "random trees", "GAM", "trees on a surface"])
def test_members_know_the_categories(name):
    X, y, _ = streets(600, noise=0.3)
    draws = Folds.draw(len(y), 3, 1, np.random.RandomState(0))
    model = clone(MODELS[name])
    if name != "GAM":
        model.set_params(**{k: 60 for k in model.get_params() if k.endswith("n_trees")})
    unseen = predict_unseen(bag_of(model, X, y, draws), X, draws)[:, 0, 0]
    assert np.sqrt(np.mean((y - unseen) ** 2)) < 0.4 * y.std()


def test_jobs_and_weights():
    X, y, _ = streets(120)
    draws = Folds.draw(len(y), 3, 1, np.random.RandomState(0))
    one, two = (bag_of(TREES, X, y, draws, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_members(X), two.predict_members(X))
    weight = np.ones(len(y))
    same = bag_of(TREES, X, y, draws, weight=weight)
    np.testing.assert_allclose(same.predict_members(X), one.predict_members(X))
    weight[:60] = 9.0
    assert not np.array_equal(
        bag_of(TREES, X, y, draws, weight=weight).predict_members(X), one.predict_members(X)
    )


def test_members_differ_and_can_be_asked_alone():
    X, y, _ = streets(120)
    draws = Folds.draw(len(y), 3, 1, np.random.RandomState(0))
    bag = bag_of(TREES, X, y, draws)
    together = bag.predict_members(X)
    for number in range(3):
        np.testing.assert_array_equal(
            bag.member(number).predict_members(X)[..., 0], together[..., number]
        )
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(bag)).predict_members(X), together)
    assert bag.first(4).parts[0].feature.shape[1] == 4


def test_directions_stay_with_their_columns():
    X, y, _ = streets(200)
    draws = Folds.draw(len(y), 2, 1, np.random.RandomState(0))
    falling = clone(TREES).set_params(monotone=(-1, 0))
    bag = bag_of(falling, X, y, draws)
    low, high = np.array(X), np.array(X)
    low[:, 0], high[:, 0] = 0.0, 1.0
    assert (bag.predict_members(low) >= bag.predict_members(high)).all()
