"""Where coverage holds: known gaps, a table of rows, and ERT against another package."""

import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from clearbands import diagnostics
from clearbands.rows.bands import covered
from experiments import __main__, conditional, datasets


def test_a_gap_is_the_mean_over_fifths():
    hit, values = np.repeat([True, True, True, True, False], 20), np.arange(100.0)
    assert conditional.gap(hit, values, 0.9) == pytest.approx((4 * 0.1 + 0.9) / 5)
    assert conditional.gap(np.resize(np.arange(10) > 0, 100), values, 0.9) == pytest.approx(0)


def test_chance_covers_the_level_whatever_the_rows():
    y = np.random.default_rng(0).normal(size=20_000)
    split = types.SimpleNamespace(test=np.arange(len(y)))
    case = types.SimpleNamespace(y=y, split=split, seed=0, level=0.9)
    intervals = conditional.by_chance(case)
    hit = covered(y, intervals)
    assert hit.mean() == pytest.approx(0.9, abs=0.01)
    for values in (y, intervals.mean(axis=1), intervals[:, 1] - intervals[:, 0]):
        assert conditional.gap(hit, values, 0.9) < 0.01


def test_rows_are_kept_and_ranked(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "target": X[:, 0] + rng.normal(size=600)})
    table.to_parquet(tmp_path / "airfoil.parquet")
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    wide = {"wide": lambda case: np.tile([-3.0, 3.0], (len(case.split.test), 1))}
    monkeypatch.setattr(conditional, "ways", lambda: wide | {"chance": conditional.by_chance})
    path = tmp_path / "rows.csv"
    command = ["conditional", "--datasets", "airfoil", "--seeds", "777", "--results", str(path)]
    assert __main__.main(command) == 0
    assert "| wide |" in capsys.readouterr().out
    before = path.read_text()
    assert __main__.main([*command, "--table"]) == 0
    assert path.read_text() == before
    assert __main__.main([*command, "--level", "0.95", "--methods", "wide", "chance"]) == 0
    assert pd.read_csv(path)["level"].tolist() == [0.9, 0.9, 0.95, 0.95]


@pytest.fixture
def covmetrics(monkeypatch):
    """Import ERT of covmetrics, which names tensors: without torch, an empty class stands in."""
    try:
        import torch  # noqa: F401
    except ImportError:
        stand_in = types.ModuleType("torch")
        stand_in.Tensor = stand_in.device = type("Tensor", (), {})
        monkeypatch.setitem(sys.modules, "torch", stand_in)
    return pytest.importorskip("covmetrics.ERT")


def test_ert_is_that_of_covmetrics(covmetrics):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = rng.normal(size=900) * np.where(X[:, 0] > 0, 2.0, 0.8)
    intervals = np.tile([-2.0, 2.0], (900, 1))
    options = {"n_estimators": 30, "min_samples_leaf": 10, "random_state": 0}
    own = diagnostics.excess_risk(
        y, intervals, X, 0.9, classifier=RandomForestClassifier(**options)
    )
    hit = covered(y, intervals).astype(float)
    theirs = covmetrics.ERT(RandomForestClassifier, **options)
    folds = np.random.RandomState(0).randint(2**31 - 1)  # drawn as ours draws it
    value = theirs.evaluate(X, hit, 0.1, random_state=folds, loss=covmetrics.L1_miscoverage)
    assert own.total > 0.05
    assert own.total == pytest.approx(value, rel=1e-6)
