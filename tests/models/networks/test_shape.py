"""The places of the parameters of a network in one array."""

import numpy as np
import pytest

from clearbands.models.networks.shape import Shape
from tests.models.networks.small_networks import small_shape, train_lines


def test_bad_dropout():
    with pytest.raises(ValueError, match="dropout must be at least 0 and below 1"):
        train_lines(shape=small_shape(dropout=1.0))


@pytest.mark.parametrize("skip", [False, True])
def test_blocks_are_views_that_share_out_all_parameters(skip):
    shape = small_shape(skip=skip)
    flat = shape.initial(np.random.default_rng(0))[None]
    views = shape.views(flat)
    # Two hidden layers of 8 and 6 units on 2 columns have a weight, scale and shift each.
    sizes = [(8, 2), (8, 1), (8, 1), (6, 8), (6, 1), (6, 1)]
    output = [(1, 2), (1, 8), (1, 6), (1, 1)] if skip else [(1, 6), (1, 1)]
    assert [view.shape[1:] for view in views] == sizes + output
    np.testing.assert_array_equal(np.concatenate([view.ravel() for view in views]), flat[0])
    assert all(np.shares_memory(view, flat) for view in views)


def test_weights_start_within_one_over_the_root_of_their_inputs():
    shape = Shape.of_noise((100,), 25, 3, dropout=0.0)
    weight, scale, shift, output, bias = shape.views(shape.initial(np.random.default_rng(0))[None])
    assert 0.19 < np.abs(weight).max() <= 1 / 5
    assert 0.09 < np.abs(output).max() <= 1 / 10
    assert (scale == 1).all()
    assert not shift.any()
    assert not bias.any()


@pytest.mark.parametrize(
    ("hidden", "error", "message"),
    [
        (64, TypeError, r"hidden must be a list of layer widths such as \(64, 64\), got 64"),
        ("64", TypeError, "hidden must be a list"),
        ((64, 0), ValueError, "Each width in hidden must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_widths(hidden, error, message):
    with pytest.raises(error, match=message):
        Shape.of_centers(hidden, 2, 0.1)
