"""Types of what users give that several rooms name."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Seed: TypeAlias = int | np.random.RandomState | None
"""As scikit-learn's `random_state`."""
