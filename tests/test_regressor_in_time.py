"""ClearRegressor(split="time"): no later row trains or calibrates an earlier one."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import (
    ClearCalibrator,
    ClearRegressor,
    FoldedEnsemble,
    ModelSearch,
    ScaledResiduals,
    load,
    save,
)
from clearbands.calibration.guarantee import Guarantee
from tests.toys import noisy_line


class Keeping(ClearCalibrator):
    """A calibrator that keeps what it was fitted on."""

    def fit(self, y, center, aleatoric, epistemic, **given):
        self.y_, self.said_ = y, (center, aleatoric, epistemic)
        return super().fit(y, center, aleatoric, epistemic, **given)


def in_time(**parameters):
    """Return a model whose fit takes no time."""
    defaults = {
        "epistemic": FoldedEnsemble(LinearRegression(), 3, 2),
        "aleatoric": ScaledResiduals(LinearRegression(), 3, 1),
        "calibrator": Keeping(),
        "split": "time",
        "random_state": 0,
    }
    return ClearRegressor(**(defaults | parameters))


@pytest.mark.parametrize("gap", [0, 7])
def test_the_future_changes_nothing_about_the_calibration_of_the_past(gap):
    X, y = noisy_line(200)
    changed = np.where(np.arange(200) < 150, y, 1000 - y)
    now, then = (in_time(gap=gap).fit(X, target).calibrator_ for target in (y, changed))
    same = np.flatnonzero(now.y_ == then.y_)
    assert len(same) > 50
    for said, again in zip(now.said_, then.said_, strict=True):
        np.testing.assert_array_equal(said[same], again[same])
    assert not np.array_equal(now.said_[0], then.said_[0])


def test_the_first_rows_train_and_are_judged_by_nobody():
    X, y = noisy_line(160)
    model = in_time().fit(X, y)
    assert model.n_train_ == 160
    assert model.n_calibration_ == 90  # 3/4 have a center, and 3/4 of these have noise
    assert model.guarantee_ == Guarantee.TIME


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
def test_the_last_rows_calibrate_behind_the_gap(calibration):
    X, y = noisy_line(160)
    model = in_time(calibration=calibration, gap=10).fit(X, y)
    n = 40 if calibration == "joint" else 20
    np.testing.assert_array_equal(model.calibrator_.y_, y[-n:])
    assert (model.n_train_, model.n_calibration_) == (110, n)
    assert model.guarantee_ == Guarantee.TIME  # rows in time are not exchangeable


def test_what_competes_is_judged_in_the_order_of_time():
    X, y = noisy_line(120)
    search = ModelSearch(folds=3, repeats=1, n_centers=1)
    model = ClearRegressor(split="time", search=search, random_state=0).fit(X, y)
    assert len(model.leaderboard_) > 1
    assert model.n_calibration_ < 80
    assert model.predict_interval(X)[1].shape == (120, 2, 1)
    assert model.unfamiliar(X + np.array([0, 100])).all()
    assert not model.unfamiliar(X).all()


def test_shops_of_one_day_stay_together():
    X, y = noisy_line(160)
    day = np.repeat(np.arange(40), 4)
    model = in_time(calibration="joint", gap=2).fit(X, y, time=day)
    assert (model.n_train_, model.n_calibration_) == (112, 40)
    assert model.last_time_ == 39


def test_a_model_in_time_is_saved_whole(tmp_path):
    X, y = noisy_line(160)
    days = np.datetime64("2026-01-01") + np.arange(160)
    model = in_time(calibrator=None).fit(X, y, time=days)
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    assert again.last_time_ == days[-1]
    np.testing.assert_array_equal(again.predict_interval(X)[1], model.predict_interval(X)[1])


@pytest.mark.parametrize(
    ("parameters", "labels", "words"),
    [
        ({"split": "times"}, {}, 'split must be one of "random", "time"'),
        ({"gap": -1}, {}, "gap must be a whole number of at least 0"),
        ({"split": "random", "gap": 2}, {}, 'gap=2 needs split="time"'),
        (
            {"split": "random"},
            {"time": np.arange(60)},
            "rows are split at random",
        ),
        ({}, {"time": np.arange(60)[::-1]}, "time must not fall"),
        ({}, {"groups": np.arange(60)}, "cannot be used at once"),
        ({"gap": 60}, {}, "leave no row that earlier rows could judge with gap=60"),
    ],
)
def test_what_cannot_be_asked_for(parameters, labels, words):
    X, y = noisy_line(60)
    with pytest.raises(ValueError, match=words):
        in_time(**parameters).fit(X, y, **labels)
