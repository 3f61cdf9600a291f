"""Types of arguments that several modules use."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from narwhals.stable.v1.typing import IntoDataFrame
from numpy.typing import ArrayLike

Seed: TypeAlias = int | np.random.RandomState | None
"""A seed, as in scikit-learn's `random_state`."""

Table: TypeAlias = np.ndarray | IntoDataFrame
"""X as `clearbands.rows.frames.check_table` returns it: floats, or a table of pandas or polars."""

TableLike: TypeAlias = Table | ArrayLike
"""X as users give it: an array, a table of pandas, polars or the like, or lists of rows."""
