"""Models that are fitted in bags: parameters are checked once, and each keeps its own."""

import pytest
from sklearn.linear_model import LinearRegression

from clearbands import (
    BoostedQuantiles,
    ExpectileGAM,
    FoldedEnsemble,
    KernelRidge,
    LinearQuantiles,
    ResidualQuantiles,
    ScaledResiduals,
    SymmetricTrees,
)
from clearbands.models.bagging import check_model
from clearbands.models.mixture import Mixture
from clearbands.models.random_trees import RandomTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.uncertainty.folded_bounds import FoldedBounds
from tests.toys import noisy_line


@pytest.mark.parametrize(
    "model",
    [
        SymmetricTrees(max_depth=50),
        RandomTrees(0),
        KernelRidge(n_landmarks=1),
        TreesOnSmooth(ExpectileGAM(smoothing=-1)),
        TreesOnSmooth(trees=SymmetricTrees(l2=-1)),
        Mixture([SymmetricTrees(max_bins=1)], [1.0]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_parameters_are_checked_once_by_whoever_fits_bags(model):
    """`fit_bag` itself trusts parameters, rows and weights."""
    X, y = noisy_line(40)
    words = "must be "
    for part in (model, FoldedEnsemble(model, 2, 1), ScaledResiduals(model, 2, 1)):
        with pytest.raises(ValueError, match=words):
            part.fit(X, y)
    with pytest.raises(ValueError, match=words):
        check_model(model)


def test_models_of_others_check_themselves():
    check_model(LinearRegression())


@pytest.mark.parametrize("model", [LinearQuantiles(alpha=-1), BoostedQuantiles(n_trees=0)])
def test_quantile_models_are_checked_once_too(model):
    X, y = noisy_line(40)
    for part in (model, FoldedBounds(model, 2, 1), ResidualQuantiles(model, 2)):
        with pytest.raises(ValueError, match="must be a"):
            part.fit(X, y)


def test_a_model_without_finer_or_coarser_forms_is_its_own():
    model = LinearQuantiles()
    assert model.finer(n_columns=3) is model
    assert model.coarser() is model
