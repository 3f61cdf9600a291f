"""A model knows its rows again, whatever their order and the file they come from."""

from dataclasses import replace

import numpy as np
import polars as pl

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles, load, save
from clearbands.persistence.origin import record_origin
from clearbands.tables.fingerprints import hash_rows


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["a", "b", None], n).tolist()
    X = pl.DataFrame({"size": rng.normal(size=n), "rooms": rng.integers(1, 5, n), "town": town})
    return X, rng.normal(size=n)


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
    assert not hasattr(model.fit(X, y), "origin_")  # it told of another fit
