import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearbands
from clearbands import ClearRegressor, GaussianProcess, LinearQuantiles, ResidualQuantiles
from tests.toys import OTHER_DRAWS, noisy_line


def wave(n=150, noise=0.3):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 1))
    return X, 10 + 5 * np.sin(2 * X[:, 0]) + noise * rng.normal(size=n)


@pytest.mark.slow
def test_the_widths_are_those_of_the_function_and_not_of_its_noise():
    X, y = wave()
    fitted = GaussianProcess(confidence_level=0.95).fit(X, y)
    center, widths = fitted.predict_with_widths(np.array([[0.0], [1.0], [8.0]]))
    np.testing.assert_allclose(center[:2], [10, 10 + 5 * np.sin(2)], atol=0.3)
    assert fitted.noise_ == pytest.approx(0.3, abs=0.06)
    assert widths[:2].max() < 0.3  # with the noise they would be at least 1.96 * 0.3
    assert widths[2].min() > 2
    np.testing.assert_array_equal(widths[:, 0], widths[:, 1])


def test_the_posterior_is_that_of_a_process_with_known_noise():
    """With the noise as `alpha`, not in the kernel, the deviation is that of the function."""
    X, y = wave(40)
    fitted = GaussianProcess(RBF(1.0)).fit(X, y)
    signal, noise = fitted.process_.kernel_.k1, fitted.process_.kernel_.k2.noise_level
    rows, target = fitted.inputs_.apply(X), fitted.target_.apply(y)
    known = GaussianProcessRegressor(signal, alpha=noise + 1e-8, optimizer=None).fit(rows, target)
    new = np.linspace(-3, 3, 7)[:, None]
    mean, deviation = known.predict(fitted.inputs_.apply(new), return_std=True)
    center, widths = fitted.predict_with_widths(new)
    np.testing.assert_allclose(center, fitted.target_.undo(mean), rtol=1e-6)
    expected = 1.6448536 * deviation * y.std()
    np.testing.assert_allclose(widths[:, 0, 0], expected, rtol=1e-4, atol=1e-6)


def test_only_some_rows_are_used():
    X, y = wave(300)
    one, two = (GaussianProcess(max_rows=50, random_state=3).fit(X, y) for _ in range(2))
    assert len(one.process_.X_train_) == 50
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_clear_around_a_process(tmp_path):
    X, y = noisy_line(150)
    aleatoric = ResidualQuantiles(LinearQuantiles(), n_bootstraps=25)  # every row is left out
    model = ClearRegressor(GaussianProcess(max_rows=60), aleatoric, random_state=0).fit(X, y)
    expected = model.predict_interval(X)[1]
    clearbands.save(model, tmp_path / "gp.clear")
    again = clearbands.load(tmp_path / "gp.clear")
    np.testing.assert_array_equal(again.predict_interval(X)[1], expected)


def test_a_constant_target():
    X, _ = noisy_line(30)
    center, widths = GaussianProcess().fit(X, np.full(30, 2.5)).predict_with_widths(X)
    np.testing.assert_array_equal(center, 2.5)
    np.testing.assert_array_equal(widths, 0)


@parametrize_with_checks(
    [GaussianProcess(RBF(), max_rows=25)],
    expected_failed_checks=lambda _: OTHER_DRAWS,
)
def test_estimator_checks(estimator, check):
    check(estimator)
