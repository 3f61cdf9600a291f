"""Predictions of classes as a table, wherever they are asked for."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from clearbands import ClearClassifier
from clearbands.apps.mlflow import PredictionTable
from clearbands.prediction.class_predictions import predict_classes

pd = pytest.importorskip("pandas")


def test_what_mlflow_serves_of_a_classifier_is_the_table_of_classes():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"a": rng.normal(size=60)}), np.resize(["cheap", "dear"], 60)
    model = ClearClassifier(LogisticRegression(), n_folds=3, n_repeats=1, random_state=0).fit(X, y)
    served = PredictionTable(model).predict(X)
    pd.testing.assert_frame_equal(served, pd.DataFrame(predict_classes(model, X).columns()))
    assert served.columns[:4].tolist() == ["class", "set", "p_cheap", "p_dear"]
