import linecache
import warnings

import numpy as np
import polars as pl
import pytest

from clearbands import CalibrationWarning, ClearCalibrator, ClearRegressor, fast
from clearbands.rows.telling import unsaid, warn


def noticed(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return told


def shown(warning):
    return linecache.getline(warning.filename, warning.lineno)


def test_own_lines_are_passed_over():
    [told] = noticed(lambda: warn("Look here.", FutureWarning))  # this line
    assert told.category is FutureWarning
    assert str(told.message) == "Look here."
    assert told.filename == __file__
    assert "# this line" in shown(told)


def test_what_is_kept_back_is_of_the_kind_that_was_named_and_said_again_afterwards():
    def said():
        with unsaid(FutureWarning):
            warn("Kept back.", FutureWarning)
            warn("Said.", UserWarning)
        warn("Said again.", FutureWarning)

    assert [str(told.message) for told in noticed(said)] == ["Said.", "Said again."]


def test_few_rows_are_told_of_once_not_for_every_pair_that_competes():
    X = np.random.default_rng(0).normal(size=(6, 2))
    told = noticed(lambda: ClearRegressor(random_state=0).fit(X, X[:, 0]))
    about_rows = [each for each in told if each.category is CalibrationWarning]
    assert len(about_rows) == 1, [str(each.message) for each in about_rows]
    assert "6 calibration rows are too few for level 0.9" in str(about_rows[0].message)


@pytest.mark.slow
def test_a_warning_points_at_the_call_however_deep_it_was_noticed(tmp_path):
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 1)), 2, axis=0)
    y = 2 * X[:, 0] + np.repeat(np.random.default_rng(1).normal(size=60), 2)
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"x": X[:, 0], "y": y}).write_parquet(file)
    arrays = y[:5], y[:5], np.ones((5, 2)), np.ones((5, 2))
    calls = {
        "copies": lambda: fast(random_state=0).fit(X, y),
        "copies in files": lambda: fast(random_state=0).fit(file, "y"),
        "too few rows": lambda: ClearCalibrator(confidence_level=0.9).fit(*arrays),
    }
    for name, call in calls.items():
        told = noticed(call)
        assert told, name
        assert {warning.filename for warning in told} == {__file__}, name
