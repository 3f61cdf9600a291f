"""Columns that the target rises or falls with: the promised order holds for any two rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from clearbands import (
    ClearRegressor,
    ModelSearch,
    fast,
    load,
    metrics,
    save,
    variant_b,
)
from clearbands.apps.report.answer import directions as directions_in_words
from clearbands.apps.report.facts import gather_facts
from clearbands.models.monotone import FixedColumns, directions, directions_of

QUICK = ModelSearch(folds=3, repeats=1, averaged=2)


def draw_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 3))
    f = 5 * X[:, 0] ** 2 - 3 * X[:, 1] + np.sin(6 * X[:, 2])
    noise = rng.exponential(size=n) - 1  # skewed: the median is not the mean
    return X, f + noise * (0.3 + X[:, 0] + X[:, 2])


def along(column, values, seed=1, n=25):
    """Return groups of len(values) rows that differ in one column alone, also beyond the data."""
    X = np.random.default_rng(seed).uniform(-0.3, 1.3, (n, 3))
    X = np.repeat(X, len(values), axis=0)
    X[:, column] = np.tile(values, n)
    return X


def everything(model, X):
    """Return all answers about rows that should rise with the targets."""
    said = model.answers(X)
    found = [
        said.center,
        said.interval().reshape(len(X), -1),
        said.interval([0.3, 0.8, 0.99]).reshape(len(X), -1),
        said.interval(0.95, "lower")[:, 0],
        said.interval(0.95, "upper")[:, 1],
        said.quantiles([0.02, 0.3, 0.5, 0.7, 0.98]),
        said.probability(above=1.0),
        said.distribution().mean(),
    ]
    return np.column_stack(found)


MODELS = {
    "fast": lambda: fast(monotone={0: 1, 1: -1}, random_state=0),
    "two levels": lambda: fast(
        monotone=[1, -1, 0], confidence_level=[0.5, 0.9], target_transform="sqrt", random_state=0
    ),
    "apart": lambda: fast(
        monotone={0: 1, 1: -1}, calibration="conformal", calibration_size=0.7, random_state=0
    ),
    "time": lambda: fast(monotone={0: 1, 1: -1}, split="time", random_state=0),
    "competing": lambda: ClearRegressor(monotone={0: 1, 1: -1}, search=QUICK, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_whatever_is_said_keeps_the_order(name):
    X, y = draw_rows(300)
    model = MODELS[name]().fit(X, y - y.min())
    for column, way in ((0, 1), (1, -1)):
        for ends, rounding in (((0.01, 0.99), 0), ((-0.5, 1.6), 1e-12)):
            values = np.linspace(*ends, 22)
            found = everything(model, along(column, values)).reshape(25, len(values), -1)
            assert (way * np.diff(found, axis=1)).min() >= -rounding


def test_the_order_survives_a_file_and_an_update(tmp_path):
    X, y = draw_rows(300)
    model = fast(monotone={0: 1}, random_state=0).fit(X, y)
    save(model, tmp_path / "m.clear")
    again = load(tmp_path / "m.clear")
    rows = along(0, np.linspace(-0.5, 1.6, 22))
    np.testing.assert_array_equal(everything(again, rows), everything(model, rows))
    again.update(*draw_rows(200, seed=5))
    assert np.diff(everything(again, rows).reshape(25, 22, -1), axis=1).min() >= -1e-12


def test_it_covers_and_without_it_the_order_is_broken():
    X, y = draw_rows(400)
    new, y_new = draw_rows(2000, seed=9)
    free, model = (fast(monotone=way, random_state=0).fit(X, y) for way in (None, {0: 1, 1: -1}))
    assert metrics.picp(y_new, model.predict_interval(new)[1][:, :, 0]) == pytest.approx(
        0.9, abs=0.04
    )
    rows = along(0, np.linspace(0, 1, 22))
    assert (np.diff(free.predict(rows).reshape(25, 22)) < 0).any()


def test_no_directions_are_none():
    X, y = draw_rows(100)
    free, zeros, empty = (fast(monotone=m, random_state=0).fit(X, y) for m in (None, [0, 0, 0], {}))
    for model in (zeros, empty):
        np.testing.assert_array_equal(model.predict_interval(X)[1], free.predict_interval(X)[1])


def test_columns_of_a_table_go_by_name():
    X, y = draw_rows(200)
    table = pd.DataFrame(X, columns=["size", "age", "depth"])
    table.insert(1, "town", np.resize(["Aix", "Bex", None], 200))
    table.insert(0, "sold", pd.date_range("2024-01-01", periods=200))
    table.loc[3, "size"] = np.nan
    model = fast(monotone={"size": 1, "sold": -1}, random_state=0).fit(table, y)
    low, high = table.assign(size=0.2), table.assign(size=0.6)
    assert (model.predict_interval(high)[1] >= model.predict_interval(low)[1]).all()
    later = low.assign(sold=low["sold"] + pd.Timedelta(days=20))
    assert (model.predict_interval(later)[1] <= model.predict_interval(low)[1]).all()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"monotone": "size"}, "monotone must be like"),
        ({"monotone": {"size": 2}}, "1 for a column to rise with, -1 to fall with"),
        ({"monotone": {"size": True}}, "1 for a column to rise with"),
        ({"monotone": {"sizes": 1}}, "monotone names 'sizes', but the columns of X are size, town"),
        ({"monotone": [1]}, "monotone has 1 directions, but X has 2 columns"),
        ({"monotone": {"town": 1}}, "'town', which holds text"),
        ({"monotone": {"size": 1}, "encoder": StandardScaler()}, "and StandardScaler does not"),
        ({"monotone": {"size": 1}, "encoder": None}, "what becomes of each column"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters, said):
    X, y = draw_rows(60)
    table = pd.DataFrame({"size": X[:, 0], "town": np.resize(["Aix", "Bex"], 60)})
    if "encoder" in parameters:
        table = table[["size"]]
    with pytest.raises(ValueError, match=said):
        fast(**parameters).fit(table, y)


def test_parts_that_cannot_promise_it_are_refused_and_groups_of_the_column():
    X, y = draw_rows(60)
    with pytest.raises(ValueError, match="PCSEnsemble cannot keep to monotone"):
        variant_b(monotone={0: 1}).fit(X, y)
    table = pd.DataFrame({"size": np.resize([1.0, 2.0], 60), "age": X[:, 0]})
    with pytest.raises(ValueError, match="calibration_groups='size' have bounds of their own"):
        fast(monotone={"size": 1}).fit(table, y, calibration_groups="size")


def test_a_table_in_files_says_that_it_knows_none(tmp_path):
    X, y = draw_rows(60)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="monotone is for rows in memory"):
        fast(monotone=[1, 0, 0]).fit(tmp_path / "rows.parquet", "y")


def test_still_rows_follow_weights_as_repeated_rows():
    X = np.random.default_rng(0).normal(size=(30, 2))
    weight = np.random.default_rng(1).integers(1, 4, 30)
    one = FixedColumns.at_medians(X, np.array([0, 1]), weight.astype(float))
    other = FixedColumns.at_medians(np.repeat(X, weight, axis=0), np.array([0, 1]), None)
    assert one.columns.tolist() == [1]
    np.testing.assert_array_equal(one.values, other.values)
    assert directions({"b": -1}, ["a", "b"]).tolist() == [0, -1]


def test_directions_are_told_by_model_and_report():
    for library in ("jinja2", "matplotlib"):
        pytest.importorskip(library, reason="the extra `report` is not installed")
    X, y = draw_rows(150)
    table = pd.DataFrame(X, columns=["size", "age", "luck"])
    told = {"size": 1, "age": -1}
    model = fast(monotone=told, random_state=0).fit(table, y)
    assert directions_of(model) == told
    facts = gather_facts(model, table, y)
    assert directions_in_words(facts) == "rise with “size” and fall with “age”"
    assert "both bounds rise with “size” and fall with “age”" in model.report(table, y).html
    free = fast(random_state=0).fit(X, y)
    assert directions_of(free) == {}
    assert directions_in_words(gather_facts(free, X, y)) == ""
    by_place = fast(monotone=[0, 0, 1], random_state=0).fit(X, y)
    assert directions_of(by_place) == {"x2": 1}
