"""The comparison on overlapping groups: cutoffs of new rows, and the table of a few runs."""

import numpy as np
import pandas as pd
import pytest

from experiments import overlapping


@pytest.mark.parametrize("kind", overlapping.KINDS)
def test_cutoffs_cover_the_level_of_new_rows(kind):
    rng = np.random.default_rng(0)
    (X, y), (new, y_new) = (overlapping.draw(kind, 400, rng) for _ in range(2))
    cutoffs = overlapping.ours(X, y)(new)
    assert np.mean(np.abs(y_new) <= cutoffs) == pytest.approx(0.9, abs=0.05)
    assert overlapping.score(kind, 400, overlapping.OURS)["new_rows"] == 400


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
def test_a_law_of_few_runs_is_a_table(monkeypatch):
    monkeypatch.setattr(overlapping, "RUNS", 40)
    laws = pd.DataFrame(overlapping.law(30, "plain"))
    assert laws["group"].tolist() == ["all", "0.5", "0.3", "0.1"]
    assert laws["new_rows"][0] == 40
    found = pd.DataFrame([overlapping.score("five functions", 100, overlapping.OURS)])
    lines = list(overlapping.table(found, laws))
    assert sum(line.startswith("| 30 | plain |") for line in lines) == 4
