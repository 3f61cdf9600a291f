"""Fingerprints of rows: numbers by which a row is recognised."""

import numpy as np
import polars as pl

from clearbands.tables.fingerprints import hash_rows
from tests.persistence.town_rows import rows


def test_every_column_and_its_place_counts():
    X, y = rows(50)
    first = hash_rows(X, y)
    assert len(set(first)) == 50
    for other in (
        X.with_columns(rooms=pl.col("rooms") + 1),
        X.with_columns(town=pl.lit("c")),
        X.with_columns(town=pl.col("town").fill_null("d")),
    ):
        changed = (hash_rows(other, y) != first).sum()
        assert changed >= X["town"].null_count()
    swapped = pl.DataFrame({"a": [1.0], "b": [2.0]}), pl.DataFrame({"a": [2.0], "b": [1.0]})
    assert hash_rows(swapped[0], np.zeros(1)) != hash_rows(swapped[1], np.zeros(1))


def test_all_ways_to_be_missing_and_both_zeros_are_one():
    y = np.zeros(2)
    gaps = hash_rows(pl.DataFrame({"a": [None, float("nan")]}, strict=False), y)
    texts = hash_rows(pl.DataFrame({"a": [None, ""]}), y)
    zeros = hash_rows(pl.DataFrame({"a": [0.0, -0.0]}), y)
    assert gaps[0] == gaps[1]
    assert texts[0] == texts[1]
    assert zeros[0] == zeros[1]
