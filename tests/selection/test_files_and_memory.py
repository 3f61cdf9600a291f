import numpy as np
import polars as pl
import pytest

from clearbands import fast
from clearbands.rows.targets import TargetWarning


def test_a_fit_on_files_forgets_the_times_of_the_fit_before(tmp_path):
    x = np.linspace(0, 1, 60)
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"x": x, "y": x}).write_parquet(file)
    model = fast(split="time", random_state=0).fit(x[:, None], x, time=np.arange(60))
    assert model.last_time_ == 59
    model.set_params(split="random").fit(file, "y")
    assert model.last_time_ is None


def test_a_table_in_files_gets_the_same_hint_as_one_in_memory(tmp_path):
    rng = np.random.RandomState(0)
    frame = pl.DataFrame({"x": rng.rand(300), "y": rng.exponential(size=300)})
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file)
    with pytest.warns(TargetWarning, match="No target is negative"):
        fast(random_state=0).fit(frame.select("x"), frame["y"].to_numpy())
    with pytest.warns(TargetWarning, match="No target is negative"):
        fast(random_state=0).fit(file, "y")
