"""Logits of members for rows whose class is known, and the loss by its definition."""

import numpy as np
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp


def held_out(n=300, n_members=4, n_classes=3, sureness=2.0, spread=1.0, seed=0):
    """Draw classes, and logits of members that are `sureness` times as sure as they should be."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, n_classes))
    y = np.argmax(truth + rng.gumbel(size=(n, n_classes)), axis=1)
    noise = spread * rng.normal(size=(n, n_members, n_classes))
    return y, sureness * truth[:, None] + noise


def loss_at(c1, c2, y, logits):
    """Return the loss by its definition, written with scipy."""
    mean = logits.mean(axis=1, keepdims=True)
    logs = log_softmax(c1 * (mean + c2 * (logits - mean)), axis=2)
    pooled = logsumexp(logs, axis=1) - np.log(logits.shape[1])
    return -pooled[np.arange(len(y)), y].mean()


shapes = st.tuples(
    st.integers(20, 80),  # rows
    st.integers(1, 5),  # members
    st.integers(2, 4),  # classes
    st.floats(0.2, 4),  # sureness
    st.floats(0, 3),  # spread
    st.integers(0, 10_000),  # seed
)
