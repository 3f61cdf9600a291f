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
"""The types of numbers in kernels, which treat numbers of Python and of NumPy alike."""

ZERO: Whole = np.int64(0)
ONE: Whole = np.int64(1)
"""Zero and one as arguments: numba compiles inner functions once more for literal numbers."""

# numba's stubs do not know the options that leave out the ways in from Python and C.
_everywhere: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_inside: dict[str, Any] = {"no_cpython_wrapper": True, **_everywhere}
_without_memory: dict[str, Any] = {"_nrt": False}
"""numba counts the holders of an array at every view and every call, which takes a tenth of the
time of a fit of few rows. A function that makes no array needs no such count. A function that makes
an array, or returns a view of one, does not compile without it."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls. It releases the GIL, so kernels run side by side."""
    return _cached(function, njit(**_without_memory, **_everywhere)(function))


def kernel_with_memory(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that makes arrays."""
    return _cached(function, njit(**_everywhere)(function))


def _cached(function: Callable[..., Any], compiled: Any) -> Callable[..., Any]:
    if isinstance(compiled, Dispatcher):  # with NUMBA_DISABLE_JIT it is the function itself
        # njit(cache=True) does the same with numba's own cache.
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    return compiled


inlined = njit(forceinline=True, **_without_memory, **_inside)
"""Compile a function that only kernels call. It is stored with them and inlined, so that tuples of
arrays as arguments cost nothing. An entry point of its own would double the time to compile."""

called = njit(**_without_memory, **_inside)
"""Compile a function that only kernels call, without inlining it: an inner loop that keeps its few
arrays in registers, or a long function that several places call and that is compiled once."""

called_with_memory = njit(**{**_inside, "_nrt": True})
"""Compile a function that only kernels call and that makes arrays, without inlining it."""

pasted = njit(inline="always", **_without_memory, **_inside)
"""Compile a long part of the one kernel that calls it as if it stood there. Inlining it later would
compile all that it calls once more. For a short function pasting takes longer than that."""


def whole_and_read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view, or a read-only copy where the values are not contiguous.

    To numba a writable array has another type than a read-only one, such as an array from a file
    or another process. With read-only arrays alone it need not compile a kernel twice.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
