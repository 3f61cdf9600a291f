import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import NetworkQuantiles, SimultaneousQuantiles
from tests.deep import TINY, need_torch
from tests.toys import OTHER_DRAWS, noisy_line

need_torch()


def tiny(**parameters):
    return SimultaneousQuantiles(**{"n_members": 2, **TINY, "random_state": 0, **parameters})


@pytest.mark.slow
def test_widths_follow_the_noise():
    """The noise of noisy_line is three times as strong if the second column is positive."""
    X, y = noisy_line(600)
    fitted = tiny(max_epochs=60, learning_rate=0.01).fit(X, y - 3 * X[:, 0])
    widths = fitted.predict_widths(X)
    assert widths.shape == (600, 2, 1)
    assert widths[X[:, 1] > 0.2].mean() > 1.5 * widths[X[:, 1] < -0.2].mean()


def test_the_quantiles_are_those_of_the_target():
    """The target is standard normal; other levels are asked for beside those of the interval."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 1)), rng.normal(size=1500)
    fitted = tiny(
        quantiles=(0.25, 0.75),
        confidence_level=0.8,
        max_epochs=40,
        learning_rate=0.01,
        batch_size=128,
    ).fit(X, y)
    assert fitted.quantiles_ == [0.1, 0.25, 0.5, 0.75, 0.9]
    found = fitted.predict_quantiles(X).mean(axis=0)
    np.testing.assert_allclose(found, [-1.28, -0.67, 0, 0.67, 1.28], atol=0.2)


def test_with_skip_connections_a_line_is_learned_at_once():
    """The output sees the input, so that it needs no hidden layer."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X @ [3.0, -2.0, 1.0]

    def error(skip):
        fitted = tiny(skip=skip, max_epochs=30, learning_rate=0.01).fit(X, y)
        return np.abs(fitted.predict_quantiles(X)[:, 1] - y).mean()

    assert error(True) < 0.5 * error(False)


def test_quantiles_never_cross_even_untrained():
    X, y = noisy_line(60)
    fitted = tiny(max_epochs=1, crossing_penalty=0.0, confidence_level=[0.9, 0.5]).fit(X, y)
    assert (np.diff(fitted.predict_quantiles(X), axis=1) >= 0).all()
    widths = fitted.predict_widths(X)
    assert widths.shape == (60, 2, 2)
    assert (widths[:, :, 0] >= widths[:, :, 1]).all()
    assert (widths >= 0).all()


def test_the_average_over_seeds_is_one_of_single_networks():
    X, y = noisy_line(60)
    fitted = tiny().fit(X, y)
    members = fitted.networks_.predict_members(X)
    assert members.shape == (60, 3, 2)
    np.testing.assert_allclose(fitted.predict_quantiles(X), np.sort(members, axis=1).mean(axis=2))


def test_bad_input():
    X, y = noisy_line(40)
    with pytest.raises(ValueError, match="n_members must be"):
        tiny(n_members=0).fit(X, y)
    with pytest.raises(ValueError, match="quantiles must rise"):
        tiny(quantiles=(0.9, 0.1)).fit(X, y)
    with pytest.raises(ValueError, match="stopping_size must lie strictly between 0 and 1"):
        tiny(stopping_size=0).fit(X, y)
    with pytest.raises(NotFittedError):
        tiny().predict_widths(X)


@parametrize_with_checks(
    [
        SimultaneousQuantiles(1, (8,), max_epochs=5),
        NetworkQuantiles(hidden=(16,), max_epochs=60, learning_rate=0.05, dropout=0.0),
    ],
    expected_failed_checks=lambda estimator: (
        {
            **OTHER_DRAWS,
            "check_fit_score_takes_y": "what it takes are residuals, and so they are called",
        }
        if isinstance(estimator, SimultaneousQuantiles)
        else OTHER_DRAWS
    ),
)
def test_estimator_checks(estimator, check):
    check(estimator)
