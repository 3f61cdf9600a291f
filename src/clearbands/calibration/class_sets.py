"""Sets of classes that adapt to the row."""

from __future__ import annotations

import numpy as np


def mass_ahead(probabilities: np.ndarray) -> np.ndarray:
    """(n, classes): for every class the probability of those that are more probable.

    0 for the most probable class, which therefore belongs to every set: no set is empty. A set
    takes the classes whose score does not exceed a threshold, so it grows where several classes
    are about as probable. Classes of equal probability go together.
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    falling = np.take_along_axis(probabilities, order, axis=1)
    ahead = np.zeros_like(falling)
    np.cumsum(falling[:, :-1], axis=1, out=ahead[:, 1:])
    ahead[:, 1:][falling[:, 1:] == falling[:, :-1]] = 0.0  # as far ahead as its equal before it
    scores = np.empty_like(ahead)
    np.put_along_axis(scores, order, np.maximum.accumulate(ahead, axis=1), axis=1)
    return scores
