"""Versions of the data: the rows and targets after a preprocessing."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from clearbands import PCSEnsemble, TableEncoder
from tests.toys import noisy_line
from tests.uncertainty.root import Root


def test_preprocessings_are_versions_of_the_data():
    """The curve is a line only in the squares, so the version with squares wins."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = X[:, 0] ** 2 + 0.01 * rng.normal(size=200)
    fitted = PCSEnsemble(
        [LinearRegression()],
        {"as it is": FunctionTransformer(), "squares": PolynomialFeatures(2)},
        n_bootstraps=5,
        random_state=0,
    ).fit(X, y)
    assert fitted.leaderboard_[0]["preprocessing"] == "squares"
    assert fitted.leaderboard_[0]["model"] == "LinearRegression"
    np.testing.assert_allclose(fitted.predict(X), X[:, 0] ** 2, atol=0.02)


def test_a_preprocessing_may_choose_the_scale_of_the_target():
    """The square root of y is a line, so the fit on that scale is exact, also for the members."""
    X = np.linspace(0, 1, 50)[:, None]
    y = (1 + X[:, 0]) ** 2
    versions = {"as it is": FunctionTransformer(), "root": Root()}
    fitted = PCSEnsemble([LinearRegression()], versions, n_bootstraps=20, random_state=0).fit(X, y)
    assert fitted.leaderboard_[0]["preprocessing"] == "root"
    assert fitted.leaderboard_[0]["rmse"] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(fitted.predict_members(X), np.tile(y[:, None], 20))
    np.testing.assert_allclose(fitted.predict_out_of_bag(X), y)


def test_a_scale_that_the_target_does_not_have():
    X, y = noisy_line()
    with pytest.raises(ValueError, match="'Root' has no finite target for y = -"):
        PCSEnsemble([LinearRegression()], [Root()], n_bootstraps=2).fit(X, y)
    several = PCSEnsemble([LinearRegression()], [FunctionTransformer(), Root()], n_bootstraps=2)
    with pytest.warns(UserWarning, match="The preprocessing 'Root' is left out: .* no finite"):
        several.fit(X, y)
    assert [entry["preprocessing"] for entry in several.leaderboard_] == ["FunctionTransformer"]


def test_predictions_that_have_no_value_on_the_scale_of_the_target():
    class Square(Root):
        def transform_target(self, y):
            return y**2

        def inverse_transform_target(self, predictions):
            with np.errstate(invalid="ignore"):
                return np.sqrt(predictions)

    X, y = noisy_line(80)
    versions = {"square": Square(), "as it is": FunctionTransformer()}
    fitted = PCSEnsemble([LinearRegression()], versions, n_bootstraps=2, random_state=0)
    with pytest.warns(UserWarning, match="'LinearRegression' on 'square' is left out: it predicts"):
        fitted.fit(X, y - 3)
    assert [entry["preprocessing"] for entry in fitted.leaderboard_] == ["as it is"]


def test_preprocessings_see_frames():
    X = pl.DataFrame({"town": ["a", "b", None] * 20, "size": [1.0, None, 3.0] * 20})
    y = np.arange(60.0) % 3
    fitted = PCSEnsemble([LinearRegression()], [TableEncoder()], n_bootstraps=3, random_state=0)
    np.testing.assert_allclose(fitted.fit(X, y).predict(X), y, atol=1e-6)
