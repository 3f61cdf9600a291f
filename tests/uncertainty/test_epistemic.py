"""Centers and widths of members, over all of them and over those that did not see a row."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import PCSEnsemble
from tests.toys import noisy_line


def test_center_and_widths_are_quantiles_of_the_members():
    X, y = noisy_line()
    fitted = PCSEnsemble([LinearRegression()], n_bootstraps=40, random_state=0).fit(X, y)
    members = np.stack(
        [
            LinearRegression().fit(X, y, sample_weight=counts).predict(X)
            for counts in fitted.draws_.counts
        ]
    )
    center, widths = fitted.predict_with_widths(X)
    low, middle, high = np.quantile(members, [0.05, 0.5, 0.95], axis=0)
    np.testing.assert_allclose(center, middle)
    np.testing.assert_allclose(widths[:, :, 0], np.stack([middle - low, high - middle], axis=1))
    np.testing.assert_array_equal(fitted.predict(X), center)


def test_out_of_bag_center_uses_only_members_that_did_not_see_the_row():
    X, y = noisy_line(40)
    fitted = PCSEnsemble([LinearRegression()], n_bootstraps=30, random_state=0).fit(X, y)
    members, drawn = fitted.predict_members(X), fitted.draws_.counts.T > 0
    expected = [np.median(row[~seen]) for row, seen in zip(members, drawn, strict=True)]
    np.testing.assert_allclose(fitted.predict_out_of_bag(X), expected)
    np.testing.assert_array_equal(fitted.predict_training(X)[0], fitted.predict(X))


def test_rows_that_every_member_saw_have_no_out_of_bag_center():
    X, y = noisy_line(40)
    fitted = PCSEnsemble([LinearRegression()], n_bootstraps=1, random_state=0).fit(X, y)
    seen = fitted.draws_.counts[0] > 0
    np.testing.assert_array_equal(np.isnan(fitted.predict_out_of_bag(X)), seen)


def test_out_of_bag_wants_the_rows_of_fit():
    X, y = noisy_line(40)
    fitted = PCSEnsemble([LinearRegression()], n_bootstraps=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="the 40 rows given to fit, in their order; got 39 rows"):
        fitted.predict_out_of_bag(X[:-1])
