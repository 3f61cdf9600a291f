"""A proof that no other constants of member logits make held-out classes more likely.

The logarithm of a member's probability is concave in (a, b) (see `logit_search.py`), so it lies
below its tangent plane at the middle of a box. With planes in place of the members' curves the loss
is lower, and it is concave: its minimum over the box is in a corner. A box is finished when no
corner is low enough; other boxes are cut in four. The error of a box falls with the square of its
size, so the cuts come to an end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearbands.calibration.class_calibrator import JointClassCalibrator
from clearbands.calibration.logit_search import Logits, shares

MAX_BOXES = 100_000


class Box(NamedTuple):
    """The rectangle from a - h to a + h and from b - k to b + k."""

    a: float
    b: float
    h: float
    k: float

    def quarters(self) -> list[Box]:
        """Cut the box in four; in two where h or k is 0."""
        h, k = self.h / 2, self.k / 2
        found = [Box(self.a + i * h, self.b + j * k, h, k) for i in (-1, 1) for j in (-1, 1)]
        return list(dict.fromkeys(found))


class Bounds(NamedTuple):
    """A lower bound of the loss in a box, and the loss in its middle."""

    least: float
    middle: float


def proves(
    calibrator: JointClassCalibrator, y: np.ndarray, logits: Any, *, within: float = 1e-4
) -> bool:
    """Whether no constants make the rows of a fit more likely by more than `within` nats per row.

    The loss includes `prior_rows`. The range is that of the search, which ends where the logits or
    their deviations have a root mean square of 8 (or a larger one, if they came with it). False
    where better constants exist, or the bounds are too loose to tell.
    """
    problem = Logits.of(y, np.asarray(logits, float), float(calibrator.prior_rows), None)
    at = problem.sizes * np.array([calibrator.c1_, calibrator.c1_ * calibrator.c2_])
    return is_lowest(problem, problem.point(at).loss, within)


def is_lowest(problem: Logits, loss: float, within: float) -> bool:
    """Whether the loss is nowhere in the range of the search lower by more than `within`.

    It is also False where a proof would need too many boxes.
    """
    a, b = (problem.highest / 2).tolist()
    boxes, n_seen = ([Box(a, b, a, b)] if problem.has_spread else [Box(a, 0.0, a, 0.0)]), 1
    while boxes:
        cut = [quarter for box in boxes for quarter in box.quarters()]
        n_seen += len(cut)
        found = [bounds(problem, box) for box in cut]
        if n_seen > MAX_BOXES or any(bound.middle < loss - within for bound in found):
            return False
        boxes = [box for box, own in zip(cut, found, strict=True) if own.least < loss - within]
    return True


def bounds(problem: Logits, box: Box) -> Bounds:
    """Compute the bounds from the tangent planes in the middle of the box."""
    corners, middle = np.zeros((2, 2)), 0.0
    for chunk in problem.chunks():
        p, log_p = chunk.log_probabilities(box.a, box.b)
        middle -= float(np.sum(chunk.weight * shares(log_p)[1]))
        slope_a = box.h * (chunk.select_counted(chunk.mean) - (p * chunk.mean).sum(axis=0))
        slope_b = box.k * (
            chunk.select_counted(chunk.deviation) - (p * chunk.deviation).sum(axis=0)
        )
        for i, in_a in enumerate((log_p - slope_a, log_p + slope_a)):
            for j, in_corner in enumerate((in_a - slope_b, in_a + slope_b)):
                corners[i, j] -= np.sum(chunk.weight * shares(in_corner)[1])
    return Bounds(float(corners.min()), middle)
