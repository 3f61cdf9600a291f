"""Presets of the regressor: each has the parts it names, and every parameter can be changed."""

import pytest

from clearbands import ClearRegressor
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.presets import BOOTSTRAPS, PRESETS
from clearbands.selection.model_search import THOROUGH, ModelSearch

pytest.importorskip("xgboost", reason="the extra `boost` is not installed")

OF_THE_PAPER = ("a", "b", "c", "deep")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_preset_takes_the_parameters_of_the_regressor(name):
    model = PRESETS[name](confidence_level=[0.5, 0.8], n_jobs=2, gap=3)
    assert isinstance(model, ClearRegressor)
    assert (model.confidence_level, model.n_jobs, model.gap) == ([0.5, 0.8], 2, 3)


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_variants_are_calibrated_as_in_the_paper_unless_told_otherwise(name):
    assert PRESETS[name]().calibration == "joint"
    assert PRESETS[name](calibration="conformal").calibration == "conformal"
    assert PRESETS[name]().calibrator is None  # lambda is the one of the smallest loss


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_variants_have_as_many_bootstraps_as_the_paper(name):
    model = PRESETS[name]()
    assert model.epistemic.n_bootstraps == model.aleatoric.n_bootstraps == BOOTSTRAPS == 100


def test_stock_libraries_replace_the_kernels():
    stock = PRESETS["c"](stock=True).aleatoric.model
    assert isinstance(stock, ForestQuantiles)
    assert stock.backend == "quantile-forest"
    assert PRESETS["c"]().aleatoric.model.backend == "native"
    assert PRESETS["b"](stock=True).epistemic.models["boosting"].backend != "native"


def test_only_the_default_and_the_thorough_one_let_models_compete():
    assert PRESETS["default"]().search is None
    assert PRESETS["thorough"]().search == THOROUGH != ModelSearch()
    for name in ("fast", *OF_THE_PAPER):
        model = PRESETS[name]()
        assert model.epistemic is not None
        assert model.aleatoric is not None


def test_an_unknown_parameter_is_refused():
    with pytest.raises(TypeError, match="alpha"):
        PRESETS["fast"](alpha=0.1)


def test_presets_share_no_parts():
    one, other = PRESETS["fast"](), PRESETS["fast"]()
    assert one.epistemic is not other.epistemic
