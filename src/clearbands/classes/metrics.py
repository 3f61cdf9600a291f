"""How good probabilities and sets of classes are. Means over rows; y are positions of classes."""

from __future__ import annotations

import numpy as np

N_BINS = 15  # of the calibration error
SMALLEST = 1e-12  # a probability that its logarithm is taken of


def evaluate_classes(
    y: np.ndarray, probabilities: np.ndarray, sets: np.ndarray | None = None
) -> dict[str, float]:
    """All of them: y (n,), probabilities (n, classes), sets (n, classes) of booleans.

    `accuracy`, `coverage` of the sets: more is better, or for coverage as much as was promised.
    `nll` (negative log-likelihood, in nats), `brier`, `ece` (calibration error of the likeliest
    class), `set_size`: less is better.

    Examples
    --------
    >>> p = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> found = evaluate_classes(np.array([0, 1]), p, p > 0)
    >>> found["accuracy"], found["brier"], found["set_size"], found["coverage"]
    (1.0, 0.25, 1.5, 1.0)
    """
    rows, n_classes = np.arange(len(y)), probabilities.shape[1]
    own = np.maximum(probabilities[rows, y], SMALLEST)
    found = {
        "accuracy": float(np.mean(probabilities.argmax(axis=1) == y)),
        "nll": float(-np.log(own).mean()),
        "brier": float(((probabilities - np.eye(n_classes)[y]) ** 2).sum(axis=1).mean()),
        "ece": calibration_error(y, probabilities),
    }
    return found if sets is None else found | evaluate_sets(y, sets)


def evaluate_sets(y: np.ndarray, sets: np.ndarray) -> dict[str, float]:
    """How many classes a set has, and how often the true one is among them."""
    return {
        "set_size": float(sets.sum(axis=1).mean()),
        "coverage": float(sets[np.arange(len(y)), y].mean()),
    }


def calibration_error(y: np.ndarray, probabilities: np.ndarray) -> float:
    """How far the probability of the likeliest class is from how often it is right, over bins."""
    sureness, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    gaps = np.bincount(bins_of(sureness, N_BINS), sureness - is_right, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(y))


def bins_of(shares: np.ndarray, n_bins: int) -> np.ndarray:
    """(n,): which of the equal parts of [0, 1] a share lies in."""
    return np.minimum((shares * n_bins).astype(int), n_bins - 1)
