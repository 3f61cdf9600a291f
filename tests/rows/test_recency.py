import datetime as dt

import numpy as np
import pandas as pd
import pytest

from clearbands import fast, recency_weights


def test_half_after_each_half_life():
    np.testing.assert_allclose(recency_weights(7, 2)[::-2], [1, 0.5, 0.25, 0.125])
    np.testing.assert_allclose(recency_weights([3.0, 9.0, 6.0], 3), [0.25, 1, 0.5])


@pytest.mark.parametrize("half_life", [30, dt.timedelta(days=30), np.timedelta64(30, "D")])
def test_dates_in_days(half_life):
    times = pd.to_datetime(["2026-01-31", "2026-01-01", "2025-12-02"])
    np.testing.assert_allclose(recency_weights(times, half_life), [1, 0.5, 0.25])


def test_a_model_follows_what_is_recent():
    """The level of y jumped by 10 in the last third."""
    X = np.linspace(0, 1, 150)[:, None] * 0
    y = np.where(np.arange(150) < 100, 0.0, 10.0) + np.resize([-0.1, 0.0, 0.1], 150)
    weight = recency_weights(150, half_life=10)
    assert fast(random_state=0).fit(X, y).predict([[0.0]])[0] < 5
    assert fast(random_state=0).fit(X, y, sample_weight=weight).predict([[0.0]])[0] > 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0), "half_life must be a number above 0"),
        ((10, "soon"), "half_life must be a number above 0"),
        ((0, 1), "must be a whole number of at least 1"),
        (([1.0, np.nan], 1), "time is missing in row 1"),
        (([[1.0]], 1), r"time must have shape \(n,\)"),
        ((["soon"], 1), "time must be numbers, dates or times"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        recency_weights(*arguments)
