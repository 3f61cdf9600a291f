"""Strategies of hypothesis for the rows and paces of rolling windows."""

import numpy as np
from hypothesis import strategies as st

from clearbands.calibration.rolling import Pace, Rolling

POSITIONS = np.linspace(-2, 2, 60)


# Small numbers with ties, and powers of two that each lie beyond all rows before them.
ROWS = st.lists(st.integers(-3, 3).map(float) | st.just(None), min_size=1, max_size=120).map(
    lambda rows: np.array([2.0**n if row is None else row for n, row in enumerate(rows)])
)


PACES = st.builds(
    Pace,
    window=st.integers(20, 80),
    rate=st.sampled_from([0.005, 0.05, 0.5]),
    lead=st.integers(1, 6),
)


def begin(pace, levels=(0.9,)):
    return Rolling.begin(levels, POSITIONS, pace)
