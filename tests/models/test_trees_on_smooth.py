import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.bagging import Draws, Folds, predict_unseen
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.mixture import Mixture
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth

FEW = SymmetricTrees(n_trees=12, max_depth=2, random_state=0)


def line_with_a_step(n=120):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (n, 2))
    return X, 5 * X[:, 0] + (X[:, 1] > 0.5) + rng.normal(0, 0.05, n)


@pytest.mark.parametrize("smooth", [ExpectileGAM(), KernelRidge(random_state=0)])
def test_both_together_err_less_than_each(smooth):
    X, y = line_with_a_step()
    draws = Folds.draw(len(y), 5, 1, np.random.RandomState(0))
    both = TreesOnSmooth(smooth, FEW)

    def error(model):
        bag = model.fit_bag(X, y, draws.counts)
        return np.mean(np.abs(y - predict_unseen(bag, X, draws)[:, 0, 0]))

    assert error(both) < min(error(both.smooth_model()), error(FEW))


def test_members_are_sums_of_members():
    X, y = line_with_a_step()
    counts = Folds.draw(len(y), 4, 2, np.random.RandomState(0)).counts
    bag = TreesOnSmooth(trees=FEW).fit_bag(X, y, counts)
    members = bag.predict_members(X)
    np.testing.assert_allclose(members, sum(part.predict_members(X) for part in bag.bags))
    unseen = [members[i, 0, counts[:, i] == 0] for i in range(len(y))]
    np.testing.assert_allclose(bag.predict_unseen(X, counts), unseen, rtol=1e-6)


def test_a_mixture_is_the_weighted_mean_of_its_models():
    X, y = line_with_a_step()
    counts = Folds.draw(len(y), 3, 1, np.random.RandomState(0)).counts
    models = [FEW, KernelRidge(random_state=0)]
    bag = Mixture(models, [0.25, 0.75]).fit_bag(X, y, counts)
    one, other = (model.fit_bag(X, y, counts).predict_members(X) for model in models)
    np.testing.assert_allclose(bag.predict_members(X), 0.25 * one + 0.75 * other)
    unseen = predict_unseen(bag, X, Draws(counts))[:, 0, 0]
    assert np.mean(np.abs(y - unseen)) < 0.5


def test_a_mixture_needs_a_weight_for_every_model():
    with pytest.raises(ValueError, match="got 1 models and 2 weights"):
        Mixture([FEW], [0.5, 0.5]).fit(*line_with_a_step())


@parametrize_with_checks([TreesOnSmooth(trees=FEW), Mixture([FEW], [1.0])])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
