"""The leaderboards of a fit, on the page, in a picture and in one word."""

from __future__ import annotations

import pytest

from clearbands import ClearRegressor, plots
from clearbands.rows.display import number
from clearbands.selection.leaderboard import best_model, boards_of
from tests.apps.report.houses import TwoByTwo, houses
from tests.pages import as_text


@pytest.fixture(scope="module")
def winner():
    return ClearRegressor(search=TwoByTwo(folds=3, repeats=2, nested_folds=3), random_state=0).fit(
        *houses(200)
    )


def test_pairs_and_centers_are_shown_best_first(winner):
    pairs, centers = boards_of(winner)
    assert [entry.value for entry in pairs.entries] == [s.loss for s in winner.leaderboard_]
    assert [entry.selected for entry in pairs.entries] == [s.selected for s in winner.leaderboard_]
    assert [(e.name, e.value) for e in centers.entries] == [
        (standing.name, standing.loss) for standing in winner.centers_
    ]
    best = winner.leaderboard_[0]
    assert best_model(winner) == f"{best.center}, noise by {best.noise}"


def test_the_page_says_that_these_are_numbers_of_the_fit(winner):
    html = winner.report(*houses(60, seed=1), unit="EUR").html
    text = as_text(html)
    assert "numbers of the fit, not of the rows of this report" in text
    loss = number(winner.leaderboard_[0].loss)
    assert f"{best_model(winner)} kept {loss} 0 " in text
    assert "each row" not in text
    assert "200 trained; 200 of them calibrated, each judged by members that did not see it" in text
    assert f"This holds: {winner.guarantee_}" in text


def test_long_boards_are_cut(winner, monkeypatch):
    monkeypatch.setattr("clearbands.apps.report.MOST_LISTED", 1)
    pairs, _ = boards_of(winner)
    text = as_text(winner.report(*houses(60, seed=1)).html)
    assert f"{pairs.entries[0].name} kept" in text
    assert "1 other came after." in text


def test_the_picture_of_a_leaderboard(winner):
    ax = plots.model_comparison(winner.leaderboard_, most=2)
    assert ax.get_title(loc="left") == f"Best: {best_model(winner)}"
    assert len(ax.get_yticks()) == 2
    assert ax.get_xlabel() == "Quantile loss on unseen rows"
    assert plots.model_comparison(winner.centers_).get_xlabel().startswith("Quantile loss of one")
