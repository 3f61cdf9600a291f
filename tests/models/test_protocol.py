"""The protocol of models: an error names the model that takes no weights."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands import (
    BoostedQuantiles,
    FoldedEnsemble,
    ForestQuantiles,
    SymmetricTrees,
)
from clearbands.models.protocol import fit_weighted
from tests.toys import linear_clear, noisy_line

KERNELS = {
    "squared": SymmetricTrees(n_trees=12, max_depth=4, random_state=0),
    "absolute": SymmetricTrees("absolute", n_trees=12, max_depth=4, random_state=0),
    "boosting": BoostedQuantiles(n_trees=8, max_depth=4, min_child_weight=3),
    "forest": ForestQuantiles(n_trees=4, min_samples_leaf=3, random_state=0),
}
KERNEL = pytest.mark.parametrize("model", KERNELS.values(), ids=KERNELS)


def test_a_model_that_takes_no_weights_is_named():
    X, y = noisy_line()
    model = make_pipeline(StandardScaler(), KNeighborsRegressor())
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        fit_weighted(model, X, y, np.ones(240))
    given = linear_clear(epistemic=FoldedEnsemble(model), calibration="cross")
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        given.fit(X, y, sample_weight=np.ones(240))
