"""The features that a fitted model expects in a row."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from clearbands.apps.reading.features import (
    Feature,
    features_of,
    fitted_columns,
    kinds_of,
    row_features,
    typical_row,
)
from clearbands.persistence.origin import record_origin
from tests.toys import linear_clear

N = 60
FRAME = pl.DataFrame(
    {
        "size": np.arange(N) / 2,
        "new": [True, False, True] * (N // 3),
        "sold": [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(N)],
        "town": ["Bern", "Chur", None] * (N // 3),
    }
)
Y = np.arange(N) + np.tile([0.0, 1.0, -1.0], N // 3)


@pytest.fixture(scope="module")
def model():
    return linear_clear().fit(FRAME, Y)


def test_columns_have_their_kinds_categories_and_typical_values(model):
    size, new, sold, town = features_of(model)
    assert kinds_of(model) == {"size": "number", "new": "boolean", "sold": "date", "town": "text"}
    assert town == Feature("town", "text", ("Bern", "Chur"), "Bern")
    n_train = model.n_train_  # typical values are medians of the training rows
    assert 0 <= size.typical <= (N - 1) / 2
    assert n_train < N
    assert new.typical is True
    assert dt.date(2024, 1, 1) <= dt.date.fromisoformat(sold.typical) < dt.date(2024, 3, 1)
    assert typical_row((size, town)) == {"size": size.typical, "town": "Bern"}


def test_a_model_remembers_how_its_file_was_written(model):
    model.origin_ = record_origin(
        FRAME, Y, target="price", decimal=",", date_orders={"sold": "dmy"}
    )
    written = {feature.name: feature.written for feature in features_of(model)}
    assert written == {"size": ",", "new": "", "sold": "dmy", "town": ""}
    fitted = fitted_columns(model)
    assert fitted.known.decimal == ","
    assert fitted.texts == {"town": {"Bern", "Chur"}}
    del model.origin_


def test_of_several_models_the_first_decides_what_a_column_is(model):
    frame = FRAME.select(size="town", x=pl.int_range(N))
    other = linear_clear().fit(frame, Y)
    assert kinds_of(other) == {"size": "text", "x": "number"}
    assert fitted_columns(model, other).kinds == kinds_of(model) | {"x": "number"}
    assert fitted_columns(other, model).kinds == kinds_of(model) | kinds_of(other)


def test_groups_that_no_column_names_are_asked_for_by_the_name_of_the_fit():
    groups = np.array(["loud", "quiet"] * (N // 2))
    model = linear_clear().fit(FRAME, Y, calibration_groups=groups)
    with pytest.raises(ValueError, match="with labels whose column it does not know"):
        row_features(model)
    model.origin_ = record_origin(FRAME, Y, target="price", calibration_groups="noise")
    assert row_features(model)[-1] == Feature("noise", "any", ("loud", "quiet"), "loud")
    by_column = linear_clear().fit(FRAME, Y, calibration_groups="new")
    assert row_features(by_column) == features_of(by_column)
