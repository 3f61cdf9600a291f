"""Protocols of others: their own splits, right scores, and rows that are kept."""

import importlib
import sys
import types

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import KFold

from experiments import __main__, datasets, densities, distributions, protocols


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a table of three columns for both protocols, with two lists of test rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "target": X[:, 0] + rng.normal(size=120)})
    (tmp_path / "uci_splits").mkdir()
    for path in (tmp_path / "airfoil.parquet", tmp_path / "uci_splits" / "yacht.parquet"):
        table.to_parquet(path)
    lists = {"test_0": np.arange(12), "test_1": np.arange(12, 24)}
    np.savez(tmp_path / "uci_splits" / "yacht_test_rows.npz", **lists)
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_normal_law_has_the_likelihood_of_scipy(folder):
    X, y, test_rows = protocols.load_uci("yacht")
    test = test_rows[0]
    row = protocols.score_uci(X, y, test, "linear", 0)
    train = np.arange(12, 120)
    mean, deviation = densities.linear(X[train], y[train], X[test], 0)
    assert row["log_likelihood"] == pytest.approx(
        stats.norm.logpdf(y[test], mean, deviation).mean()
    )
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean((y[test] - mean) ** 2)))


def test_folds_judge_every_row_once_and_no_row_that_they_know():
    test_rows = []
    for chosen, split in protocols.folds(101):
        assert not set(split.test) & set(np.concatenate([split.train, split.validation]))
        assert len(split.train) + len(split.validation) + len(split.test) == 101
        test_rows += chosen[split.test].tolist()
    assert sorted(test_rows) == list(range(101))


def test_large_tables_give_scoringbenchs_2400_and_600_rows_of_each_fold():
    for fold, (chosen, split) in enumerate(protocols.folds(5_000)):
        assert len(set(chosen)) == 3_000
        known, test = list(KFold(5, shuffle=True, random_state=42).split(range(5_000)))[fold]
        theirs = np.random.default_rng(42 * 10007 + fold).choice(known, size=2400, replace=False)
        fitted = chosen[np.concatenate([split.train, split.calibration])]
        assert set(fitted) == set(theirs)
        theirs = np.random.default_rng(42 * 10007 + fold + 1).choice(test, size=600, replace=False)
        np.testing.assert_array_equal(chosen[split.test], theirs)


@pytest.fixture
def wrapper(monkeypatch):
    """Import the wrapper for ScoringBench, with stand-ins for the classes of its base module."""

    class DistributionPrediction:
        @classmethod
        def from_multi_quantile(cls, q, alphas, mean=None, *, train_range):
            made = cls()
            made.q, made.alphas, made.train_range = q, alphas, train_range
            return made

    class ProbabilisticWrapper:
        def _set_train_range(self, y):
            self._y_train_range = (float(min(y)), float(max(y)))

    name = "scoringbench.univariate.wrappers.base"
    for package in ("scoringbench", "scoringbench.univariate", "scoringbench.univariate.wrappers"):
        monkeypatch.setitem(sys.modules, package, types.ModuleType(package))
    base = types.ModuleType(name)
    base.DistributionPrediction = DistributionPrediction
    base.ProbabilisticWrapper = ProbabilisticWrapper
    monkeypatch.setitem(sys.modules, name, base)
    monkeypatch.delitem(sys.modules, "experiments.scoringbench_wrapper", raising=False)
    module = importlib.import_module("experiments.scoringbench_wrapper")
    yield module.ClearbandsWrapper
    monkeypatch.delitem(sys.modules, "experiments.scoringbench_wrapper")


@pytest.mark.slow
def test_the_file_for_scoringbench_gives_99_rising_quantiles_around_the_point(wrapper):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    y = X["a"] + 0.5 * pd.Series(rng.normal(size=300))
    y[299] = np.nan  # such a row cannot be used
    model = wrapper().fit(X, y)
    said = model.predict_distribution(X)
    assert said.q.shape == (300, len(said.alphas)) == (300, 99)
    assert (np.diff(said.q, axis=1) >= 0).all()
    assert said.train_range == (y.min(), y.max())
    between = (said.q[:, 0] <= model.predict(X)) & (model.predict(X) <= said.q[:, -1])
    assert between.all()


@pytest.mark.parametrize(("command", "columns"), [("uci-splits", 6), ("five-folds", 7)])
def test_rows_are_kept_and_not_made_twice(command, columns, folder, capsys):
    path = folder / "rows.csv"
    name = "yacht" if command == "uci-splits" else "airfoil"
    call = [command, "--datasets", name, "--methods", "linear", "--results", str(path)]
    assert __main__.main([*call, "--splits", "1"]) == 0
    first = path.read_text()
    assert __main__.main([*call, "--splits", "2"]) == 0
    assert path.read_text().startswith(first)
    assert pd.read_csv(path).shape == (2, columns)
    assert "linear" in capsys.readouterr().out


def test_ours_is_compared_with_the_best_other_of_each_set():
    lines = [
        ("airfoil", 0, "clearbands", 1.0, 2.0, 0.9, 1.0),
        ("airfoil", 0, "linear", 2.0, 8.0, 0.9, 1.0),
        ("airfoil", 0, "NGBoost", 4.0, 4.0, 0.9, 1.0),
    ]
    table = list(protocols.folds_table(pd.DataFrame(lines, columns=protocols.FOLDS_FIELDS)))
    assert table[2] == "| airfoil | 1 | -50.0 | -50.0 | NGBoost | 0.900 |"
    assert table[-3].startswith("| clearbands | 1.0 | 1.0 |")


@pytest.mark.parametrize("name", densities.NORMAL)
def test_a_normal_rival_finds_the_noise(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=300)
    mean, deviation = densities.NORMAL[name](X[:200], y[:200], X[200:], 0)
    assert np.median(deviation) == pytest.approx(0.5, rel=0.35)
    assert np.corrcoef(mean, y[200:])[0, 1] > 0.8


@pytest.mark.parametrize("name", densities.QUANTILES)
def test_quantiles_of_rivals_rise_and_cover(name):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=600)
    _, split = next(iter(protocols.folds(600)))
    options = {"rounds": 40} if name == "CatBoost" else {}  # 99 quantiles take long
    quantiles = densities.QUANTILES[name](distributions.Table(X, y, split, 0), **options)
    assert quantiles.shape == (len(split.test), 99)
    assert (np.diff(quantiles, axis=1) >= -1e-9).all()
    inside = (quantiles[:, 4] <= y[split.test]) & (y[split.test] <= quantiles[:, 94])
    assert inside.mean() > 0.4  # CatBoost's are not calibrated, and too narrow
