"""How kernels are compiled: on first use, then from a cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from clearbands.engine.kernel_cache import KernelCache

Whole: TypeAlias = int | np.signedinteger
Real: TypeAlias = float | np.floating
"""What kernels take and return: numbers of Python are numbers of NumPy to them."""

ZERO: Whole = np.int64(0)
ONE: Whole = np.int64(1)
"""Arguments of inner functions, which numba compiles once more for literal numbers."""

# numba's stubs do not know the options that leave out the ways in from Python and C.
_everywhere: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_inside: dict[str, Any] = {"no_cpython_wrapper": True, **_everywhere}
_without_memory: dict[str, Any] = {"_nrt": False}
"""numba counts who holds an array, at every view and every call: a tenth of a fit of few rows. A
function that makes no array needs none of this. One that makes an array, or gives a view of one
back, does not compile without it."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Python calls. It releases the GIL, so kernels run on threads side by side."""
    return _cached(function, njit(**_without_memory, **_everywhere)(function))


def kernel_with_memory(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that makes arrays."""
    return _cached(function, njit(**_everywhere)(function))


def _cached(function: Callable[..., Any], compiled: Any) -> Callable[..., Any]:
    if isinstance(compiled, Dispatcher):  # not so with NUMBA_DISABLE_JIT
        # What njit(cache=True) does, with a cache of our own.
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    return compiled


inlined = njit(forceinline=True, **_without_memory, **_inside)
"""A function that only kernels call: stored with them and inlined, so that the tuples of arrays
it takes cost nothing. A way in of its own would double the time to compile."""

called = njit(**_without_memory, **_inside)
"""The same, but called: an inner loop that keeps the few arrays it takes in registers, or a long
function that stands in several places and should be compiled once."""

called_with_memory = njit(**{**_inside, "_nrt": True})
"""The same, of a function that makes arrays."""

pasted = njit(inline="always", **_without_memory, **_inside)
"""A long stretch of the one kernel that calls it, compiled as if it stood there: inlined later, all
that it calls would be compiled once more. For short ones the pasting takes longer than that."""


def whole_and_read_only(array: np.ndarray) -> np.ndarray:
    """A view, or a copy where values do not lie one after the other.

    To numba arrays that may be written to are another type than those that may not, such as what
    was loaded from a file or sent to a process: one view of all spares it compiling twice.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
