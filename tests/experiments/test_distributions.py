"""Scores of distributions have known values, and no row is computed twice."""

import numpy as np
import pandas as pd
import pytest

from clearbands import fast
from experiments import distributions, labelling, rows


def test_quantiles_of_the_truth_are_uniform_and_shifted_ones_are_not():
    y = np.random.default_rng(0).uniform(size=5000)
    truth = np.tile(distributions.LEVELS, (5000, 1))
    found = distributions.scores(y, truth)
    assert found["pit_distance"] < 0.03
    assert found["coverage_80"] == pytest.approx(0.8, abs=0.02)
    assert found["crps"] == pytest.approx(1 / 6, abs=0.01)  # known for uniform y
    off = distributions.scores(y, truth + 0.2)
    assert off["pit_distance"] == pytest.approx(0.2, abs=0.03)
    assert off["crps"] > found["crps"]


def test_rows_that_are_there_are_known(tmp_path):
    path = tmp_path / "rows.csv"
    assert rows.known(path, ("a", "b")) == set()
    rows.append(path, ("a", "b", "value"), [{"a": "x", "b": 1, "value": 0.123456789}])
    rows.append(path, ("a", "b", "value"), [{"a": "y", "b": 2, "value": 3.0}])
    assert rows.known(path, ("a", "b")) == {("x", 1), ("y", 2)}
    assert pd.read_csv(path)["value"].tolist() == [0.123457, 3.0]


@pytest.fixture(scope="module")
def trial():
    """Beginnings of `labelling` with fast models."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelling, "ClearRegressor", fast)
        patch.setattr(labelling, "STEPS", 1)
        yield labelling.Trial(X, X[:, 0] + 0.1 * rng.normal(size=500), 0)


@pytest.mark.parametrize("rule", labelling.RULES)
def test_every_rule_asks_for_other_rows(trial, rule):
    first, last = labelling.curve(trial, labelling.RULES[rule])
    assert [first["labelled"], last["labelled"]] == [100, 200]
    assert last["rmse"] < first["rmse"]


def test_the_farthest_row_is_asked_for_first():
    pool = np.array([[0.0], [5.0], [1.0], *[[0.1]] * 60])
    chosen = labelling.by_distance(None, pool, np.zeros((1, 1)), None)
    assert chosen[:2].tolist() == [1, 2]
