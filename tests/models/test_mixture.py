"""Weighted means of models."""

import numpy as np
import pytest

from clearbands.models.bagging import predict_unseen
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.mixture import Mixture
from clearbands.rows.draws import Draws, Folds
from tests.models.line_with_a_step import FEW, line_with_a_step


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
