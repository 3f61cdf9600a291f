import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import (
    BoostedQuantiles,
    ExpectileGAM,
    ForestQuantiles,
    LinearQuantiles,
    ResidualQuantiles,
    TableEncoder,
)
from clearbands.models.quantile_model import QuantileModel
from tests.toys import OTHER_DRAWS, noisy_line


class GivenBag:
    def __init__(self, members):
        self.members = members

    def predict_members(self, X):
        return np.repeat(self.members[None], len(X), axis=0)


class GivenQuantiles(QuantileModel):
    """A quantile model with known members, whatever the data."""

    def __init__(self, quantiles=(0.5,), members=None):
        self.quantiles = quantiles
        self.members = members

    def fit_bag(self, X, y, counts, *, n_jobs=None, stage="fit"):
        return GivenBag(np.asarray(self.members, float))


def test_the_width_is_the_median_of_positive_parts():
    """The members are columns, and the lower, middle and upper quantiles are rows; one crosses."""
    members = [[-1.0, -2.0, 5.0], [0.0, 0.0, 4.0], [2.0, 3.0, 10.0]]
    X = np.zeros((4, 1))
    fitted = ResidualQuantiles(GivenQuantiles(members=members), n_bootstraps=3).fit(X, np.zeros(4))
    # widths below are 1, 2, and 0 for 4 - 5; widths above are 2, 3 and 6
    np.testing.assert_array_equal(fitted.predict_widths(X)[0, :, 0], [1.0, 3.0])


def test_a_preprocessing_turns_a_table_into_numbers():
    X, y = noisy_line(100)
    table = pd.DataFrame({"town": np.where(X[:, 1] > 0, "loud", "quiet"), "size": X[:, 0]})
    numbers = TableEncoder().fit_transform(table)
    part = ResidualQuantiles(LinearQuantiles(), n_bootstraps=3, random_state=0)
    given = clone(part).fit(numbers, y).predict_widths(numbers)
    made = part.set_params(preprocessing=TableEncoder()).fit(table, y).predict_widths(table)
    np.testing.assert_array_equal(made, given)


@pytest.mark.parametrize(
    "model",
    [LinearQuantiles(), BoostedQuantiles(n_trees=30), ForestQuantiles(n_trees=20), ExpectileGAM()],
)
def test_widths_follow_the_noise(model):
    """The noise of noisy_line is three times as strong if the second column is positive."""
    X, y = noisy_line(1500)
    fitted = ResidualQuantiles(model, n_bootstraps=5, random_state=0).fit(X, y - 3 * X[:, 0])
    widths = fitted.predict_widths(X)
    assert widths.shape == (1500, 2, 1)
    assert (widths >= 0).all()
    loud, quiet = widths[X[:, 1] > 0.2].mean(), widths[X[:, 1] < -0.2].mean()
    assert loud > 1.5 * quiet


def test_several_levels_share_one_bag():
    X, y = noisy_line()
    fitted = ResidualQuantiles(
        BoostedQuantiles(n_trees=5), n_bootstraps=3, confidence_level=[0.9, 0.5], random_state=0
    ).fit(X, y)
    assert fitted.quantiles_ == [0.05, 0.25, 0.5, 0.75, 0.95]
    alone = ResidualQuantiles(
        BoostedQuantiles(n_trees=5), n_bootstraps=3, confidence_level=0.5, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(
        fitted.predict_widths(X)[:, :, 1], alone.predict_widths(X)[:, :, 0]
    )


def test_jobs_and_repetition_change_nothing():
    X, y = noisy_line()

    def widths(**options):
        return ResidualQuantiles(n_bootstraps=4, **options).fit(X, y).predict_widths(X)

    once = widths(n_jobs=1, random_state=1)
    np.testing.assert_array_equal(widths(n_jobs=1, random_state=1), once)
    np.testing.assert_array_equal(widths(n_jobs=2, random_state=1), once)
    assert (widths(n_jobs=1, random_state=2) != once).any()  # the seed decides


def test_bad_input():
    X, y = noisy_line()
    with pytest.raises(ValueError, match="n_bootstraps must be"):
        ResidualQuantiles(n_bootstraps=0).fit(X, y)
    with pytest.raises(TypeError, match="LinearRegression has no parameter `quantiles`"):
        ResidualQuantiles(LinearRegression()).fit(X, y)
    with pytest.raises(NotFittedError):
        ResidualQuantiles().predict_widths(X)
    with pytest.raises(ValueError, match="NaN"):
        ResidualQuantiles().fit(X, np.full(len(y), np.nan))


@parametrize_with_checks(
    [ResidualQuantiles(LinearQuantiles(), n_bootstraps=2)],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_fit_score_takes_y": "what it takes are residuals, and so they are called",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)
