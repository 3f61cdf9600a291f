"""Where targets can lie at all: a price is not negative, a share is at most 1."""

from __future__ import annotations

import math
from numbers import Real
from typing import NamedTuple

import numpy as np

from clearbands.rows.row_numbers import row_name


class Support(NamedTuple):
    """The smallest and the largest value that a target can have, both included.

    >>> Support(0.0, 1.0).clip(np.array([-0.2, 0.4, 1.7]))
    array([0. , 0.4, 1. ])
    """

    low: float = -math.inf
    high: float = math.inf

    def clip(self, values: np.ndarray) -> np.ndarray:
        return values if self == ANYWHERE else np.clip(values, self.low, self.high)

    def limit(
        self, center: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Both parts (n, 2) of distances that leave the support, shortened alike to end there."""
        if self == ANYWHERE:
            return aleatoric, epistemic
        room = np.stack([center - self.low, self.high - center], axis=1)
        reach = aleatoric + epistemic
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.isinf(reach), 0.5, np.where(reach > 0, epistemic / reach, 0.0))
        leaves = reach > room
        room = np.where(leaves, room, 0.0)  # without an end it is infinite, and nothing leaves
        return (
            np.where(leaves, room - share * room, aleatoric),
            np.where(leaves, share * room, epistemic),
        )


ANYWHERE = Support()


def check_support(support: object) -> Support:
    """The two ends as numbers; None stands for no end."""
    if support is None:
        return ANYWHERE
    given = tuple(support) if np.iterable(support) and not isinstance(support, str) else ()
    if len(given) == 2 and all(end is None or isinstance(end, Real) for end in given):
        low, high = given
        ends = Support(-math.inf if low is None else float(low), math.inf if high is None else high)
        if ends.low < ends.high:
            return Support(*map(float, ends))
    raise ValueError(
        "support must be two rising numbers, the smallest and the largest target there can be, "
        f"such as (0, 1) or (0, None); got {support!r}."
    )


def check_inside(y: np.ndarray, support: Support) -> None:
    """Raise for targets that the support excludes."""
    outside = (y < support.low) | (y > support.high)
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"support={(support.low, support.high)} excludes {int(outside.sum())} of the targets, "
            f"such as {y[row]:g} in {row_name(row)}: widen it, or remove such rows."
        )
