"""Members of a noise model that learn from rows as their fold may see them."""

import numpy as np
from sklearn.linear_model import LinearRegression

from clearbands import ScaledResiduals
from clearbands.rows.draws import Folds
from clearbands.uncertainty.aleatoric import NestedRows, fit_members
from tests.toys import noisy_line


def test_each_member_learns_its_own_view_of_the_rows_that_it_may_see():
    X, residual = noisy_line(60)
    folds = Folds.draw(60, 3, 1, np.random.RandomState(0))
    weight = np.arange(1.0, 61.0)

    def see(fold):
        """Return residuals that differ from fold to fold, with wild ones for rows left out."""
        return X, np.where(folds.counts[fold] > 0, residual + fold, 1e6)

    labels = {
        "weight": weight,
        "groups": None,
        "nested": NestedRows(folds, see).with_residuals(np.square),
    }
    rng = np.random.RandomState(0)
    part, model = ScaledResiduals(), LinearRegression()
    draws, bag = fit_members(part, model, X, residual**2, rng, **labels)
    assert draws is folds
    expected = [
        LinearRegression()
        .fit(X, see(fold)[1] ** 2, sample_weight=weight * folds.counts[fold])
        .predict(X)
        for fold in range(3)
    ]
    members = bag.predict_members(X)
    assert members.shape == (60, 1, 3)
    np.testing.assert_allclose(members[:, 0], np.transpose(expected))
