"""Intervals of three rows."""

from __future__ import annotations

import numpy as np
import pytest

from clearbands.prediction.uncertainty import Uncertainty


@pytest.fixture
def parts():
    center = np.array([20.0, 10.0, 30.0])
    aleatoric = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return Uncertainty(center, aleatoric, np.full((3, 2), 0.5), 0.9)
