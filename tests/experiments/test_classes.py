"""The comparison of calibrated classes, on its smallest table."""

import numpy as np
import pandas as pd
import pytest

from experiments import class_data, classes
from experiments.class_methods import Answer


def test_calibration_error_by_hand():
    p = np.array([[0.9, 0.1]] * 10)
    assert classes.calibration_error(np.r_[np.zeros(9, int), 1], p) == pytest.approx(0)
    assert classes.calibration_error(np.zeros(10, int), p) == pytest.approx(0.1)
    mixed = np.vstack([p, [[0.5, 0.5]] * 10])  # two bins, one off by 0.1 and one by 0.5
    assert classes.calibration_error(np.zeros(20, int), mixed) == pytest.approx(0.3)


def test_scores_by_hand():
    answer = Answer(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[True, True], [False, True]]))
    found = classes.scores(np.array([0, 1]), answer)
    assert found["nll"] == pytest.approx(np.log(2) / 2)
    assert found["brier"] == pytest.approx(0.25)
    assert (found["set_size"], found["coverage"]) == (1.5, 1)
    assert np.isnan(classes.scores(np.array([0]), Answer())["nll"])


def test_rows_train_calibrate_or_test():
    parts = class_data.split_rows(178, 777)
    assert [len(part) for part in parts] == [107, 35, 36]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(178))
    assert sum(map(len, class_data.split_rows(9857, 777))) == class_data.MAX_ROWS


@pytest.mark.slow
def test_a_run_is_resumed_and_has_every_method(tmp_path):
    pytest.importorskip("mapie")
    path = tmp_path / "classes.csv"
    classes.run_missing(["wine"], [777], path)
    written = path.read_bytes()
    classes.run_missing(["wine"], [777], path)  # all rows are there
    assert path.read_bytes() == written
    rows = pd.read_csv(path).set_index("method")
    assert {"plain ensemble", "c1 and c2", "Platt", "MAPIE, APS", "ClearClassifier"} <= set(
        rows.index
    )
    assert rows.loc["ClearClassifier", "coverage"] > 0.8
    lines = classes.table(rows.reset_index()).splitlines()
    assert lines[0].startswith("| method | NLL wine |")
    assert len(lines) == 2 + len(rows)
