"""The effects of categories."""

import numpy as np
import pytest

from clearbands.models.categories import learn_effects, shrunken_effects
from clearbands.rows.coded import coded


def streets(n=300, n_codes=20, seed=0, noise=1.0):
    """Return numbers and codes in two columns, targets that depend on both, and the effects."""
    rng = np.random.RandomState(seed)
    code, x = rng.randint(0, n_codes, n), rng.rand(n)
    effect = 3 * rng.randn(n_codes)
    y = 2 * x + effect[code] + noise * rng.randn(n)
    return coded(np.column_stack([x, code]), [1]), y, effect


def learn(X, y, count=None, groups=None):
    count = np.ones(len(y)) if count is None else count
    return learn_effects(X, y[:, None], count, np.random.RandomState(0), groups)


def test_where_nothing_pays_and_nothing_else_is_there_all_rows_are_alike():
    X = streets()[0]
    noise = np.random.default_rng(0).normal(size=300)
    effects, view = learn(coded(np.asarray(X)[:, 1:], [0]), noise)
    np.testing.assert_array_equal(view, np.zeros((300, 1)))
    new = np.array([[0.0], [19.0], [-1.0]])
    np.testing.assert_array_equal(effects.view(new), np.zeros((3, 1)))


def test_effects_are_those_of_a_mixed_model_when_rows_are_many():
    X, y, effect = streets(20_000)
    effects, _ = learn(X, y)
    beside = effects.tables[0][:-1, 1]
    np.testing.assert_allclose(beside, effect - effect.mean(), atol=0.25)


def test_few_rows_are_shrunk_more_than_many():
    code = np.repeat([0, 1, 2, 3], [50, 50, 50, 1])
    y = np.repeat([0.0, 1.0, 2.0, 2.0], [50, 50, 50, 1]) + np.random.RandomState(0).randn(151)
    effect, left = shrunken_effects(code, 4, y, np.ones(151))
    assert left[3] < 0.75 < 0.95 < left[2]
    assert (left[4], effect[4]) == (0, 0)


def test_a_weight_is_so_many_rows():
    code, y = np.array([0, 0, 1, 1, 2]), np.array([1.0, 2.0, 5.0, 7.0, 3.0])
    weight = np.array([1.0, 3.0, 2.0, 1.0, 2.0])
    rows = np.repeat(np.arange(5), weight.astype(int))
    np.testing.assert_allclose(
        shrunken_effects(code, 3, y, weight), shrunken_effects(code[rows], 3, y[rows], np.ones(9))
    )


def test_an_own_target_has_no_part_in_what_a_row_is_told():
    X, y, _ = streets()
    count = (np.arange(len(y)) % 5 > 0).astype(float)
    other = y.copy()
    other[7] += 5.0
    before, after = learn(X, y, count)[1], learn(X, other, count)[1]
    np.testing.assert_array_equal(before[7], after[7])
    assert not np.array_equal(before, after)


def test_rows_that_a_member_does_not_see_change_nothing():
    X, y, _ = streets()
    count = (np.arange(len(y)) % 5 > 0).astype(float)
    other = np.where(count > 0, y, 1e6)
    for before, after in zip(
        learn(X, y, count)[0].tables, learn(X, other, count)[0].tables, strict=True
    ):
        np.testing.assert_array_equal(before, after)


def test_rows_that_a_member_does_not_see_look_like_new_ones():
    X, y, _ = streets()
    count = (np.arange(len(y)) % 5 > 0).astype(float)
    effects, view = learn(X, y, count)
    np.testing.assert_array_equal(view[count == 0], effects.view(X)[count == 0])


def test_groups_tell_each_other_nothing():
    X, y, _ = streets(n_codes=30)
    # Each code is one group: a row's category is always new to its members, so it cannot pay.
    effects, view = learn(X, y, groups=np.asarray(X[:, 1]))
    assert (view.shape[1], effects.tables[0].shape[1]) == (1, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_name_for_every_row_is_not_shown(seed):
    rng = np.random.RandomState(seed)
    X = coded(np.column_stack([rng.rand(400), rng.permutation(400)]), [1])
    assert learn(X, rng.randn(400))[1].shape[1] == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_name_that_few_rows_share_is_not_taken_at_its_word(seed):
    rng = np.random.RandomState(seed)
    code = rng.randint(0, 4_000, 400)
    _, left = shrunken_effects(code, 4_000, rng.randn(400), np.ones(400))
    assert left[code].min() < 0.4  # for a name that only one row has


def test_codes_that_a_member_has_not_seen_are_new():
    X, y, _ = streets()
    effects, _ = learn(X, y)
    new = np.array([[0.5, -1.0], [0.5, 99.0]])
    found = effects.view(new)
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0, 1:3].tolist() == [0.0, 0.0]


def test_one_row_per_code_and_constant_targets_are_no_error():
    X = coded(np.column_stack([np.zeros(5), np.arange(5.0)]), [1])
    assert np.isfinite(learn(X, np.arange(5.0))[1]).all()
    X, _, _ = streets(30)
    assert np.isfinite(learn(X, np.ones(30))[1]).all()
