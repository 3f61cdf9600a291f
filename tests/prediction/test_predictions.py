"""`predict_frame`: one line for each row, under the names that every interface uses."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from clearbands import ClearClassifier
from tests.toys import linear_clear, noisy_line

NAMES = [
    "prediction", "lower_90", "upper_90",
    "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
]  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    X, y = noisy_line(300)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y


@pytest.fixture(scope="module")
def model(rows):
    return linear_clear().fit(*rows)


def test_the_columns_are_what_the_model_says_elsewhere(model, rows):
    X = rows[0]
    frame = model.predict_frame(X)
    assert list(frame.columns) == NAMES
    center, intervals = model.predict_interval(X)
    np.testing.assert_array_equal(frame["prediction"], center)
    np.testing.assert_array_equal(frame[["lower_90", "upper_90"]], intervals[:, :, 0])
    parts = model.predict_uncertainty(X)
    np.testing.assert_array_equal(frame[["aleatoric", "epistemic"]], parts.widths)
    np.testing.assert_allclose(
        frame["epistemic_share"], frame["epistemic"] / (frame["aleatoric"] + frame["epistemic"])
    )
    assert frame["dominant"].tolist() == parts.dominant.tolist()
    assert frame["unfamiliar"].tolist() == model.unfamiliar(X).tolist()


def test_a_pair_of_bounds_for_every_level(model, rows):
    X = rows[0][:5]
    frame = model.predict_frame(X, confidence_level=[0.5, 0.975])
    assert list(frame.columns)[1:5] == ["lower_50", "upper_50", "lower_97.5", "upper_97.5"]
    _, intervals = model.predict_interval(X, confidence_level=[0.5, 0.975])
    np.testing.assert_array_equal(frame["upper_97.5"], intervals[:, 1, 1])


def test_the_frame_is_of_the_kind_that_came_in(model, rows):
    X = rows[0][:4]
    named = X.set_axis(["a", "b", "c", "d"])
    assert model.predict_frame(named).index.tolist() == ["a", "b", "c", "d"]
    assert isinstance(model.predict_frame(pl.from_pandas(X)), pl.DataFrame)
    on_arrays = linear_clear().fit(rows[0].to_numpy(), rows[1])
    assert isinstance(on_arrays.predict_frame(X.to_numpy()), pd.DataFrame)


def test_without_a_library_for_frames_one_sentence_says_which_to_install(rows, monkeypatch):
    on_arrays = linear_clear().fit(rows[0].to_numpy(), rows[1])
    monkeypatch.setattr("clearbands.tables.native.find_spec", lambda library: None)
    with pytest.raises(ImportError, match=r"needs pandas, polars or pyarrow: pip install polars\."):
        on_arrays.predict_frame(np.zeros((1, rows[0].shape[1])))


def test_a_model_that_cannot_tell_strange_rows_leaves_the_column_empty(model, rows):
    other = copy(model)
    other.predictor_ = replace(
        model.predictor_, familiar=None
    )  # as for members that were fitted elsewhere
    frame = other.predict_frame(pl.from_pandas(rows[0]))
    assert frame.columns == NAMES
    assert frame["unfamiliar"].null_count() == len(rows[0])


def test_classes_have_their_own_frame(rows):
    X, y = rows[0], np.where(rows[1] > 0, 1, 0)
    model = ClearClassifier(LogisticRegression(), n_folds=3, n_repeats=1, random_state=0).fit(X, y)
    frame = model.predict_frame(X, confidence_level=[0.9, 0.5])
    assert list(frame.columns) == [
        "prediction", "set_90", "set_50", "p_0", "p_1",
        "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
    ]  # fmt: skip
    np.testing.assert_array_equal(frame["prediction"], model.predict(X))
    np.testing.assert_array_equal(frame[["p_0", "p_1"]], model.predict_proba(X))
    sizes = [len(names.split(" | ")) for names in frame["set_90"]]
    assert sizes == model.predict_set(X).sum(axis=1).tolist()
    np.testing.assert_array_equal(frame["unfamiliar"], model.unfamiliar(X))
