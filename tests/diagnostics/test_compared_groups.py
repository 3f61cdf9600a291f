"""The groups within which a diagnosis compares."""

import numpy as np
import pandas as pd
import pytest

from clearbands import diagnose
from clearbands.diagnostics.compared_groups import (
    compared_groups,
    has_groups,
    needed_groups,
    pooled_bounds,
)
from tests.toys import linear_clear, noisy_line

X, Y = noisy_line(300)
LOUD = np.where(X[:, 1] > 0, "loud", "quiet")
TABLE = pd.DataFrame({"x": X[:, 0], "noise": LOUD})


@pytest.fixture(scope="module")
def plain():
    return linear_clear().fit(X, Y)


@pytest.fixture(scope="module")
def by_labels():
    return linear_clear().fit(X, Y, calibration_groups=LOUD)


@pytest.fixture(scope="module")
def by_column():
    return linear_clear().fit(TABLE, Y, calibration_groups="noise")


def test_a_model_that_was_calibrated_by_labels_needs_labels_again(plain, by_labels, by_column):
    assert [has_groups(model) for model in (plain, by_labels, by_column)] == [False, True, True]
    assert needed_groups(by_labels, LOUD) is LOUD
    assert needed_groups(plain, LOUD) is None
    assert needed_groups(by_column, LOUD) is None  # the model reads them from its table


def test_the_column_of_the_model_is_compared_where_no_labels_come(plain, by_labels, by_column):
    assert compared_groups(by_column, TABLE, None) == LOUD.tolist()
    other = np.arange(300) % 2
    assert compared_groups(by_column, TABLE, other) is other
    assert compared_groups(by_labels, X, None) is None
    assert compared_groups(plain, X, None) is None


def test_columns_of_groups_are_compared_one_by_one():
    far, steep = X[:, 0] > 0, X[:, 1]
    columns = pd.DataFrame({"noise": LOUD, "far": far, "steep": steep})
    given = linear_clear().fit(X, Y, calibration_groups=columns)
    named = linear_clear().fit(columns, Y, calibration_groups=list(columns))
    with pytest.raises(ValueError, match="or give the columns as by"):
        needed_groups(given, LOUD)
    found = [diagnose(given, X, Y, by=columns), diagnose(named, columns, Y)]
    for diagnosis in found:
        cells = [(cell.by, cell.label) for cell in diagnosis.by_group]
        assert cells[:4] == [("noise", "loud"), ("noise", "quiet"), ("far", "0"), ("far", "1")]
        assert [by for by, _ in cells[4:]] == ["steep"] * 3  # in thirds
        assert len(diagnosis.by_group_together) == 7


def test_together_loud_rows_would_get_less_and_nobody_more(plain, by_column):
    assert pooled_bounds(plain, X, 0.9) is None
    together = np.diff(pooled_bounds(by_column, TABLE, 0.9), axis=1)[:, 0]
    apart = np.diff(by_column.predict_interval(TABLE)[1][:, :, 0], axis=1)[:, 0]
    loud = LOUD == "loud"
    assert (together[loud] < apart[loud]).all()
    assert (together[~loud] <= apart[~loud]).all()
