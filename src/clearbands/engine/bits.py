"""Lowest set bits and random bits, for kernels.

Random numbers come from an explicit state, an array of one uint64 (splitmix64): what a kernel
draws then depends on its seed alone, not on the thread it runs on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from clearbands.engine.compiled import Real, Whole, inlined

GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53  # the spacing of the doubles below one


@intrinsic
def lowest_bit(typingctx: Any, word: types.Type) -> tuple[Any, Callable[..., ir.Value]]:
    """Return the place (0 to 63) of the lowest set bit of a uint64 that is not zero."""

    def codegen(
        context: Any, builder: ir.IRBuilder, signature: Any, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        zero_is_undefined = ir.Constant(ir.IntType(1), 1)
        return builder.cttz(arguments[0], zero_is_undefined)

    return types.uint64(types.uint64), codegen


@inlined
def random_unit(state: np.ndarray) -> Real:
    """Draw a number uniformly from [0, 1) and advance `state`."""
    state[0] += GOLDEN_RATIO
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_MIX
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_MIX
    bits ^= bits >> np.uint64(31)
    return np.float64(np.int64(bits >> np.uint64(11))) * UNIT


@inlined
def random_below(state: np.ndarray, bound: Whole) -> Whole:
    """Draw a whole number uniformly from 0 .. bound - 1 and advance `state`."""
    return np.int64(random_unit(state) * bound)
