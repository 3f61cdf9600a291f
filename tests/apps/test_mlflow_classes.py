"""A classifier in MLflow's generic interface; MLflow itself is not needed for it."""

import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal
from sklearn.linear_model import LogisticRegression

from clearbands import ClearClassifier
from clearbands.apps.mlflow import PredictionTable
from clearbands.prediction.class_predictions import predict_classes


def test_a_classifier_serves_what_the_command_writes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["age", "size"])
    y = np.where(X["age"] + rng.normal(size=80) > 0, "yes", "no")
    model = ClearClassifier(LogisticRegression(), 2, 1, random_state=0).fit(X, y)
    served = PredictionTable(model).predict(X)
    assert list(served.columns[:2]) == ["prediction", "set_90"]
    written = pd.DataFrame(predict_classes(model, X).columns())
    written["set_90"] = [" | ".join(names) for names in written["set_90"]]
    assert_frame_equal(served, written)
