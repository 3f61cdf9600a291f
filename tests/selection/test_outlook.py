"""The outlook counts observations: a copy of a row is no new one, wherever the rows are."""

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
    assert 400 < rows < 1200  # of 400 rows that are in memory, fewer than 400 are different
