from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as PlainKernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.kernel_ridge import Basis, KernelRidge, Sums, Values
from clearbands.models.kernels import KERNELS, distances_between
from clearbands.rows.draws import Folds
from tests.models.wave_rows import waves


@pytest.mark.parametrize("name", KERNELS)
def test_with_all_rows_as_landmarks_members_are_kernel_ridge(name):
    X, y = waves(60)
    counts = Folds.draw(60, 5, 1, np.random.RandomState(0)).counts
    bag = KernelRidge(name, random_state=0).fit_bag(X, y, counts)
    for seen, said in zip(counts.astype(bool), bag.predict_members(X)[:, 0].T, strict=True):
        expected = []
        for surface in bag.surfaces:
            K = likeness(surface, X)
            peer = PlainKernelRidge(alpha=surface.ridge, kernel="precomputed")
            peer.fit(K[np.ix_(seen, seen)], y[seen] - bag.origin)
            expected.append(bag.origin + peer.predict(K[:, seen]))
        np.testing.assert_allclose(said, np.mean(expected, axis=0), atol=2e-3 * y.std())


def likeness(surface, X):
    landmarks = surface.landmarks
    distance = distances_between(*[landmarks.coordinates.apply(X)] * 2)
    return landmarks.kernel(distance / landmarks.scale)


def test_of_a_training_row_speaks_a_distance_that_did_not_learn_from_it():
    """A distance learned from all rows would help members to foretell noise they did not see."""
    X, y = waves(60)
    counts = Folds.draw(60, 5, 1, np.random.RandomState(0)).counts
    model = KernelRidge(random_state=0)
    plain = model.fit_bag(X, y, counts)
    for taught in (0, 1):
        own, other = plain.teaches[taught], y.copy()
        other[own] = np.roll(y[own], 1)  # this changes neither mean nor spread
        changed = model.fit_bag(X, other, counts)
        speaker = 1 - taught
        np.testing.assert_array_equal(plain.teaches, changed.teaches)
        kept, moved = (
            [bag.surfaces[i].landmarks.coordinates.turn for bag in (plain, changed)]
            for i in (speaker, 1 - speaker)
        )
        np.testing.assert_allclose(kept[0], kept[1], atol=1e-6)
        assert not np.allclose(moved[0], moved[1], atol=1e-6)


def test_of_rows_that_taught_no_distance_both_speak_as_of_new_ones():
    X, y = waves(60)
    counts = np.ones((1, 60), int)
    bag = KernelRidge(turn_rows=10, random_state=0).fit_bag(X, y, counts)
    untaught = ~bag.teaches.any(axis=0)
    assert np.count_nonzero(untaught) == 40
    assert not bag.teaches.all(axis=0).any()
    new, training = bag.predict_members(X), bag.predict_training(X)
    np.testing.assert_allclose(training[untaught], new[untaught])
    assert not np.allclose(training[~untaught], new[~untaught])


def basis_of(X, y):
    landmarks = KernelRidge(random_state=0).fit(X, y).bag_.surfaces[0].landmarks
    return Basis.around(landmarks.coordinates, X, landmarks.kernel, landmarks.scale)


def test_a_member_that_lacks_few_rows_has_the_sums_of_the_others():
    X, y = waves(80)
    basis = basis_of(X, y)
    sums = Sums.of(Values.of(basis, X), y, np.arange(80.0))
    counts = np.ones(80)
    counts[:7] = 0
    rest = Sums.of(Values.of(basis, X[7:]), y[7:], np.arange(7.0, 80.0))
    np.testing.assert_allclose(sums.drawn(counts)[0], rest.gram, atol=1e-6)
    np.testing.assert_allclose(sums.drawn(counts)[1], rest.moment, atol=1e-6)
    doubled = sums.drawn(2 * counts)  # these sums are taken row by row
    np.testing.assert_allclose(doubled[0], 2 * rest.gram, atol=1e-6)
    np.testing.assert_allclose(doubled[1], 2 * rest.moment, atol=1e-6)


def test_values_that_are_not_kept_are_found_again():
    X, y = waves(80)
    basis = basis_of(X, y)
    kept = Values.of(basis, X)
    again = replace(kept, held=None)
    np.testing.assert_array_equal(kept.at(np.arange(80)), again.at(np.arange(80)))


@pytest.mark.parametrize("by_rank", [False, True])
def test_whole_weights_are_repeated_rows_and_order_does_not_matter(by_rank):
    X, y = waves(40)
    counts = np.random.default_rng(1).integers(1, 4, 40)
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(40), counts))
    model = KernelRidge(by_rank=by_rank, random_state=0)
    weighted = model.fit_bag(X, y, counts[None]).predict_members(X)
    repeated = model.fit_bag(X[rows], y[rows], np.ones((1, len(rows)), int)).predict_members(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_units_of_columns_and_target_do_not_matter():
    X, y = waves()
    plain = KernelRidge(random_state=0).fit(X, y).predict(X)
    moved = KernelRidge(random_state=0).fit(8 * X + 3, 1e6 * y - 5).predict(8 * X + 3)
    np.testing.assert_allclose((moved + 5) / 1e6, plain, atol=1e-4)


def test_by_rank_a_rising_transformation_changes_nothing():
    X, y = waves()
    model = KernelRidge("matern", by_rank=True, random_state=0)
    np.testing.assert_allclose(
        model.fit(np.exp(5 * X), y).predict(np.exp(5 * X)), model.fit(X, y).predict(X), atol=1e-6
    )


def test_what_trees_get_is_what_is_left_without_the_row():
    X, y = waves(50)
    bag = KernelRidge(random_state=0).fit_bag(X, y, np.ones((1, 50), int))
    all_but_one = np.ones((50, 50), np.uint8) - np.eye(50, dtype=np.uint8)
    left = (y - bag.predict_training(X)[:, 0, 0]) / (1 - bag.leverage)
    for i, seen in enumerate(all_but_one.astype(bool)):
        surface = bag.surfaces[int(bag.teaches[0, i])]  # the surface that the row did not teach
        K = likeness(surface, X)
        weights = np.linalg.solve(
            K[np.ix_(seen, seen)] + surface.ridge * np.eye(49), y[seen] - bag.origin
        )
        assert left[i] == pytest.approx(y[i] - bag.origin - K[i, seen] @ weights, abs=1e-3)


def test_constant_columns_and_targets_are_no_trouble():
    X, y = waves(30)
    X[:, 1] = 7.0
    assert np.isfinite(KernelRidge(random_state=0).fit(X, y).predict(X)).all()
    np.testing.assert_allclose(KernelRidge(random_state=0).fit(X, 0 * y + 2).predict(X), 2)
    alike = np.zeros((10, 2))
    np.testing.assert_allclose(KernelRidge().fit(alike, np.arange(10.0)).predict(alike), 4.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "laplace"}, "kernel must be 'gaussian' or 'matern', got 'laplace'"),
        ({"n_landmarks": 1}, "n_landmarks must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelRidge(**parameters).fit(*waves(20))


@parametrize_with_checks([KernelRidge()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
