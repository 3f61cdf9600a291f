"""The parts of `mixed`: what each of them fits and compares."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from experiments import mixed_parts
from experiments.mixed_data import Mixed


def test_new_towns_are_in_no_row_that_trains():
    table, column, new = mixed_parts.WITH_CATEGORIES["30 towns"](0)
    is_new = table.X[column].is_in(new)
    assert table.X.filter(~is_new)[column].n_unique() == 30
    assert table.X.filter(is_new)[column].n_unique() == 100
    assert (~is_new).sum() > mixed_parts.MOST_TO_TRAIN


@pytest.mark.parametrize("name", ["friedman", "correlated"])
def test_tables_without_gaps_have_none(name):
    table = mixed_parts.of_numbers(name, 0)
    assert sum(table.X.null_count().row(0)) == 0
    train, test = mixed_parts.rows_of(table, 0)
    assert (len(train.y), len(test.y)) == (1000, 2000)
    assert not set(train.y) & set(test.y)


class Spy:
    """A stand-in for `fit` that records the training tables."""

    def __init__(self):
        self.tables = []

    def __call__(self, train, seed):
        self.tables.append(train)
        return self, 1.0


@pytest.fixture
def spy(monkeypatch):
    spy = Spy()
    monkeypatch.setattr(mixed_parts, "fit", spy)
    monkeypatch.setattr(mixed_parts, "scores", lambda model, test: {"test": test})
    return spy


def test_gaps_are_as_many_as_the_way_says(spy):
    ways = {way: measured["test"] for way, measured in mixed_parts.gaps("friedman", 0)}
    assert len(spy.tables) == 1
    gone = {way: np.isnan(test.X.to_numpy()).sum(axis=1) for way, test in ways.items()}
    for way, count in (("none", 0), ("one", 1), ("two", 2), ("half", 5)):
        assert set(gone[way]) == {count}


def test_names_are_nearly_unique_and_the_rest_is_the_same(spy):
    ways = dict(mixed_parts.unique("friedman", 0))
    without, with_names = spy.tables
    assert with_names.X.drop("listing").equals(without.X)
    both = pl.concat([with_names.X, ways["with"]["test"].X])["listing"]
    assert 0.9 < both.n_unique() / len(both) < 1


def test_a_time_stamp_and_its_parts_are_of_the_same_rows(spy):
    ways = dict(mixed_parts.stamp("bicycles", 0))
    parts, stamp = (ways[way]["test"] for way in ("parts", "stamp"))
    np.testing.assert_array_equal(parts.y, stamp.y)
    assert stamp.X["at"].dt.hour().to_list() == parts.X["hour"].to_list()


def test_codes_are_numbers_text_and_both(spy):
    numbers, text, both = (measured["test"].X for _, measured in mixed_parts.codes("stores", 0))
    assert numbers["store"].dtype.is_integer()
    assert text["store"].dtype == pl.String
    assert both["store as text"].to_list() == text["store"].to_list()


def test_rows_are_kept_and_compared_with_the_first_way(monkeypatch, tmp_path):
    def run(name, seed):
        yield "without", dict.fromkeys(mixed_parts.MEASURES, 2.0)
        yield "with", dict.fromkeys(mixed_parts.MEASURES, 3.0) | {"picp": 0.5}

    part = mixed_parts.Part("?", ("a",), run, ("without", "with"))
    monkeypatch.setitem(mixed_parts.PARTS, "unique", part)
    path = tmp_path / "rows.csv"
    mixed_parts.run_missing("unique", ["a"], [0, 1], path)
    monkeypatch.setitem(mixed_parts.PARTS, "unique", part._replace(run=None))
    mixed_parts.run_missing("unique", ["a"], [0, 1], path)  # nothing is left to run
    lines = list(mixed_parts.table("unique", pd.read_csv(path)))
    assert "| a | 2 | with | 0.500 | +50.0 % | +50.0 % | +50.0 % | +50.0 % | 3.000 | 3.0 |" in lines


def test_rows_to_take_are_of_table_and_target_alike():
    table = Mixed(pl.DataFrame({"x": [1, 2, 3]}), np.array([1.0, 2.0, 3.0]))
    some = mixed_parts.take(table, np.array([2, 0]))
    assert some.X["x"].to_list() == some.y.tolist()
