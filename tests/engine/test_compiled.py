"""Arrays that Python hands to kernels."""

import numpy as np
import pytest
from numba import typeof
from numba.core.errors import NumbaError

from clearbands.engine.compiled import called, kernel_with_memory, whole_and_read_only


@pytest.mark.parametrize("order", ["writable", "read-only", "every other", "transposed"])
def test_to_numba_all_arrays_of_numbers_are_of_one_type(order):
    array = np.arange(12.0).reshape(3, 4)
    if order == "read-only":
        array.flags.writeable = False
    array = {"every other": array[:, ::2], "transposed": array.T}.get(order, array)
    view = whole_and_read_only(array)
    np.testing.assert_array_equal(view, array)
    assert typeof(view) == typeof(whole_and_read_only(np.ones((2, 2))))
    assert array.flags.writeable == (order != "read-only")  # the caller's array has not changed


def test_an_array_that_lies_in_one_piece_is_not_copied():
    array = np.arange(6.0)
    view = whole_and_read_only(array)
    assert np.shares_memory(view, array)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0


def test_where_nobody_counts_who_holds_an_array_none_can_be_made():
    @called
    def make(n):
        return len(np.empty(n))

    def ask(n):
        return make(n)

    with pytest.raises(NumbaError):
        kernel_with_memory(ask)(3)
