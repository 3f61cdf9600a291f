"""Strange rows are flagged, and few others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from clearbands import fast, load, rank_by_epistemic, save
from tests.selection.test_compete import folded_lines
from tests.toys import linear_clear, noisy_line


@pytest.mark.parametrize("make", [folded_lines, linear_clear])
def test_of_ordinary_rows_about_one_in_twenty_is_flagged(make):
    flagged = [
        make().fit(*noisy_line(400, seed=seed)).unfamiliar(noisy_line(2000, seed=seed + 50)[0])
        for seed in range(4)
    ]
    assert flagged[0].shape == (2000,)
    assert flagged[0].dtype == bool
    assert np.mean(flagged) == pytest.approx(0.05, abs=0.025)


def test_also_of_a_flexible_model_that_has_seen_its_rows():
    """Members agree on rows that they have seen; by such widths, a tenth of new rows is strange."""
    flagged = [
        fast(random_state=0)
        .fit(*noisy_line(400, seed=seed))
        .unfamiliar(noisy_line(2000, seed=seed + 50)[0])
        for seed in range(4)
    ]
    assert np.mean(flagged) == pytest.approx(0.05, abs=0.025)


@pytest.fixture(scope="module")
def houses():
    X, y = noisy_line(400)
    towns = np.resize(["Aix", "Bex", "Cham"], 400)
    table = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "town": towns})
    return folded_lines().fit(table, y), table


@pytest.mark.parametrize(
    "change", [{"size": 5.0}, {"age": -3.0}, {"town": "Zug"}, {"town": None}], ids=str
)
def test_values_out_of_range_and_unknown_categories_are_flagged(houses, change):
    model, table = houses
    assert model.unfamiliar(table).mean() < 0.1
    assert model.unfamiliar(table.assign(**change)).all()


def test_where_ordinary_rows_have_new_categories_these_are_ordinary():
    X, y = noisy_line(300)
    table = pd.DataFrame({"x": X[:, 0], "street": [f"street {i}" for i in range(300)]})
    model = folded_lines().fit(table, y)
    assert model.unfamiliar(table.assign(street="another")).mean() < 0.1


def test_flags_are_saved(houses, tmp_path):
    model, table = houses
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    np.testing.assert_array_equal(again.unfamiliar(table), model.unfamiliar(table))


def test_a_model_that_does_not_know_says_so():
    X, y = noisy_line()
    model = linear_clear().fit(X, y)
    model.predictor_ = replace(model.predictor_, familiar=None)
    with pytest.raises(ValueError, match="Fit it again"):
        model.unfamiliar(X)


# What to label next


def test_the_first_to_label_is_the_widest_and_none_is_named_twice(houses):
    model, table = houses
    chosen = rank_by_epistemic(model, table, 30)
    assert len(set(chosen.tolist())) == 30
    widths = model.components(table).epistemic[:, :, 0].sum(axis=1)
    assert chosen[0] == np.argmax(widths)
    assert widths[chosen].mean() > widths.mean()


def test_a_twin_of_a_chosen_row_teaches_nothing_more():
    model = folded_lines().fit(*noisy_line(200))
    X = np.array([[4.0, 0.0], [4.0, 0.0], [0.5, 0.5], [-0.5, -0.5]])
    assert rank_by_epistemic(model, X, 4).tolist()[-1] == 1


@pytest.mark.parametrize("n", [0, 5, 1.5])
def test_as_many_as_there_are_can_be_chosen(n):
    model = linear_clear().fit(*noisy_line())
    with pytest.raises(ValueError, match="n must be a whole number from 1 to 4"):
        rank_by_epistemic(model, np.zeros((4, 2)), n)
