"""The comparison of series: its scores and rows, and lags that do not know the future."""

import numpy as np
import pandas as pd
import pytest

from experiments import series, series_data, series_methods
from experiments.series_data import Series


def test_scores_by_hand():
    y = np.array([0.0, 0.0, 2.0, 0.0])
    bounds = np.tile([-1.0, 1.0], (4, 1))
    found = series.scores(y, bounds, 0.9, month=2)
    assert (found["coverage"], found["width"], found["worst_month"]) == (0.75, 2, 0.5)
    # The loss is 0.05 of each half width, and half of the distance of the row outside.
    assert found["quantile_loss"] == pytest.approx(0.05 + 0.5 / 4)


def half_hours():
    times = pd.date_range("2014-01-01", periods=2 * 24 * 30, freq="30min", name="time")
    demand = np.arange(len(times), dtype=float)
    columns = {"Demand": demand, "WorkDay": 1, "Temperature": 20.0}
    return pd.DataFrame(columns, index=times).reset_index()


def test_nothing_later_than_the_forecast_is_among_the_features():
    table = half_hours()
    found = series_data.elecdemand(table)
    changed = table.copy()
    changed.loc[changed["time"] >= "2014-01-20", "Demand"] = -1e6
    other = series_data.elecdemand(changed)
    known = found.time < np.datetime64("2014-01-21")  # a day after the change
    pd.testing.assert_frame_equal(found.X[known], other.X[known])
    assert not found.X[~known].equals(other.X[~known])


def rows(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=n)})
    return Series(X, X["x"].to_numpy() + rng.normal(size=n), np.arange(n), ahead=7, month=30)


def test_blocks_are_all_test_rows_in_order():
    found = [np.arange(400)[block] for block in series_methods.blocks(rows())]
    np.testing.assert_array_equal(np.concatenate(found), np.arange(240, 400))
    assert {len(block) for block in found[:-1]} == {7}


@pytest.mark.parametrize("method", ["lightgbm", "mapie_enbpi", "mapie_aci"])
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the peers warn
def test_peers_answer_for_every_test_row(method):
    pytest.importorskip("lightgbm")
    pytest.importorskip("mapie")
    (bounds,) = getattr(series_methods, method)(rows(), 777)
    assert bounds.shape == (160, 2)
    assert 0.75 < series.scores(rows().y[240:], bounds, 0.9, 30)["coverage"] <= 1


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    def given(series, seed):
        ran.append(seed)
        yield np.tile([-3.0, 3.0], (160, 1))

    ran, path = [], tmp_path / "time.csv"
    monkeypatch.setattr(series_data, "load", lambda name: rows())
    for methods in ({("one",): given}, {("one",): given, ("other",): given}):
        monkeypatch.setattr(series_methods, "METHODS", methods)
        series.run_missing(["chicago"], [777], path)
    assert ran == [777, 777]
    found = pd.read_csv(path)
    assert found["method"].tolist() == ["one", "other"]
    assert found["width"].tolist() == [6, 6]


def test_the_table_has_means_over_seeds():
    found = pd.DataFrame(
        {"series": "s", "seed": [1, 2], "method": "m", "coverage": [0.8, 1.0], "width": [1.0, 3.0]}
        | {"quantile_loss": [0.1, 0.3], "worst_month": [0.5, 0.7]}
    )
    assert series.table(found).splitlines()[-1] == "| s | m | 0.900 | 0.600 | 2 | 0.2 |"
