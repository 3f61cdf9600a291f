import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import GaussianNetwork
from tests.deep import TINY, need_torch
from tests.toys import OTHER_DRAWS, noisy_line

need_torch()


@pytest.mark.slow
def test_it_learns_how_strong_the_noise_is():
    """The noise of `noisy_line` is 0.2 for a negative second column, 0.6 for a positive one."""
    X, y = noisy_line(800)
    fitted = GaussianNetwork(2, **TINY | {"max_epochs": 60}, learning_rate=0.01, random_state=0)
    fitted.set_params(confidence_level=[0.9, 0.5]).fit(X, y - 3 * X[:, 0])
    deviation = fitted.predict_deviation(np.array([[0.0, -0.6], [0.0, 0.6]]))
    np.testing.assert_allclose(deviation, [0.2, 0.6], rtol=0.3)
    widths = fitted.predict_widths(X)
    assert widths.shape == (800, 2, 2)
    np.testing.assert_allclose(widths[:, 0, 0], 1.6448536 * fitted.predict_deviation(X))
    np.testing.assert_allclose(widths[:, 1, 1], 0.6744898 * fitted.predict_deviation(X))


def test_no_noise_has_no_width():
    X, _ = noisy_line(40)
    fitted = GaussianNetwork(1, **TINY, random_state=0).fit(X, np.zeros(40))
    np.testing.assert_array_equal(fitted.predict_widths(X), 0)


def test_before_fitting():
    with pytest.raises(NotFittedError):
        GaussianNetwork().predict_widths(noisy_line(5)[0])


@parametrize_with_checks(
    [GaussianNetwork(1, (8,), max_epochs=5)],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_fit_score_takes_y": "what it takes are residuals, and so they are called",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)
