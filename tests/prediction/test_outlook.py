"""The learning curve that a model keeps."""

import numpy as np
import pytest

from clearbands import Forecast, fast
from clearbands.prediction.curve_posterior import CurvePosterior
from clearbands.prediction.outlook import Outlook, Split
from clearbands.rows.bands import Components


def components(aleatoric, epistemic):
    two = [
        np.stack([np.asarray(each, float)] * 2, axis=1)[:, :, None]
        for each in (aleatoric, epistemic)
    ]
    return Components(np.zeros(len(aleatoric)), *two)


@pytest.mark.parametrize("noise", [0.05, 0.5, 0.97])
def test_a_split_gives_noise_its_share_of_all_widths(noise):
    rng = np.random.default_rng(0)
    rows = components(rng.uniform(1, 3, 50), rng.uniform(0, 1, 50))
    widths = rng.uniform(1, 5, 50)
    found = Split.of(rows, widths, noise)(rows)
    assert ((found >= 0) & (found <= 1)).all()
    assert widths @ found / widths.sum() == pytest.approx(noise, abs=1e-6)


def test_rows_about_which_members_disagree_are_less_noise():
    rows = components([1, 1, 1], [0.1, 1, 5])
    found = Split.of(rows, np.ones(3), 0.6)(rows)
    assert (np.diff(found) < 0).all()


def test_members_that_all_agree_leave_one_share_for_all_rows():
    rows = components([1, 1], [0, 0])
    assert Split.of(rows, np.ones(2), 0.3)(rows) == pytest.approx([0.3, 0.3], abs=1e-6)


def outlook(posterior, reason=""):
    split = Split(1.0, 1.0)
    return Outlook(10.0, 3.0, 0.5, 100, posterior, (split, split, split), reason)


def test_a_forecast_has_a_line_for_each_size_and_the_end():
    posterior = CurvePosterior(np.full(3, 0.5), np.ones(3), 100.0)
    frame = outlook(posterior).forecast([2, 10], 0.9).to_frame()
    assert list(frame["rows"]) == [100, 200, 1000, np.inf]
    assert list(frame.columns[:7]) == [
        "rows", "width", "width_low", "width_high", "rmse", "rmse_low", "rmse_high",
    ]  # fmt: skip
    # The part that can be learned falls with the rows: the squares are 0.25 + 0.75 / times.
    assert frame["width"].to_numpy() == pytest.approx(10 * np.sqrt([1, 0.625, 0.325, 0.25]))
    assert frame["rmse"].to_numpy() == pytest.approx(0.3 * frame["width"].to_numpy())


def test_without_a_curve_anything_may_come_and_a_sentence_says_why():
    found = outlook(None, "There is no curve.")
    assert tuple(found.shares)[1:] == (0, 1)
    forecast = found.forecast([10], 0.9)
    frame = forecast.to_frame()
    assert (frame["width_low"][1], frame["width_high"][1]) == (0, 10)
    assert forecast.sentence() == "There is no curve."
    assert "There is no curve." in repr(forecast)


def test_a_row_that_stands_twice_is_no_new_row():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 3))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=120)
    once = fast(random_state=0).fit(X, y).outlook_
    with pytest.warns(UserWarning, match="copy among the others"):
        twice = fast(random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2)).outlook_
    assert twice.posterior.rows == 120
    assert twice.sizes == pytest.approx(2 * once.sizes)  # training rows, each of them twice
    assert twice.shares.low < 0.3


def test_a_sentence_has_no_negative_shares():
    factors = np.array([[1, 1, 1], [0.99, 0.9, 1.02], [0.9, 0.8, 1]])
    sentence = Forecast(np.array([100, 1000, np.inf]), factors, 20.0, 6.0, 0.8, 0.9).sentence()
    assert sentence.endswith("1 % narrower (0 to 10 %).")
