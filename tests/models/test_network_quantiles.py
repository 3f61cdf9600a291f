"""The quantiles of networks in a bag."""

import numpy as np

from clearbands import NetworkQuantiles, PCSEnsemble
from tests.deep import TINY, need_torch
from tests.toys import noisy_line

need_torch()


def test_networks_in_a_pool_of_models():
    """Bootstraps of a network are one batched model; rows left out decide when members stop."""
    X, y = noisy_line(150)
    pool = {"network": NetworkQuantiles(**TINY)}
    fitted = PCSEnsemble(pool, n_bootstraps=4, random_state=0).fit(X, y)
    assert fitted.predict_members(X).shape == (150, 4)
    again = PCSEnsemble(pool, n_bootstraps=4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), again.predict(X))
