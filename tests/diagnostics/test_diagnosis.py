"""Contents of a diagnosis: corrected p values, frames and tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from clearbands import (
    diagnose,
    diagnostics,
)
from clearbands.diagnostics.diagnosis import holm
from tests.diagnostics.known_coverage import TREE, Scaled
from tests.toys import linear_clear, noisy_line


def test_holm_by_hand():
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.02])), [0.04, 0.03, 0.04])
    np.testing.assert_allclose(holm(np.array([0.9, 0.6])), [1, 1])


def test_the_frame_has_a_row_per_number():
    model = linear_clear().fit(*noisy_line(200))
    X, y = noisy_line(150, seed=1)
    found = diagnose(model, X, y, by=X[:, 0] > 0, X_calibration=X[:120], classifier=TREE)
    frame = found.to_frame()
    assert list(frame.columns) == ["diagnostic", "where", "n", "value", "low", "high", "p_value"]
    assert frame["diagnostic"][0] == "coverage"
    assert frame["n"][0] == 150
    expected = {
        "coverage by group", "coverage by x0", "coverage by x1", "coverage by width",
        "coverage by ratio", "coverage by worst slab", "coverage by classifier", "coverage gap",
        "excess risk", "excess risk, over", "excess risk, under", "width and error", "HSIC",
        "exchangeability", "lambda",
    }  # fmt: skip
    assert expected <= set(frame["diagnostic"])
    known = frame.dropna(subset=["low"])
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()
    again = diagnose(model, X, y, by=X[:, 0] > 0, X_calibration=X[:120], classifier=TREE)
    pd.testing.assert_frame_equal(frame, again.to_frame())


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_frame_is_of_the_users_own_kind(frame):
    X, y = Scaled.draw(20, 0)
    found = diagnose(Scaled(), frame(X), y).to_frame()
    assert isinstance(found, frame)
    assert found["diagnostic"][0] == "coverage"


def test_p_values_travel_with_their_cells():
    model = Scaled(1000, spread=lambda X: np.ones(len(X)))
    X, y = model.draw(1500, 1)
    found = diagnose(model, X, y, classifier=TREE)
    frame = found.to_frame()
    assert frame["p_value"][: len(found.cells)].tolist() == [c.p_value for c in found.cells]
    assert {cell.where for cell in found.cells if cell.is_off} >= {cell.where for cell in found.off}
    own = [
        2 * min(law.cdf(c.n_covered), law.sf(c.n_covered - 1))
        for c in found.cells
        for law in [stats.betabinom(c.n, *diagnostics.beta_parameters(1000, 0.9))]
    ]
    smallest = int(np.argmin(own))
    assert found.cells[smallest].p_value == pytest.approx(own[smallest] * (len(own) + 1))


def test_a_diagnosis_prints_as_a_table():
    model = Scaled(1000)
    model.q *= 0.5
    X, y = model.draw(1000, 1)
    found = diagnose(model, X, y, classifier=TREE)
    title, head, first, *_ = repr(found).splitlines()
    assert title == "Diagnosis of 1,000 rows at 90 %: 1 finding"
    assert head.split() == ["diagnostic", "where", "n", "value", "low", "high", "p_value"]
    assert first.split()[:4] == ["coverage", "all", "rows", "1000"]
    assert "<td>all rows</td>" in found._repr_html_()
