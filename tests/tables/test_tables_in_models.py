"""Tables of every kind through a whole model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles
from clearbands.tables.encoder import ZoneWarning
from tests.toys import noisy_line


def quick():
    return ClearRegressor(
        PCSEnsemble({"linear": LinearQuantiles()}, n_bootstraps=3),
        ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        calibration="joint",
        random_state=0,
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_scikit_learn_is_set_to_give_changes_no_prediction(library):
    X, y = noisy_line(60)
    plain = ClearRegressor(random_state=0).fit(X, y).predict_interval(X)[1]
    with sklearn.config_context(transform_output=library):
        framed = ClearRegressor(random_state=0).fit(X, y).predict_interval(X)[1]
    np.testing.assert_array_equal(framed, plain)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_arrays_and_frames_of_numbers_may_follow_each_other():
    X, y = noisy_line(60)
    expected = quick().fit(X, y).predict(X)
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"a": X[:, 0], "b": X[:, 1]})
        np.testing.assert_array_equal(quick().fit(X, y).predict(frame), expected)
        np.testing.assert_array_equal(quick().fit(frame, y).predict(X), expected)


def test_time_zones_objects_and_masks_are_understood():
    X, y = noisy_line(60)
    frame = pd.DataFrame(X, columns=["a", "b"])
    expected = quick().fit(frame, y).predict(frame)
    np.testing.assert_array_equal(quick().fit(frame.astype(object), y).predict(frame), expected)
    gaps = X > 0.9
    with_gaps = np.where(gaps, np.nan, X)
    np.testing.assert_array_equal(
        quick().fit(np.ma.masked_array(X, gaps), y).predict(X), quick().fit(with_gaps, y).predict(X)
    )
    sold = pd.date_range("2024-01-01", periods=60, tz="Europe/Zurich")
    in_utc = sold.tz_convert("UTC").tz_localize(None)
    np.testing.assert_array_equal(
        quick().fit(frame.assign(sold=sold), y).predict(frame.assign(sold=sold)),
        quick().fit(frame.assign(sold=in_utc), y).predict(frame.assign(sold=in_utc)),
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_time_zone_that_comes_or_goes_is_told(make):
    X, y = noisy_line(60)
    moments = pd.date_range("2024-01-01", periods=60, freq="h").to_series(index=range(60))
    plain = make({"x": X[:, 0], "t": moments})
    zoned = make({"x": X[:, 0], "t": moments.dt.tz_localize("UTC")})
    for fitted, other, said in (
        (plain, zoned, "'t' held moments without a time zone in fit, but now holds some with one"),
        (zoned, plain, "'t' held moments with a time zone in fit, but now holds some without one"),
    ):
        model = quick().fit(fitted, y)
        with pytest.warns(ZoneWarning, match=said):
            again = model.predict(other)
        np.testing.assert_array_equal(again, model.predict(fitted))
        model.predict(make({"x": X[:2, 0], "t": [None, None]}))  # no time zone to warn of


def test_a_column_that_is_blank_in_the_training_part_is_left_out():
    X, y = noisy_line(60)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).with_columns(c=pl.lit(None, pl.Float64))
    with pytest.warns(UserWarning, match="Column 'c' has no value in any training row"):
        model = quick().fit(frame, y)
    filled = frame.with_columns(c=pl.lit(1.0))
    np.testing.assert_array_equal(model.predict(filled), model.predict(frame))
