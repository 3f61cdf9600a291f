"""The protocol of models: an error names the model that takes no weights."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands import (
    FoldedEnsemble,
)
from clearbands.models.protocol import fit_weighted
from tests.toys import linear_clear, noisy_line


def test_a_model_that_takes_no_weights_is_named():
    X, y = noisy_line()
    model = make_pipeline(StandardScaler(), KNeighborsRegressor())
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        fit_weighted(model, X, y, np.ones(240))
    given = linear_clear(epistemic=FoldedEnsemble(model), calibration="cross")
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        given.fit(X, y, sample_weight=np.ones(240))
