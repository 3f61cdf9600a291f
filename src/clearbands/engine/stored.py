"""Checks of trees from a file or another process, made before a kernel walks them unchecked.

A number that is no column, node or leaf would make a kernel read memory that is not its own, and
a node that is its own child would keep it walking forever.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


class Stored:
    """An object whose state is checked when it is restored."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.check()

    @abstractmethod
    def check(self) -> None:
        """Raise a ValueError unless kernels can follow the arrays."""


def check_array(
    array: np.ndarray, name: str, kind: type[np.generic], shape: Sequence[int | None]
) -> None:
    """Raise unless `array` has numbers of this kind in this shape, where None is any length."""
    if not isinstance(array, np.ndarray) or not (
        np.issubdtype(array.dtype, kind) and array.dtype.isnative
    ):
        seen = getattr(array, "dtype", type(array).__name__)
        raise ValueError(f"{name} holds {seen} where {kind.__name__} belongs.")
    if len(shape) != array.ndim or any(
        length not in (None, own) for length, own in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} has the shape {array.shape} where ({wanted}) belongs.")


def check_numbers(numbers: np.ndarray, name: str, count: int, of: str) -> None:
    """Raise unless all numbers are from 0 to `count` - 1."""
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < count):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise ValueError(f"{name} names number {wrong:,} of {count:,} {of}, counted from 0.")


def check_starts(starts: np.ndarray, name: str, total: int) -> None:
    """Raise unless `starts` rise from 0 to `total`, as parts do of which each ends at the next."""
    check_array(starts, name, np.signedinteger, (None,))
    if len(starts) == 0 or starts[0] != 0 or starts[-1] != total or (np.diff(starts) < 0).any():
        raise ValueError(f"{name} does not rise from 0 to {total:,}.")


def check_walks(
    feature: np.ndarray,
    child: np.ndarray,
    roots: np.ndarray,
    starts: tuple[np.ndarray, np.ndarray],
    n_columns: int,
) -> None:
    """Raise unless every walk from a root (b, trees) ends in a leaf of its member.

    Nodes and leaves of all members stand end to end; `starts` says where those of each member
    begin, (b + 1,) for nodes and for leaves. A node whose child is positive splits into child and
    child + 1; any other node is leaf -1 - child.
    """
    check_numbers(feature[child > 0], "A split", n_columns, "columns")
    for own, nodes, leaves in zip(roots, *map(pairwise, starts), strict=True):
        children = child[slice(*nodes)]
        n_nodes, n_leaves = len(children), int(leaves[1] - leaves[0])
        check_numbers(own, "A root", n_nodes, "nodes")
        splits = np.flatnonzero(children > 0)
        check_numbers(children[splits], "A child", n_nodes - 1, "nodes that another follows")
        if (children[splits] <= splits).any():
            raise ValueError("A node of a tree stands before its parent.")
        check_numbers(-1 - children[children <= 0].astype(np.int64), "A node", n_leaves, "leaves")
