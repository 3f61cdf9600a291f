"""The models fitted to a simulated world, and the methods that share them."""

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

from clearbands.calibration.conformal import rank
from experiments.fitted import Fitted
from experiments.simulation_fit import METHODS, Cell, fit_world, pool


@pytest.fixture(scope="module")
def model():
    return fit_world(Cell("hetero1", 1, 3), n_rows=600, n_bootstraps=3)


def test_gam_of_the_pool_is_least_squares_with_penalty_one():
    """Ten cubic splines and a unit penalty on squared second differences are one least squares."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 3, size=(200, 1))
    y = np.abs(X[:, 0]) ** 1.5 + rng.normal(size=200)
    knots = np.linspace(X.min(), X.max(), 8)[:, None]
    basis = SplineTransformer(degree=3, knots=knots, extrapolation="linear").fit(X)
    differences = np.diff(np.eye(10), n=2, axis=0)
    stacked = np.vstack([basis.transform(X), differences])
    coef = np.linalg.lstsq(stacked, np.concatenate([y, np.zeros(8)]), rcond=None)[0]
    X_new = np.linspace(-4, 5, 30)[:, None]
    found = pool()["gam"].set_params(quantiles=(0.5,)).fit(X, y).predict(X_new)
    np.testing.assert_allclose(found, basis.transform(X_new) @ coef, rtol=1e-5, atol=1e-5)


def test_fit_depends_on_the_seed_alone(model):
    again = fit_world(Cell("hetero1", 1, 3), n_rows=600, n_bootstraps=3)
    other = fit_world(Cell("hetero1", 1, 4), n_rows=600, n_bootstraps=3)
    for ours, theirs in zip(model.calibration, again.calibration, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (model.calibration.y != other.calibration.y).all()


def test_calibration_rows_are_the_last_three_tenths(model):
    assert len(model.calibration.y) == 180
    assert model.calibration.epistemic.shape == model.calibration.aleatoric.shape == (180, 2)


def test_mean_stands_for_targets_that_were_not_drawn(model):
    X = np.array([[0.5], [2.0]])
    np.testing.assert_array_equal(model.parts(X).y, model.world.mean(X))
    np.testing.assert_array_equal(model.parts(X, np.zeros(2)).y, [0, 0])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_covers_its_rank_of_the_calibration_rows(model, name):
    rows = model.calibration
    lower, upper = METHODS[name].intervals(rows, rows).T
    covered = np.sum((lower <= rows.y) & (rows.y <= upper))
    assert covered in (rank(180, 0.9), rank(180, 0.9) + 1)


def test_methods_are_what_their_names_say(model):
    """Made-up widths become constant, a multiple, longer by one distance, or a sum of multiples."""
    test = Fitted(
        np.zeros(3),
        np.zeros(3),
        np.array([[1.0, 1], [2, 2], [4, 4]]),
        np.array([[1.0, 1], [1, 1], [3, 3]]),
    )
    upper = {
        name: method.intervals(model.calibration, test)[:, 1] for name, method in METHODS.items()
    }
    np.testing.assert_allclose(upper["Naive"], upper["Naive"][0])
    np.testing.assert_allclose(upper["PCS"] / upper["PCS"][0], [1, 2, 4])
    np.testing.assert_allclose(upper["ALEATORIC-R"][2] - upper["ALEATORIC-R"][:2], [2, 2])
    gamma2 = upper["CLEAR"][1] - upper["CLEAR"][0]
    gamma1 = upper["CLEAR"][0] - gamma2
    assert upper["CLEAR"][2] == pytest.approx(3 * gamma1 + 4 * gamma2)
    assert gamma1 > 0
    assert gamma2 > 0
