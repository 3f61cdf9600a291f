"""Metrics of predicted probabilities and sets of classes; targets y are positions of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.weighting import check_sample_weight, mean_of, size_of

N_BINS = 15  # the number of bins of the calibration error
SMALLEST = 1e-12  # smaller probabilities are raised to this before their logarithm is taken


def evaluate_classes(
    y: np.ndarray,
    probabilities: np.ndarray,
    sets: np.ndarray | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """All metrics of probabilities (n, classes), and of sets (n, classes) of booleans, for y (n,).

    A larger `accuracy` is better; the best `coverage` of the sets is their level. A smaller `nll`
    (negative log-likelihood, in nats), `brier`, `ece` (calibration error of the likeliest class)
    and `set_size` is better. A row counts as many times as its `sample_weight` (n,) says.

    Examples
    --------
    >>> p = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> found = evaluate_classes(np.array([0, 1]), p, p > 0)
    >>> found["accuracy"], found["brier"], found["set_size"], found["coverage"]
    (1.0, 0.25, 1.5, 1.0)
    """
    rows, n_classes = np.arange(len(y)), probabilities.shape[1]
    own = np.maximum(probabilities[rows, y], SMALLEST)
    weight = check_sample_weight(sample_weight, len(y))
    scores = {
        "accuracy": mean_of((probabilities.argmax(axis=1) == y).astype(float), weight),
        "nll": mean_of(-np.log(own), weight),
        "brier": mean_of(((probabilities - np.eye(n_classes)[y]) ** 2).sum(axis=1), weight),
        "ece": calibration_error(y, probabilities, weight),
    }
    return scores if sets is None else scores | evaluate_sets(y, sets, weight)


def evaluate_sets(
    y: np.ndarray, sets: np.ndarray, weight: np.ndarray | None = None
) -> dict[str, float]:
    """Return the mean size of the sets, and how often they contain the true class."""
    return {
        "set_size": mean_of(sets.sum(axis=1).astype(float), weight),
        "coverage": mean_of(sets[np.arange(len(y)), y].astype(float), weight),
    }


def calibration_error(
    y: np.ndarray, probabilities: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the mean gap over bins between the largest probability and how often it is right."""
    sureness, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    gap = (sureness - is_right) * (1.0 if weight is None else weight)
    gaps = np.bincount(bins_of(sureness, N_BINS), gap, minlength=N_BINS)
    return float(np.abs(gaps).sum() / size_of(weight, len(y)))


def bins_of(shares: np.ndarray, n_bins: int) -> np.ndarray:
    """Return which of `n_bins` equal parts of [0, 1] each share (n,) lies in."""
    return np.minimum((shares * n_bins).astype(int), n_bins - 1)
