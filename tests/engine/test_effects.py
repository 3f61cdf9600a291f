"""Effects of codes: they shrink by the noise of the rows, and sums give the same as rows."""

import numpy as np
import pytest

from clearbands.engine.effects import DOUBT, effects_alone, effects_of_sums, renew_effects


def renewed(code, rest, weight, n_values):
    """Return the effects, each as a share of the mean of its code too, and the residuals."""
    rest, effect, left = rest.copy(), np.zeros(n_values + 1), np.zeros(n_values + 1)
    renew_effects(code[None], np.array([0, n_values + 1]), rest, weight, effect, left)
    return effect, left, rest


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, 300)
    return code, rng.normal(size=6)[code] + rng.normal(size=300), rng.integers(1, 4, 300) * 1.0


def test_sums_of_rows_give_the_effects_of_the_rows(rows):
    code, rest, weight = rows
    effect, left, _ = renewed(*rows, 6)
    n = np.bincount(code, weight, 7)
    mean = np.divide(np.bincount(code, weight * rest, 7), n, out=np.zeros(7), where=n > 0)
    within = float((weight * (rest - mean[code]) ** 2).sum())
    of_sums, left_of_sums = np.zeros(7), np.zeros(7)
    effects_of_sums(n, mean, within, of_sums, left_of_sums)
    np.testing.assert_allclose(of_sums, effect, rtol=1e-9)
    np.testing.assert_allclose(left_of_sums, left, rtol=1e-9)


def test_shares_follow_the_analysis_of_variance_with_some_doubt():
    """Two codes of 50 rows each have means of -1 and 1, with residuals of -1 and 1."""
    code, sign = np.repeat([0, 1], 50), np.tile([-1.0, 1.0], 50)
    effect, left, rest = renewed(code, np.repeat([-1.0, 1.0], 50) + sign, np.ones(100), 2)
    within = (100 + DOUBT * 200 / 100) / (98 + DOUBT)
    between = (100 - within) / 50
    np.testing.assert_allclose(left, [50 / (50 + within / between)] * 2 + [0])
    np.testing.assert_allclose(effect, left * [-1, 1, 0])
    np.testing.assert_allclose(rest, np.repeat([-1.0, 1.0], 50) + sign - effect[code])


def test_what_is_left_over_and_the_effects_add_up_to_the_target(rows):
    code, target, weight = rows
    effect, _, rest = renewed(*rows, 6)
    np.testing.assert_allclose(rest + effect[code], target)
    again, left = effect.copy(), np.zeros(7)
    renew_effects(
        code[None], np.array([0, 7]), rest, weight, again, left
    )  # the same column again has nothing new to learn
    np.testing.assert_allclose(again, effect, rtol=1e-9)


def test_codes_that_make_no_difference_have_no_effect():
    code, target = np.repeat(np.arange(4), 2), np.tile([-1.0, 1.0], 4)
    effect, left, rest = renewed(code, target, np.ones(8), 4)
    assert not effect.any()
    assert not left.any()
    np.testing.assert_array_equal(rest, target)


def test_columns_side_by_side_are_each_as_alone(rows):
    code, target, weight = rows
    other, targets = code % 2, np.stack([target, target**2])
    first = np.array([0, 7, 10])
    effects, left = np.zeros((2, 10)), np.zeros(10)
    effects_alone(np.stack([code, other]), first, targets, weight, effects, left)
    for own, column, n_values in ((slice(0, 7), code, 6), (slice(7, 10), other, 2)):
        alone = [renewed(column, each, weight, n_values) for each in targets]
        np.testing.assert_allclose(effects[:, own], [effect for effect, _, _ in alone])
        np.testing.assert_allclose(left[own], np.max([share for _, share, _ in alone], axis=0))


def test_columns_in_turns_learn_of_what_those_before_them_leave_over(rows):
    code, target, weight = rows
    other = code // 2
    effect, left, rest = np.zeros(11), np.zeros(11), target.copy()
    renew_effects(np.stack([code, other]), np.array([0, 7, 11]), rest, weight, effect, left)
    of_first, _, after_first = renewed(code, target, weight, 6)
    of_second, _, after_second = renewed(other, after_first, weight, 3)
    np.testing.assert_allclose(effect, np.concatenate([of_first, of_second]))
    np.testing.assert_allclose(rest, after_second)
