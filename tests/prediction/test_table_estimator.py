"""The base of estimators of tables: encoders that may or may not see targets, and row checks."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

from clearbands import CalibrationWarning, ClearRegressor
from clearbands.prediction.table_estimator import (
    check_encoder_sees_no_target,
    learns_from_target,
    make_encoder,
    was_fitted_elsewhere,
)
from clearbands.tables.categories import CategoryCodes
from clearbands.tables.encoder import TableEncoder
from tests.toys import linear_clear, noisy_line


@pytest.mark.parametrize("encoder", [None, "auto", StandardScaler(), make_pipeline(PCA())])
def test_encoders_of_rows_alone(encoder):
    assert not learns_from_target(encoder)
    check_encoder_sees_no_target(encoder)


@pytest.mark.parametrize("encoder", [TargetEncoder(), make_pipeline(PCA(), TargetEncoder())])
def test_encoders_that_learn_from_targets_wherever_they_stand(encoder):
    assert learns_from_target(encoder)
    with pytest.raises(ValueError, match="The encoder learns from y"):
        check_encoder_sees_no_target(encoder)


def test_what_the_parameter_stands_for():
    assert isinstance(make_encoder(None), FunctionTransformer)
    own = StandardScaler(with_mean=False)
    copied = make_encoder(own)
    assert copied is not own
    assert copied.get_params() == own.get_params()
    assert isinstance(make_encoder("auto"), TableEncoder)
    assert isinstance(make_encoder("auto", codes=True).categorical, CategoryCodes)
    assert make_encoder("auto").categorical is None


def test_models_from_elsewhere_are_warned_of_unless_there_is_a_set():
    class Part:
        fitted_elsewhere = True

    with pytest.warns(CalibrationWarning, match="The models of Part were fitted elsewhere"):
        assert was_fitted_elsewhere(Part(), has_calibration_set=False)
    assert not was_fitted_elsewhere(Part(), has_calibration_set=True)
    assert not was_fitted_elsewhere(None, has_calibration_set=False)


@pytest.mark.parametrize("options", [{"X_cal": np.ones((3, 1))}, {"y_cal": np.ones(3)}])
def test_half_a_calibration_set(options):
    X, y = noisy_line(40)
    with pytest.raises(ValueError, match="X_cal and y_cal belong together"):
        linear_clear().fit(X, y, **options)


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    X, y = noisy_line(80)
    weight = np.ones(80)
    weight[60:] = 0
    with_them = linear_clear(random_state=0).fit(X, y, sample_weight=weight)
    without = linear_clear(random_state=0).fit(X[:60], y[:60], sample_weight=weight[:60])
    for one, other in zip(with_them.predict_interval(X), without.predict_interval(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_unknown_encoder():
    with pytest.raises(ValueError, match='encoder must be "auto", a transformer or None'):
        ClearRegressor(encoder="dummies").fit([[1.0], [2.0]], [1.0, 2.0])


def test_gaps_are_allowed_where_something_encodes():
    assert ClearRegressor().__sklearn_tags__().input_tags.allow_nan
    assert not ClearRegressor(encoder=None).__sklearn_tags__().input_tags.allow_nan
