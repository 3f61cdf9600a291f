"""The outlook counts observations: a copy of a row is not a new one, in memory and in files.

It covers the finite intervals alone, without groups that have too few rows for any bound.
"""

import numpy as np
import polars as pl
import pytest

from clearbands import fast
from clearbands.scaling.work import WorkFolder


def lines(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


def test_copies_up_to_rounding_are_one_observation():
    X, y = lines(150)
    X, y = np.vstack([X, X.astype(np.float32)]), np.tile(y, 2)
    with pytest.warns(UserWarning, match="300 of 300 rows have a copy"):
        model = fast(random_state=0, n_jobs=1).fit(X, y)
    assert model.outlook_.posterior.rows == 150


def test_copies_in_the_sample_tell_how_many_there_are_in_the_files(tmp_path):
    X, y = lines(300)
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    pl.concat([table] * 4).write_parquet(tmp_path / "table.parquet")
    work = WorkFolder(tmp_path / "work", sample_rows=400)
    with pytest.warns(UserWarning, match="have a copy"):
        model = fast(random_state=0, n_jobs=1).fit(tmp_path / "table.parquet", "y", work=work)
    rows = model.outlook_.posterior.rows
    assert model.n_train_ == 1200
    assert 400 < rows < 1200  # fewer than 400 of the 400 rows in memory are different


def test_a_group_of_infinite_bounds_leaves_the_forecast_finite():
    X, y = lines(200)
    labels = np.array(["many"] * 170 + ["few"] * 30)
    with pytest.warns(UserWarning, match="within few"):  # 3 rows calibrate it, and 9 would have to
        model = fast(calibration="conformal", random_state=0, n_jobs=1).fit(
            X, y, calibration_groups=labels
        )
    _, intervals = model.predict_interval(X, calibration_groups=labels)
    assert not np.isfinite(intervals[170:]).any()
    assert np.isfinite(intervals[:170]).all()
    forecast = model.forecast()
    columns = forecast.columns()
    assert all(np.isfinite(columns[name]).all() for name in ("width", "loss", "rmse"))
    assert 1 < forecast.width < 10  # 90 % of normal errors of size 1
