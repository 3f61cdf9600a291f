import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import ClearRegressor, ModelSearch, ScaledResiduals, load, save
from clearbands.rows.split import Rows
from clearbands.selection.model_search import LADDER, search_within
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from tests.toys import noisy_line


def test_more_time_buys_a_better_search():
    X, y = noisy_line(200)
    assert search_within(1e6, Rows(X, y), None) == ModelSearch()
    assert search_within(1e-9, Rows(X, y), None) == LADDER[-1].search
    costs = [rung.few_rows for rung in LADDER]
    assert costs == sorted(costs, reverse=True)


def test_the_search_that_was_taken_repeats_the_fit(tmp_path):
    X, y = noisy_line(80)
    model = ClearRegressor(time_budget=1e-9, random_state=0).fit(X, y)
    assert model.search_.lean
    assert {row.center.split(" with ")[0] for row in model.leaderboard_} == {"trees of depth 6"}
    again = ClearRegressor(search=model.search_, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_interval(X)[1], again.predict_interval(X)[1])
    save(model, tmp_path / "model.clear")
    assert load(tmp_path / "model.clear").search_ == model.search_


@pytest.mark.parametrize("budget", [0, -1.0, np.inf, True, "60"])
def test_a_budget_is_a_number_of_seconds(budget):
    X, y = noisy_line(20)
    with pytest.raises(ValueError, match="time_budget must be a number of seconds above 0"):
        ClearRegressor(time_budget=budget).fit(X, y)


def test_a_budget_needs_a_search_to_choose():
    X, y = noisy_line(20)
    parts = FoldedEnsemble(LinearRegression()), ScaledResiduals(LinearRegression())
    for given in ({"search": ModelSearch()}, dict(epistemic=parts[0], aleatoric=parts[1])):
        with pytest.raises(ValueError, match="time_budget chooses between searches"):
            ClearRegressor(time_budget=60, **given).fit(X, y)


def test_files_have_no_time_budget(tmp_path):
    with pytest.raises(ValueError, match="time_budget is for rows in memory"):
        ClearRegressor(time_budget=60).fit(tmp_path / "rows.parquet", "y")
