import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.bagging import predict_unseen
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.mixture import Mixture
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.draws import Folds
from tests.models.line_with_a_step import FEW, line_with_a_step


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


@parametrize_with_checks([TreesOnSmooth(trees=FEW), Mixture([FEW], [1.0])])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
