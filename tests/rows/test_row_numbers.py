"""Rows are named by their own numbers."""

import numpy as np
import pandas as pd
import pytest

from clearbands import fast
from clearbands.rows.row_numbers import row_name, rows_of_a_file, rows_stand_as


def test_rows_of_files_keep_their_numbers_where_they_are_sorted_and_chosen():
    assert row_name(0) == "row 0 (counted from 0)"
    with rows_of_a_file():
        rows_stand_as(np.array([4, 2, 0, 1, 3]))
        rows_stand_as(np.array([3, 0]))
        assert row_name(0) == "row 2 (counted from 1)"
        assert row_name(1) == "row 5 (counted from 1)"
    with rows_of_a_file():
        assert row_name(1_234) == "row 1,235 (counted from 1)"
    assert row_name(0) == "row 0 (counted from 0)"


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_a_fit_names_the_row_as_it_was_given(calibration):
    x = np.linspace(0, 1, 100)
    X, y = pd.DataFrame({"x": x}), x + np.resize([0.0, 0.1], 100)
    model = fast(calibration=calibration, random_state=0)
    with pytest.raises(ValueError, match=r"Column 'x' contains infinity, first in row 59 "):
        model.fit(pd.DataFrame({"x": np.where(X.index == 59, np.inf, x)}), y)
    wrong = np.where(np.arange(100) == 59, -1.0, y)
    for parameters in ({"support": (0, None)}, {"target_transform": "sqrt"}):
        model.set_params(support=None, target_transform=None).set_params(**parameters)
        with pytest.raises(ValueError, match=r"-1 in row 59 \(counted from 0\)"):
            model.fit(X, wrong)
