"""The simulated worlds against the paper's formulas and against drawn targets."""

import numpy as np
import pytest
from scipy import stats

from clearbands import metrics
from experiments.simulation_data import (
    NOISES,
    RADII,
    World,
    from_wider_normal,
    on_sphere,
)


def test_mean_is_the_papers():
    world = World("homo", np.array([2.0, 3.0, 0.5]))
    X = np.array([[4.0, 16.0, -9.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 1.0]])
    by_hand = [5 + 2 * 8 - 3 * 32 + 0.5 * 27, 5, 5 + 2 - 3 + 0.5]  # 4^1.5, 16^1.25, 9^1.5
    np.testing.assert_allclose(world.mean(X), by_hand)


@pytest.mark.parametrize(
    ("noise", "at_zero", "at_minus_two"), [("homo", 1, 1), ("hetero1", 1, 3), ("hetero2", 2, 1.2)]
)
def test_sigma_is_the_papers(noise, at_zero, at_minus_two):
    world = World(noise, np.ones(1))
    np.testing.assert_allclose(world.sigma(np.array([[0.0], [-2.0]])), [at_zero, at_minus_two])


def test_sigma_in_several_dimensions_depends_on_the_distance():
    world = World("hetero1", np.ones(2))
    np.testing.assert_allclose(world.sigma(np.array([[3.0, -4.0]])), [6])


def test_coefficients_have_the_papers_law():
    beta = World.draw("homo", 2000, np.random.default_rng(0)).beta
    assert stats.kstest(beta, stats.norm(1, 0.5).cdf).pvalue > 0.01


@pytest.mark.parametrize("noise", NOISES)
def test_samples_follow_mean_and_sigma(noise):
    rng = np.random.default_rng(1)
    world = World.draw(noise, 2, rng)
    X, y = world.sample(4000, rng)
    assert stats.kstest(X.ravel(), stats.norm.cdf).pvalue > 0.01
    assert stats.kstest((y - world.mean(X)) / world.sigma(X), stats.norm.cdf).pvalue > 0.01


def test_worlds_of_one_seed_share_their_draws():
    """Shared draws let the three noises be compared in pairs."""
    standardised = []
    for noise in NOISES:
        rng = np.random.default_rng(5)
        world = World.draw(noise, 2, rng)
        X, y = world.sample(10, rng)
        standardised.append(np.column_stack([X, (y - world.mean(X)) / world.sigma(X)]))
    np.testing.assert_allclose(standardised[1], standardised[0])
    np.testing.assert_allclose(standardised[2], standardised[0])


@pytest.mark.parametrize("noise", NOISES)
def test_true_quantiles_cover_what_they_should(noise):
    world = World(noise, np.array([1.0, 2.0]))
    X = np.random.default_rng(2).normal(size=(50, 2))
    reach = stats.norm.ppf(0.95) * world.sigma(X)
    intervals = np.stack([world.mean(X) - reach, world.mean(X) + reach], axis=1)
    np.testing.assert_allclose(world.coverage(X, intervals), 0.9)
    one_sided = np.stack([np.full(50, -np.inf), world.mean(X) + reach], axis=1)
    np.testing.assert_allclose(world.coverage(X, one_sided), 0.95)


def test_expected_loss_is_the_mean_loss_of_evenly_spread_targets():
    world = World("hetero1", np.array([1.5]))
    X, interval = np.array([[1.2]]), np.array([[3.0, 9.0]])
    steps = (np.arange(200_000) + 0.5) / 200_000
    y = stats.norm(world.mean(X)[0], world.sigma(X)[0]).ppf(steps)
    drawn = metrics.quantile_loss(y, np.tile(interval, (len(y), 1)), 0.9)
    np.testing.assert_allclose(world.quantile_loss(X, interval, 0.1), [drawn], rtol=1e-5)
    covered = metrics.picp(y, np.tile(interval, (len(y), 1)))
    np.testing.assert_allclose(world.coverage(X, interval), [covered], atol=1e-5)


def test_radii_are_the_papers():
    np.testing.assert_allclose(RADII, 0.01 + 0.25 * np.arange(25))


def test_points_are_uniform_on_the_sphere():
    points = on_sphere(2.5, 3, np.random.default_rng(3))
    assert points.shape == (1000, 3)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 2.5)
    # In three dimensions every coordinate of a uniform point is uniform (Archimedes).
    assert stats.kstest(points[:, 0], stats.uniform(-2.5, 5).cdf).pvalue > 0.01


def test_sphere_of_one_dimension_is_two_points():
    assert on_sphere(1.5, 1, np.random.default_rng(0)).tolist() == [[-1.5], [1.5]]


def test_wider_points_have_the_scale_asked_for():
    points = from_wider_normal(3.0, 4, np.random.default_rng(4))
    assert points.shape == (500, 4)
    assert stats.kstest(points.ravel(), stats.norm(0, 3).cdf).pvalue > 0.01
