"""A model recognises its rows, whatever their order and the file that they come from."""

from dataclasses import replace

import numpy as np
import polars as pl

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles, load, save
from clearbands.persistence.origin import record_origin
from tests.persistence.town_rows import rows


def test_rows_are_known_again_in_any_order_and_as_other_numbers():
    X, y = rows(200)
    origin = record_origin(X, y, target="price")
    order = np.random.default_rng(1).permutation(200)
    as_floats = X[order].cast({"rooms": pl.Float64})
    assert origin.count_seen(as_floats, y[order]) == 200
    assert origin.fingerprint == record_origin(as_floats, y[order], target="price").fingerprint
    assert origin.count_seen(X[:50], y[:50]) == 50
    new, y_new = rows(100, seed=2)
    assert origin.count_seen(new, y_new) == 0
    assert origin.count_seen(pl.concat([new, X[:30]]), np.append(y_new, y[:30])) == 30
    assert origin.count_seen(X, y + 1) == 0


def test_of_very_many_rows_a_part_is_enough(monkeypatch):
    monkeypatch.setattr("clearbands.persistence.origin.MOST_ROWS", 500)
    X, y = rows(5000)
    origin = record_origin(X, y, target="price")
    assert len(origin.rows) == 500
    assert origin.count_seen(X, y) == 5000
    half = pl.concat([X[:1000], rows(1000, seed=3)[0]])
    y_half = np.append(y[:1000], rows(1000, seed=3)[1])
    assert 800 < origin.count_seen(half, y_half) < 1200


def test_the_record_goes_into_the_file(tmp_path):
    X, y = rows(60)
    model = ClearRegressor(
        PCSEnsemble({"linear": LinearQuantiles()}, n_bootstraps=3),
        ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        calibration="joint",
        random_state=0,
    ).fit(X, y)
    model.origin_ = record_origin(X, y, target="price", unit="EUR", id="nr", data="houses.csv")
    save(model, tmp_path / "model.cb")
    origin = load(tmp_path / "model.cb").origin_
    np.testing.assert_array_equal(origin.rows, model.origin_.rows)
    assert replace(origin, rows=None) == replace(model.origin_, rows=None)
    assert origin.count_seen(X, y) == 60
    assert not hasattr(model.fit(X, y), "origin_")  # it belonged to the former fit
