"""The paper's published values per seed, and their differences from ours."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

PER_SEED = Path(__file__).parent / "paper" / "per_seed.parquet"


class Comparison(NamedTuple):
    dataset: str
    seed_index: int
    method: str
    metric: str
    ours: float
    published: float

    @property
    def relative_difference(self) -> float:
        return (self.ours - self.published) / abs(self.published)


def per_seed(variant: str) -> pd.Series:
    """Return the values by (dataset, seed_index, method, metric)."""
    table = pd.read_parquet(PER_SEED)
    table = table[table["variant"] == variant]
    return table.set_index(["dataset", "seed_index", "method", "metric"])["value"].sort_index()


def compare(
    results: dict[str, dict[str, float]], published: pd.Series, dataset: str, seed_index: int
) -> list[Comparison]:
    """Return one line for each method and metric of `results`, in their order."""
    lines = []
    for method, values in results.items():
        for metric, ours in values.items():
            theirs = float(published[dataset, seed_index, method, metric])
            lines.append(Comparison(dataset, seed_index, method, metric, ours, theirs))
    return lines
