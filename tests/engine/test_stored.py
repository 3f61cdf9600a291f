"""Stored trees that would lead kernels astray are refused when they are restored."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from clearbands import BoostedQuantiles, ForestQuantiles, RandomTrees, SymmetricTrees
from clearbands.engine.binning import Bins
from tests.toys import noisy_line

X, Y = noisy_line(80)
ONCE = np.ones((2, len(Y)), np.uint8)


def bag_of(model):
    return model.fit_bag(X, Y, ONCE)


BAGS = {
    "boosting": lambda: bag_of(BoostedQuantiles(n_trees=3, max_depth=2)),
    "symmetric": lambda: bag_of(SymmetricTrees(n_trees=4, max_depth=2)),
    "forest": lambda: bag_of(ForestQuantiles(n_trees=3)),
    "random": lambda: bag_of(RandomTrees(n_trees=3)),
}


def restored(bag):
    return pickle.loads(pickle.dumps(bag))


def with_number(bag, name, number):
    array = getattr(bag, name).copy()
    array.flat[0] = number
    return replace(bag, **{name: array})


@pytest.mark.parametrize("kind", BAGS)
def test_sound_trees_are_restored(kind):
    bag = BAGS[kind]()
    np.testing.assert_array_equal(restored(bag).predict_members(X), bag.predict_members(X))


@pytest.mark.parametrize(
    ("kind", "name", "number", "reason"),
    [
        ("boosting", "feature", 65535, "A split names number 65,535 of 2 columns"),
        ("symmetric", "feature", 65535, "A question names number 65,535 of 2 columns"),
        ("forest", "feature", 2, "A split names number 2 of 2 columns"),
        ("random", "feature", 2, "A split names number 2 of 2 columns"),
        ("forest", "child", 2**31 - 1, "A child names number"),
        ("random", "child", 2**31 - 1, "A child names number"),
        ("forest", "child", 0, "A node names number -1 of .* leaves"),
        ("random", "child", -(2**31), "A node names number 2,147,483,647 of .* leaves"),
        ("forest", "roots", -1, "A root names number -1"),
        ("random", "roots", 10**6, "A root names number 1,000,000"),
        ("forest", "samples", 10**6, "A leaf names number 1,000,000 of 80 targets"),
        ("forest", "node_starts", 5, "starts of nodes does not rise from 0"),
        ("random", "leaf_starts", -5, "starts of leaves does not rise from 0"),
    ],
)
def test_numbers_that_point_nowhere_are_named(kind, name, number, reason):
    with pytest.raises(ValueError, match=reason):
        restored(with_number(BAGS[kind](), name, number))


@pytest.mark.parametrize("kind", ["forest", "random"])
def test_a_tree_without_an_end_is_refused(kind):
    bag = BAGS[kind]()
    child = bag.child.copy()
    split = np.flatnonzero(child[: bag.node_starts[1]] > 0)[-1]
    child[split] = split
    with pytest.raises(ValueError, match=r"before its parent|that another follows"):
        restored(replace(bag, child=child))


@pytest.mark.parametrize("kind", BAGS)
def test_arrays_of_another_shape_or_type_are_refused(kind):
    bag = BAGS[kind]()
    arrays = [f.name for f in fields(bag) if isinstance(getattr(bag, f.name), np.ndarray)]
    for name in set(arrays) - {"quantiles"}:  # no kernel reads this one
        array = getattr(bag, name)
        for other in (array[:-1], array.astype("c16"), array[None], array.tolist()):
            if kind == "forest" and name == "targets" and other.__class__ is np.ndarray:
                continue  # a forest may keep any number of targets
            with pytest.raises(ValueError, match=r"belongs\.|rise from|names number|no power"):
                restored(replace(bag, **{name: other}))


def test_cuts_belong_to_columns():
    bins = Bins.from_data(X)
    with pytest.raises(ValueError, match="does not rise"):
        restored(replace(bins, starts=bins.starts[:-1]))
    with pytest.raises(ValueError, match="X has 4 columns where trees were grown on 2"):
        bins.apply(np.column_stack([X, X]))
