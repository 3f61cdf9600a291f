"""Weights for a known shift are right, and restore the coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments import shifted
from experiments.__main__ import main


def test_the_ratio_is_that_of_the_densities():
    X = np.random.default_rng(0).normal(size=(50, 2))
    wide, narrow = (stats.norm(scale=s).pdf(X).prod(axis=1) for s in (2.0, 1.0))
    np.testing.assert_allclose(shifted.density_ratio(X, 2.0), wide / narrow)


def test_known_weights_cover_what_none_do_not(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    args = ["shifted", "--noises", "hetero1", "--seeds", "0", "1", "--rows", "1200"]
    args += ["--bootstraps", "5", "--results", str(path)]
    assert main(args) == 0
    found = pd.read_csv(path)
    assert len(found) == 2 * 3 * 3 * 4
    naive = found[(found["method"] == "Naive") & (found["scale"] == 1.5)]
    coverage = naive.groupby("weights")["coverage"].mean()
    assert coverage["none"] < 0.87 < coverage["known"]
    assert coverage["none"] < coverage["learned"]
    assert main(args) == 0  # the second call computes nothing
    assert len(pd.read_csv(path)) == len(found)
    assert "| 1.5 | known |" in capsys.readouterr().out
    assert not found.dropna(subset=["coverage"])["coverage"].gt(1).any()
    assert found[found["weights"] == "none"]["infinite"].max() == pytest.approx(0)
