"""Columns of groups read alike from arrays and frames, as labels or as numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.rows.group_columns import are_columns, read_group_columns

COLUMNS = {"town": ["Aix", None, "Bex"], "late": [True, False, True], "year": [1999, 2001, 2005]}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_read_alike(frame):
    groups = read_group_columns(frame(COLUMNS), 3)
    assert groups.dtype.names == ("town", "late", "year")
    assert groups["town"].tolist() == ["Aix", "missing", "Bex"]
    assert groups["late"].tolist() == [1.0, 0.0, 1.0]
    assert groups["year"].tolist() == [1999.0, 2001.0, 2005.0]
    assert read_group_columns(groups, 3) is groups
    assert are_columns(frame(COLUMNS))
    assert are_columns(groups[:1])


def test_arrays_have_columns_and_labels_have_none():
    assert are_columns(np.ones((3, 1), bool))
    assert are_columns([[True, "Aix"], [False, "Bex"]])
    assert not are_columns(["Aix", "Bex"])
    assert not are_columns("town")
    assert read_group_columns([[True, "Aix"], [False, "Bex"]], 2)["1"].tolist() == ["Aix", "Bex"]


@pytest.mark.parametrize(
    ("groups", "n", "message"),
    [
        (["Aix", "Bex"], 2, "several columns"),
        (np.ones((2, 2)), 3, "must have 3 rows"),
        (np.ones((3, 0)), 3, "at least one column"),
        ([[1.0], [np.inf]], 2, "'0' of calibration_groups holds gaps or infinite"),
    ],
)
def test_what_are_no_groups_is_refused(groups, n, message):
    with pytest.raises(ValueError, match=message):
        read_group_columns(groups, n)
