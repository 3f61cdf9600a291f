"""The kernels of symmetric trees against a slow and obvious implementation, and their laws."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.engine import symmetric_histograms
from clearbands.engine.binning import Bins
from clearbands.engine.grains import EVEN
from clearbands.engine.symmetric import MAX_COLUMNS, GrowingBag, Rule
from clearbands.engine.symmetric_columns import ALWAYS_LEFT, FINE_BINS, Columns
from clearbands.engine.symmetric_histograms import MOST_CELLS, Histograms
from clearbands.engine.targets import STEPS

DEFAULTS = {
    "absolute": False,
    "n_trees": 6,
    "max_depth": 3,
    "l2": 3.0,
    "max_bins": 256,
    "column_share": 1.0,
    "n_jobs": 1,
    "stage": "test",
}
ARRAYS = ("init", "feature", "threshold", "value")
LOSSES = pytest.mark.parametrize("absolute", [False, True], ids=["squared", "absolute"])


def fit(X, y, counts=None, *, learning_rate=0.3, seeds=None, **settings):
    counts = np.ones((1, len(y)), np.uint8) if counts is None else np.asarray(counts)
    rates = np.full(len(counts), learning_rate)
    seeds = np.arange(len(counts)) if seeds is None else seeds
    settings = {"grains": EVEN, "direction": None, **DEFAULTS, **settings}
    absolute, n_trees, depth, l2 = map(settings.pop, ("absolute", "n_trees", "max_depth", "l2"))
    how = {name: settings.pop(name) for name in ("n_jobs", "stage")}
    rule = Rule(0, depth, 0.0, l2 * settings["grains"].per_one, absolute)
    growing = GrowingBag.start(
        X, y, counts, rule=rule, learning_rates=rates, seeds=seeds, **settings
    )
    return growing.grow(n_trees, **how, goes_on=False)


def predict(bag, X):
    """(n, b)"""
    return bag.predict_members(X)[:, 0]


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def problem(n, d, seed=0, distinct=None):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, d)) if distinct is None else rng.randint(distinct, size=(n, d)) * 1.0
    y = 3 * X[:, 0] + np.sin(9 * X[:, -1]) + rng.normal(size=n)
    return X, y, rng


def bootstraps(n, b, rng):
    return np.array([np.bincount(rng.randint(n, size=n), minlength=n) for _ in range(b)], np.uint8)


def folds(n, n_folds, repeats, rng):
    """(folds x repeats, n) counts: a member leaves out one fold."""
    fold = np.arange(n) % n_folds
    own = np.arange(n_folds)[:, None]
    return np.concatenate([rng.permutation(fold) != own for _ in range(repeats)]).astype(np.uint8)


# A second implementation: repeated rows, one question at a time, exact fractions for the scores.


class SlowTrees:
    def __init__(self, X, y, absolute, n_trees, max_depth, learning_rate, l2):
        self.X, self.absolute, self.l2 = X, absolute, Fraction(l2)
        self.init = np.median(y) if absolute else np.mean(y)
        self.residual = y - self.init
        self.questions = []  # (column, the last value that answers 0)
        self.values = []
        for _ in range(n_trees):
            leaf = np.zeros(len(y), int)
            for level in range(max_depth):
                column, last = self.best_question(leaf)
                self.questions.append((column, last))
                leaf += (X[:, column] > last) << level
            steps = np.array([self.step(leaf == k) for k in range(2**max_depth)])
            self.values.append((learning_rate * steps).astype(np.float32))
            self.residual = self.residual - self.values[-1][leaf]

    def step(self, rows):
        if not rows.any():
            return 0.0
        if self.absolute:
            return np.median(self.residual[rows])
        return self.residual[rows].sum() / (rows.sum() + float(self.l2))

    def best_question(self, leaf):
        gradient = np.sign(self.residual) if self.absolute else self.residual
        best, best_score = None, -1
        for column in range(self.X.shape[1]):
            for last in np.unique(self.X[:, column])[:-1]:
                child = 2 * leaf + (self.X[:, column] > last)
                score = sum(self.score(gradient[child == k]) for k in np.unique(child))
                if score > best_score:
                    best, best_score = (column, last), score
        return best

    def score(self, gradients):
        return sum(map(Fraction, gradients)) ** 2 / (len(gradients) + self.l2)


def questions(bag, X):
    """Columns, and the last values of X that answer 0."""
    columns, last_bins = bag.feature[0].ravel(), bag.threshold[0].ravel()
    binned = bag.bins.apply(X, np.uint16)
    return [
        (column, X[binned[:, column] <= last, column].max())
        for column, last in zip(columns, last_bins, strict=True)
        if last != ALWAYS_LEFT
    ]


@LOSSES
@pytest.mark.parametrize("kept", [True, False], ids=["kept histograms", "counted anew"])
@pytest.mark.parametrize(
    ("n", "d", "distinct"),
    [(12, 1, None), (40, 3, None), (60, 3, 5), (120, 2, 9)],
    ids=["few rows", "one row per bin", "ties", "many rows per bin"],
)
def test_same_trees_as_the_slow_implementation(n, d, distinct, absolute, kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(symmetric_histograms, "MOST_CELLS", 0)
    X, y, rng = problem(n, d, seed=n, distinct=distinct)
    y = np.round(64 * y)  # whole numbers have exact sums
    counts = bootstraps(n, 1, rng)
    bag = fit(X, y, counts, absolute=absolute, n_trees=4, l2=0.5)
    rows = np.repeat(np.arange(n), counts[0])
    slow = SlowTrees(X[rows], y[rows], absolute, 4, 3, 0.3, 0.5)
    assert bag.unit[0] * bag.init[0] == pytest.approx(slow.init, abs=bag.unit[0] / STEPS)
    assert questions(bag, X[rows]) == slow.questions
    np.testing.assert_allclose(bag.unit * bag.value[0], slow.values, rtol=1e-6, atol=1e-5)


def test_members_are_the_sums_of_their_leaves():
    X, y, rng = problem(80, 3)
    bag = fit(X, y, bootstraps(80, 3, rng), n_trees=7, max_depth=4)
    new = rng.uniform(size=(600, 3))  # more than one block of rows
    members = bag.predict_members(new)
    assert members.shape == (600, 1, 3)
    binned = bag.bins.apply(new, np.uint16)
    for i, b in [(0, 0), (7, 2), (511, 1), (512, 0), (599, 2)]:
        expected = bag.init[b]
        for columns, last, value in zip(
            bag.feature[b], bag.threshold[b], bag.value[b], strict=True
        ):
            expected += value[(binned[i, columns] > last) @ 2 ** np.arange(4)]
        assert members[i, 0, b] == pytest.approx(expected * bag.unit[b], rel=1e-6)


@pytest.mark.parametrize("n_trees", [1, 4, 7])
@pytest.mark.parametrize("max_depth", [1, 6])
def test_few_rows_are_predicted_as_among_many(n_trees, max_depth):
    X, y, rng = problem(80, 3)
    bag = fit(X, y, bootstraps(80, 2, rng), n_trees=n_trees, max_depth=max_depth)
    new = rng.uniform(size=(530, 3))
    members = predict(bag, new)
    for n in (1, 2, 5, 16, 17, 512, 513):
        np.testing.assert_array_equal(predict(bag, new[:n]), members[:n])
    for i in (0, 100, 529):
        np.testing.assert_array_equal(predict(bag, new[[i]]), members[[i]])
    assert predict(bag, new[:0]).shape == (0, 2)


@LOSSES
@pytest.mark.parametrize("max_bins", [4, 256])
def test_the_order_of_rows_changes_nothing(absolute, max_bins):
    X, y, rng = problem(300, 3)
    counts = bootstraps(300, 2, rng)
    order = rng.permutation(300)
    plain = fit(X, y, counts, absolute=absolute, max_bins=max_bins, n_trees=20)
    shuffled = fit(
        X[order], y[order], counts[:, order], absolute=absolute, max_bins=max_bins, n_trees=20
    )
    assert_same(plain, shuffled)


@LOSSES
def test_threads_and_repetition_change_nothing(absolute):
    X, y, rng = problem(400, 4)
    settings = {"absolute": absolute, "n_trees": 20, "max_depth": 6, "max_bins": 32}
    counts = bootstraps(400, 5, rng)
    first = fit(X, y, counts, **settings)
    assert_same(first, fit(X, y, counts, **settings))
    assert_same(first, fit(X, y, counts, n_jobs=2, **settings))
    many = rng.uniform(size=(20_000, 4))
    np.testing.assert_array_equal(predict(first, many), first.predict_members(many, n_jobs=2)[:, 0])


def test_a_member_does_not_depend_on_its_bag():
    X, y, rng = problem(100, 3)
    counts = bootstraps(100, 3, rng)
    bag, alone = fit(X, y, counts), fit(X, y, counts[2:], seeds=np.array([2]))
    np.testing.assert_array_equal(predict(bag, X)[:, 2:], predict(alone, X))


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 4), min_size=8, max_size=40).filter(lambda c: sum(c) > 1),
    absolute=st.booleans(),
    max_bins=st.sampled_from([3, 256]),
    seed=st.integers(0, 1000),
)
def test_weights_equal_repeated_rows(counts, absolute, max_bins, seed):
    X, y, _ = problem(len(counts), 2, seed)
    rows = np.repeat(np.arange(len(counts)), counts)
    settings = {"absolute": absolute, "max_bins": max_bins}
    weighted = fit(X, y, np.array([counts], np.int32), **settings)
    repeated = fit(X[rows], y[rows], **settings)
    np.testing.assert_array_equal(predict(weighted, X[rows]), predict(repeated, X[rows]))


@LOSSES
@pytest.mark.parametrize("weight", [2**10, 2**20, 2**23])
def test_large_weights(weight, absolute):
    """What counts is their proportion, once the penalty grows with them."""
    X, y, rng = problem(200, 3)
    counts = bootstraps(200, 1, rng).astype(np.int32)
    plain = predict(fit(X, y, counts, absolute=absolute), X)
    heavy = predict(fit(X, y, counts * weight, absolute=absolute, l2=3.0 * 2**10), X)
    if weight == 2**10:
        np.testing.assert_allclose(heavy, plain, atol=1e-5)
    else:  # hardly any penalty
        light = predict(fit(X, y, counts, absolute=absolute, l2=3.0 * 2**10 / weight), X)
        np.testing.assert_allclose(heavy, light, atol=1e-5)


@LOSSES
@pytest.mark.parametrize("factor", [2.0**-900, 0.25, 2.0**40, 2.0**900])
def test_scaling_by_powers_of_two_is_exact(factor, absolute):
    X, y, _ = problem(150, 3)
    plain = predict(fit(X, y, n_trees=20, absolute=absolute), X)
    scaled = predict(fit(X, factor * y, n_trees=20, absolute=absolute), X)
    np.testing.assert_array_equal(scaled, factor * plain)


@LOSSES
def test_any_unit_and_a_large_shift_cost_no_accuracy(absolute):
    X, y, _ = problem(150, 3)
    y = np.round(y * 2**12) / 2**12  # so that y + shift is exact
    shift = 2.0**30
    plain = predict(fit(X, y, n_trees=20, absolute=absolute), X)
    shifted = predict(fit(X, y + shift, n_trees=20, absolute=absolute), X) - shift
    np.testing.assert_allclose(shifted, plain, atol=1e-5)
    other_unit = predict(fit(X, 1.8 * y, n_trees=20, absolute=absolute), X)
    np.testing.assert_allclose(other_unit, 1.8 * plain, atol=1e-5)


@pytest.mark.parametrize("max_bins", [8, 256])
def test_rising_transformations_of_columns_change_nothing(max_bins):
    X, y, rng = problem(200, 3)
    counts = bootstraps(200, 2, rng)
    plain = fit(X, y, counts, max_bins=max_bins)
    bent = np.column_stack([np.exp(9 * X[:, 0]), X[:, 1] ** 3, np.log(X[:, 2])])
    np.testing.assert_array_equal(
        predict(fit(bent, y, counts, max_bins=max_bins), bent), predict(plain, X)
    )


@pytest.mark.parametrize("absolute", [False, True])
def test_leaves_are_means_or_medians(absolute):
    X, y, rng = problem(300, 3)
    counts = bootstraps(300, 1, rng)
    bag = fit(X, y, counts, absolute=absolute, n_trees=1, learning_rate=1.0, l2=0.0)
    rows = np.repeat(np.arange(300), counts[0])
    predicted = predict(bag, X[rows])[:, 0]
    leaves = np.unique(predicted)
    assert len(leaves) > 4
    for leaf in leaves:
        own = y[rows][predicted == leaf]
        expected = np.median(own) if absolute else np.mean(own)
        assert leaf == pytest.approx(expected, abs=1e-6)


def test_l2_shrinks_leaves():
    X = np.repeat([0.0, 1.0], [6, 6])[:, None]
    y = np.repeat([-1.0, 1.0], [6, 6])
    bag = fit(X, y, l2=2.0, n_trees=1, max_depth=1, learning_rate=1.0)
    np.testing.assert_allclose(predict(bag, X)[:, 0], y * 6 / 8)


def test_the_deepest_tree_tells_all_rows_apart():
    X = np.array(np.unravel_index(np.arange(2**10), [2] * 10), float).T  # all rows of ten bits
    y = np.random.RandomState(0).normal(size=2**10)
    bag = fit(X, y, max_depth=10, l2=0.0, learning_rate=1.0, n_trees=1)
    assert sorted(bag.feature[0, 0]) == list(range(10))
    np.testing.assert_allclose(predict(bag, X)[:, 0], y, atol=1e-6)


def test_the_first_trees_are_those_of_a_shorter_fit():
    X, y, rng = problem(120, 3)
    counts = folds(120, 4, 1, rng)
    long, short = fit(X, y, counts, n_trees=20), fit(X, y, counts, n_trees=8)
    np.testing.assert_array_equal(predict(long.first(8), X), predict(short, X))
    np.testing.assert_array_equal(
        long.first(8).predict_unseen(X, counts), short.predict_unseen(X, counts)
    )


@LOSSES
def test_members_may_have_targets_of_their_own(absolute):
    X, y, rng = problem(100, 2)
    counts, targets = bootstraps(100, 2, rng), np.array([y, 9 * X[:, 0] - y])
    together = predict(fit(X, targets, counts, absolute=absolute), X)
    for member in (0, 1):
        one = slice(member, member + 1)
        alone = fit(X, targets[member], counts[one], absolute=absolute, seeds=np.array([member]))
        np.testing.assert_array_equal(together[:, one], predict(alone, X))


class TestUnseen:
    def test_folds_give_as_many_members_as_repeats(self):
        X, y, rng = problem(103, 3)
        counts = folds(103, 5, 3, rng)
        bag = fit(X, y, counts)
        unseen = bag.predict_unseen(X, counts)
        assert unseen.shape == (103, 3)
        everyone = predict(bag, X)
        for i in range(103):
            np.testing.assert_array_equal(unseen[i], everyone[i, counts[:, i] == 0])
        np.testing.assert_array_equal(bag.predict_unseen(X, counts, n_jobs=2), unseen)

    def test_bootstraps_are_filled_up(self):
        X, y, rng = problem(60, 2)
        counts = bootstraps(60, 4, rng)
        counts[:, 0] = 1  # a row that everyone saw
        bag = fit(X, y, counts)
        unseen, everyone = bag.predict_unseen(X, counts), predict(bag, X)
        n_unseen = (counts == 0).sum(axis=0)
        assert unseen.shape == (60, n_unseen.max())
        for i in range(60):
            np.testing.assert_array_equal(unseen[i, : n_unseen[i]], everyone[i, counts[:, i] == 0])
            assert np.isnan(unseen[i, n_unseen[i] :]).all()

    def test_nobody_left_out(self):
        X, y, _ = problem(20, 2)
        counts = np.ones((3, 20), np.uint8)
        assert fit(X, y, counts).predict_unseen(X, counts).shape == (20, 0)


@LOSSES
class TestDegenerateRows:
    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_few_rows(self, absolute, n):
        X, y = np.arange(float(n))[:, None], np.arange(float(n))
        bag = fit(X, y, absolute=absolute, n_trees=200, l2=0.0, max_depth=4)
        np.testing.assert_allclose(predict(bag, X)[:, 0], y, atol=1e-6)

    def test_constant_columns_are_never_used(self, absolute):
        X, y, _ = problem(200, 1)
        X = np.column_stack([np.ones(200), X, np.zeros(200)])
        bag = fit(X, y, absolute=absolute)
        assert np.all(bag.feature[:, :6] == 1)

    def test_nothing_to_split_leaves_the_start(self, absolute):
        y = np.random.RandomState(0).normal(size=50)
        bag = fit(np.ones((50, 2)), y, absolute=absolute)
        expected = np.median(y) if absolute else np.mean(y)
        np.testing.assert_allclose(predict(bag, np.zeros((1, 2))), expected)

    def test_constant_targets_are_returned_exactly(self, absolute):
        X, _, _ = problem(50, 2)
        np.testing.assert_array_equal(predict(fit(X, np.full(50, 0.1), absolute=absolute), X), 0.1)

    def test_extreme_values(self, absolute):
        X, y, _ = problem(100, 2)
        plain = predict(fit(X, y, absolute=absolute), X)
        huge, tiny = 2.0**1020, 2.0**-1060
        np.testing.assert_array_equal(
            predict(fit(X * huge, y * huge, absolute=absolute), X * huge), plain * huge
        )
        bag = fit(X, np.round(y * 2**14) * tiny, absolute=absolute)
        assert np.isfinite(predict(bag, X)).all()
        assert np.ptp(predict(bag, X)) > 0


def test_too_many_columns_are_refused():
    X = np.zeros((2, MAX_COLUMNS + 1))
    with pytest.raises(ValueError, match=r"at most 65535 columns, got 65536"):
        fit(X, np.array([0.0, 1.0]))


def test_members_without_rows_are_refused():
    X, y, _ = problem(10, 1)
    with pytest.raises(ValueError, match=r"Member 1 has no rows"):
        fit(X, y, np.array([[1] * 10, [0] * 10]))


def test_weights_that_do_not_fit_are_refused():
    X, y, _ = problem(10, 1)
    with pytest.raises(ValueError, match=r"at most 2,147,483,647, got 10,737,418,240: divide"):
        fit(X, y, np.full((1, 10), 2**30))


def test_columns_beyond_the_first_byte_are_found():
    rng = np.random.RandomState(0)
    X = rng.randint(2, size=(300, 700)) * 1.0
    y = 4 * X[:, 650] + 0.1 * rng.normal(size=300)
    assert fit(X, y, n_trees=1).feature[0, 0, 0] == 650


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
def test_a_tree_asks_about_its_share_of_the_columns(kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(symmetric_histograms, "MOST_CELLS", 0)
    X, _, rng = problem(300, 9)
    y = X @ np.arange(1, 10) + 0.1 * rng.normal(size=300)
    asked = fit(X, y, n_trees=60, max_depth=4, column_share=0.4).feature[0]
    per_tree = [len(set(tree)) for tree in asked]
    assert max(per_tree) <= 4  # of nine columns and the empty one that makes their number even
    assert set(asked.ravel()) == set(range(9))
    assert len({tuple(sorted(set(tree))) for tree in asked}) > 20


def test_a_tiny_share_of_the_columns_leaves_two_to_ask_about():
    X, y, _ = problem(100, 8)
    asked = fit(X, y, n_trees=20, column_share=0.01).feature[0]
    assert max(len(set(tree)) for tree in asked) == 2
    assert len(set(asked.ravel())) == 8


def test_whether_histograms_are_kept_changes_no_share(monkeypatch):
    X, y, _ = problem(200, 7)
    bags = [fit(X, y, max_depth=4, column_share=0.5)]
    monkeypatch.setattr(symmetric_histograms, "MOST_CELLS", 0)
    bags.append(fit(X, y, max_depth=4, column_share=0.5))
    for name in ARRAYS:
        np.testing.assert_array_equal(*(getattr(bag, name) for bag in bags))


def test_the_memory_of_histograms_is_bounded():
    n_columns, max_depth = 2000, 8
    columns = Columns(
        binned=np.zeros((n_columns + 1, 1), np.uint8),
        n_bins=np.append(np.full(n_columns, 256), 1),
        used=np.arange(n_columns),
        last_fine=np.zeros((n_columns, 256), np.int16),
        per_tree=n_columns,
        state=np.zeros(1, np.uint64),
    )
    histograms = Histograms.allocate(columns, max_depth)
    assert not histograms.are_kept
    assert len(histograms.cells) == 2 * 256 * 2 ** (max_depth - 1) <= MOST_CELLS


class TestCuts:
    @pytest.mark.parametrize("max_bins", [2, 5, 40])
    @pytest.mark.parametrize("distinct", [3, 30, 500])
    def test_bins_share_out_the_draws(self, max_bins, distinct):
        X, _, rng = problem(400, 2, distinct=distinct)
        counts = bootstraps(400, 1, rng)[0]
        fine = Bins.from_data(X, FINE_BINS).columns(X)
        drawn = np.flatnonzero(counts)
        weight = counts[drawn].astype(np.int64)
        columns = Columns.draw(fine, drawn, weight, max_bins, 0)
        for j in range(2):
            own, coarse = fine[j, drawn], columns.binned[j]
            n_bins = columns.n_bins[j]
            np.testing.assert_array_equal(np.unique(coarse), np.arange(n_bins))
            np.testing.assert_array_equal(
                coarse, np.searchsorted(columns.last_fine[j, :n_bins], own)
            )
            if len(np.unique(own)) <= max_bins:
                assert n_bins == len(np.unique(own))
            else:
                heaviest_value = np.bincount(own, weight).max()
                assert np.bincount(coarse, weight).max() <= 2 * 400 / max_bins + heaviest_value

    def test_a_cut_lies_anywhere_between_the_values_that_were_drawn(self):
        fine = np.arange(8, dtype=np.int16)[None]
        drawn, weight = np.array([0, 1, 6, 7]), np.array([1, 2, 1, 1])
        cuts = np.array([Columns.draw(fine, drawn, weight, 256, s).last_fine[0] for s in range(99)])
        assert set(cuts[:, 0]) == {0}
        assert set(cuts[:, 1]) == {1, 2, 3, 4, 5}
        assert set(cuts[:, 2]) == {6}
        assert set(cuts[:, 3]) == {ALWAYS_LEFT}

    def test_members_cut_a_long_column_in_different_places(self):
        # With the same cuts in all members their errors of rounding would not average out.
        X, y, _ = problem(3000, 1)
        bag = fit(X, y, np.ones((20, 3000), np.uint8), max_bins=8, n_trees=8)
        assert len(np.unique(bag.threshold)) > 100


def test_a_bag_survives_pickling():
    X, y, _ = problem(60, 2)
    bag = fit(X, y)
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(predict(again, X), predict(bag, X))


def test_trees_that_are_grown_in_stages_are_the_same():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    counts = np.array([[1] * 60, [2] * 30 + [0] * 30])
    rule = Rule(0, 3, 0.0, 3.0, False)
    growing = GrowingBag.start(
        X, y, counts, EVEN, rule=rule, learning_rates=np.full(2, 0.3), seeds=np.arange(2),
        max_bins=256, column_share=1.0, direction=None,
    )  # fmt: skip
    for n_trees in (4, 8, 12):
        bag = growing.grow(n_trees, n_jobs=1, stage="test")
    assert_same(bag, fit(X, y, counts, n_trees=12))
