"""Events with a chance of 1, 5, 95 or 99 % happen as often."""

import numpy as np
import pytest
from scipy import stats

from tests.toys import linear_clear

FITS, CALIBRATION_ROWS, NEW_ROWS = 8, 1000, 4000
SHARES = np.array([0.01, 0.05, 0.95, 0.99])
NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(3, n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1.2, n),
    "lognormal downwards": lambda rng, n: -rng.lognormal(0, 1, n),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISES)
def test_chances_come_true(name):
    came = np.mean([how_often(NOISES[name], seed) for seed in range(FITS)], axis=0)
    # In one fit the share varies as in a draw of so many rows; the bound is five errors.
    chance = 5 * np.sqrt(SHARES * (1 - SHARES) / CALIBRATION_ROWS / FITS)
    np.testing.assert_array_less(np.abs(came - SHARES), chance)


def how_often(noise, seed):
    """Return the shares of new rows below the values that the distributions give for the shares."""
    rng = np.random.default_rng(seed)

    def rows(n):
        X = rng.normal(size=(n, 2))
        return X, X[:, 0] + noise(rng, n)

    (X, y), (X_cal, y_cal), (X_new, y_new) = map(rows, (1000, CALIBRATION_ROWS, NEW_ROWS))
    model = linear_clear(confidence_level=0.9).fit(X, y, X_cal=X_cal, y_cal=y_cal)
    thresholds = model.predict_distribution(X_new).ppf(SHARES).T
    for share, threshold in zip(SHARES, thresholds, strict=True):
        said = model.predict_probability(X_new, below=threshold)
        np.testing.assert_allclose(said, share, atol=1e-6)
    return [np.mean(y_new < threshold) for threshold in thresholds]


@pytest.mark.parametrize("name", NOISES)
def test_rows_that_calibrate_lie_so_evenly_that_isotonic_regression_would_fit_chance(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + NOISES[name](rng, 400)
    model = linear_clear(confidence_level=0.9).fit(X[:201], y[:201], X_cal=X[201:], y_cal=y[201:])
    places = model.predict_distribution(X[201:]).cdf(y[201:])
    even = np.arange(1, 200) / 200
    assert np.abs(np.sort(places) - even).max() < stats.kstwo(199).ppf(0.5)
