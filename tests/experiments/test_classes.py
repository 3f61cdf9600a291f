"""The comparison of calibrated classes, on its smallest table."""

import numpy as np
import pandas as pd
import pytest

from clearbands.diagnostics.class_metrics import calibration_error
from experiments import class_data, class_methods, class_networks, classes
from experiments.class_methods import Answer, Table


def test_calibration_error_by_hand():
    p = np.array([[0.9, 0.1]] * 10)
    assert calibration_error(np.r_[np.zeros(9, int), 1], p) == pytest.approx(0)
    assert calibration_error(np.zeros(10, int), p) == pytest.approx(0.1)
    mixed = np.vstack([p, [[0.5, 0.5]] * 10])  # two bins with errors of 0.1 and 0.5
    assert calibration_error(np.zeros(20, int), mixed) == pytest.approx(0.3)


def test_scores_by_hand():
    answer = Answer(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[True, True], [False, True]]))
    found = classes.scores(np.array([0, 1]), answer)
    assert found["nll"] == pytest.approx(np.log(2) / 2)
    assert found["brier"] == pytest.approx(0.25)
    assert (found["set_size"], found["coverage"]) == (1.5, 1)
    assert np.isnan(classes.scores(np.array([0]), Answer())["nll"])


def test_members_are_chosen_one_by_one():
    y = np.array([0, 1, 0, 1])
    right, wrong = np.array([[3.0, -3], [-3, 3]])[y], np.array([[-3.0, 3], [3, -3]])[y]
    half = np.array([[3.0, -3], [-3, 3], [-1, 1], [1, -1]])
    order = class_networks.greedy(y, np.stack([wrong, half, right], axis=1), 3)
    assert order.tolist() == [2, 2, 2]


def test_digits_are_moved_and_mislabelled_where_they_should_be():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 10
    rows = Table(rng.random((400, 64)), y, 200, 300, 10)
    moved = class_networks.with_moved_digits(rows, 0, range(5, 10))
    changed = (moved.X != rows.X).any(axis=1)
    assert not changed[:200].any()
    assert not changed[y < 5].any()
    assert 0.3 < changed[200:][y[200:] >= 5].mean() < 0.7
    np.testing.assert_allclose(moved.X.sum(axis=1), rows.X.sum(axis=1))
    wrong = class_networks.with_wrong_labels(rows, 0)
    assert (wrong.y[y >= 5] == y[y >= 5]).all()
    assert 0.2 < (wrong.y != y)[y < 5].mean() < 0.4
    assert wrong.y[y < 5].max() < 5


def test_rows_train_calibrate_or_test():
    parts = class_data.split_rows(178, 777)
    assert [len(part) for part in parts] == [107, 35, 36]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(178))
    assert sum(map(len, class_data.split_rows(9857, 777))) == class_data.MAX_ROWS


@pytest.mark.slow
def test_a_run_is_resumed_and_has_every_method(tmp_path):
    pytest.importorskip("mapie")
    path = tmp_path / "classes.csv"
    asked = ["plain ensemble", "ClearClassifier", "HistGradientBoosting"]
    classes.run_missing(["wine"], [777], asked, path)
    written = path.read_bytes()
    classes.run_missing(["wine"], [777], asked, path)  # no row is missing
    assert path.read_bytes() == written
    rows = pd.read_csv(path).set_index("method")
    assert {"plain ensemble", "c1 and c2", "Platt", "MAPIE, APS", "ClearClassifier"} <= set(
        rows.index
    )
    assert "HistGradientBoosting, temperature" in rows.index
    assert tuple(class_methods.METHODS) == classes.METHODS
    assert rows.loc["ClearClassifier", "coverage"] > 0.8
    lines = classes.table(rows.reset_index()).splitlines()
    assert lines[0].startswith("| method | NLL wine (1) |")
    assert len(lines) == 2 + len(rows)


def test_other_libraries_are_compared_where_both_have_rows():
    rows = pd.DataFrame(
        [
            ("wine", 777, "ClearClassifier"),
            ("wine", 777, "CatBoost"),
            ("wine", 777, "Platt"),
            ("wine", 778, "ClearClassifier"),
        ],
        columns=["dataset", "seed", "method"],
    )
    assert classes.beside(rows, "CatBoost").index.tolist() == [0, 1]


def test_pairs_and_changes_by_hand():
    losses = {"c1 and c2": (1.0, 3.0), "pool, then temperature": (2.0, 2.0)}
    rows = [
        {"dataset": "wine", "setting": "all rows", "seed": seed, "chosen": "in turn"}
        | {"members": n, "method": method, "nll": loss}
        for method, both in losses.items()
        for seed, loss in enumerate(both)
        for n in class_networks.MEMBERS
    ]
    assert "| all rows | in turn | 2 | +0.0 (-50.0 to +50.0) |" in class_networks.changes(
        pd.DataFrame(rows)
    )
    assert "| than pool, then temperature | 1 |" in classes.pairs(pd.DataFrame(rows))
