"""Shares and forecasts against the truth: tables of rows, and what the page says of them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clearbands.prediction.curve_posterior import PRIOR
from experiments.why import ablation, check, prior
from experiments.why.tables import Table

PAGE = Path(__file__).parents[2] / "docs" / "which-uncertainty.md"


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(check.RESULTS)


def test_a_row_says_what_its_model_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    table = Table(X, X[:, 0] + rng.normal(size=80))
    model, seen = check.fitted("fast", table, 0)
    row = {"kind": "simulated", "table": "lines", "times": np.nan, "came": np.nan} | seen
    row |= {"width": 4.0, "true_noise": 3.0}
    answer = check.with_answers(pd.DataFrame([row])).loc[0]
    shares = model.outlook_.posterior.shares()
    assert tuple(answer[["middle", "low", "high"]]) == pytest.approx(shares, abs=0.01)
    assert answer["true"] == 0.25


def test_numbers_of_other_tables_take_the_place_of_those_of_the_package(rows):
    few = rows[rows["kind"] == "forecast"].drop_duplicates("table").head(2)
    sure = PRIOR._replace(level=-8.0, level_spread=0.1)
    mine = check.with_answers(few)["middle"]
    theirs = check.with_answers(few, {few["table"].iloc[0]: sure})["middle"]
    assert theirs[0] > mine[0]
    assert theirs[1] == mine[1]


def test_a_range_pays_for_what_it_misses():
    score = check.interval_score(np.array([0.5, 0.2]), np.array([0.4] * 2), np.array([0.6] * 2))
    assert score == pytest.approx([0.2, 0.2 + 10 * 0.2])


def test_fits_teach_how_models_differ_from_their_search(rows):
    families = rows[rows["kind"] == "families"].head(6)
    found = prior.fit_own(families, PRIOR, 20)
    assert found != PRIOR
    assert found.rate == PRIOR.rate  # only learning curves show the rate


def test_losses_of_each_way_are_told_against_a_free_lambda():
    loss = dict.fromkeys(ablation.WAYS, 2.0) | {"CQR": 2.1}
    rows = [
        {"table": "a", "seed": 777, "way": way, "loss": each, "far_loss": each}
        for way, each in loss.items()
    ]
    table = ablation.table_of(pd.DataFrame(rows).assign(coverage=0.95, far_coverage=0.9))
    assert "| CQR | +5.0 | +5.0 | +5.0 | 0.950 | 0.900 |" in table
    assert "| free | +0.0 |" in table


def test_the_same_rows_should_say_the_same(rows):
    few = rows[rows["kind"] == "families"].head(3).assign(kind="same rows", table="one")
    answers = check.with_answers(few)["middle"]
    told = f"largest - smallest {answers.max() - answers.min():.3f}"
    assert told in check.table_of(few)


def test_the_page_has_the_numbers_of_the_rows(rows):
    text = PAGE.read_text().replace("\n", " ")
    table = check.table_of(rows)
    for pattern in (r"mean share off by ([0-9.]+)", r"forecast: off by ([0-9.]+)"):
        for number in re.findall(pattern, table):
            assert number in text, number
