"""Where the default stands, on rows whose means are plain, and what the README says of it."""

import re
from pathlib import Path

import pandas as pd
import pytest

from experiments import results, standing

README = Path(__file__).parents[2] / "README.md"


def rows_of(losses):
    """{(variant, method): a loss for each seed} on one set, whose widths are twice the losses."""
    lines = [
        ("airfoil", variant, "standard", seed, method, 0.95, 2 * loss, 0, loss, 0, 1, 1, 1, "")
        for (variant, method), values in losses.items()
        for seed, loss in enumerate(values)
    ]
    return pd.DataFrame(lines, columns=results.COLUMNS)


ROWS = rows_of(
    {
        ("default", "CLEAR"): [1.0, 1.0, 1.0],
        ("a", "CLEAR"): [2.0, 2.0, 2.0],
        ("default", "crepes"): [4.0, 1.25, 8.0],
        ("default", "MAPIE CQR"): [2.0, 2.5],
    }
)


def test_the_best_peer_is_chosen_anew_on_every_split_that_all_have():
    found = standing.standing(ROWS).loc["airfoil"]
    assert found["against (a), %"] == -50
    assert found["against the best peer, %"] == pytest.approx((-50 - 20) / 2)
    assert (found["seeds"], found["with peers"], found["chosen on it"]) == (3, 2, "yes")


def test_tables():
    by_set = standing.as_markdown(standing.standing(ROWS)).splitlines()
    assert by_set[2] == "| airfoil | 3 | 2 | yes | -50.0 | -35.0 | 0.950 |"
    assert by_set[-1] == "| **mean of all** | | | | -50.0 | -35.0 | 0.950 |"
    peers = standing.against_each(ROWS).splitlines()
    assert peers[2:] == [
        "| MAPIE CQR | -55.0 | -55.0 | 0.950 | 2 |",
        "| crepes | -60.8 | -60.8 | 0.950 | 3 |",
    ]


def test_the_readme_says_what_the_rows_say():
    rows = pd.read_parquet(standing.PACKED).query("setting == 'standard' and error == ''")
    by_set = standing.standing(rows)
    changes = by_set[["against (a), %", "against the best peer, %"]]
    assert (changes < 0).all(axis=None), "the README says: below both on every set"
    said = re.search(
        r"by (\d+) and\s(\d+) % on average\. Its intervals are (\d+) % narrower", README.read_text()
    )
    catboost = re.search(
        r"MAPIE cross-conformal, CatBoost \| \S+ \| -(\S+) \|", standing.against_each(rows)
    )
    expected = [*-changes.mean(), float(catboost[1])]
    assert [int(number) for number in said.groups()] == [round(value) for value in expected]
