"""A messy table."""

from __future__ import annotations

import numpy as np
import polars as pl


def messy(n_rows, seed=0):
    """Return a table with a nameless index, an id, a stray cell, commas, codes and a constant."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(30, 200, n_rows)
    sizes = [f"{value:.2f}" for value in size]
    return pl.DataFrame(
        {
            "": range(n_rows),
            "HouseId": range(1000 * seed + 500, 1000 * seed + 500 + n_rows),
            "size": [*sizes[:-1], "?"],
            "lot": [f"{value:,}" for value in rng.integers(500, 9000, n_rows)],
            "zip": rng.choice(["01067", "8001"], n_rows),
            "country": ["CH"] * n_rows,
            "price": (4 * size + rng.normal(0, 20, n_rows)).round(2),
        }
    )
