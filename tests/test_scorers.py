"""The scorers in scikit-learn's tools."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands import CQR, LinearQuantiles, metrics, scorers
from tests.toys import linear_clear, noisy_line


@pytest.fixture(scope="module")
def rows():
    return noisy_line()


def test_scores_are_the_metrics_and_larger_is_better(rows):
    X, y = rows
    model = linear_clear().fit(X, y)
    intervals = model.predict_interval(X)[1][:, :, 0]
    assert scorers.interval_score(model, X, y) == -metrics.interval_score(y, intervals, 0.9)
    assert scorers.quantile_loss(model, X, y) == -metrics.quantile_loss(y, intervals, 0.9)
    assert scorers.coverage(model, X, y) == metrics.picp(y, intervals)
    weight = np.arange(1.0, len(y) + 1)
    weighed = metrics.picp(y, intervals, sample_weight=weight)
    assert scorers.coverage(model, X, y, sample_weight=weight) == weighed


def test_levels_are_averaged_and_others_can_be_asked_for(rows):
    X, y = rows
    model = linear_clear(confidence_level=[0.9, 0.5]).fit(X, y)
    _, intervals = model.predict_interval(X)
    each = [metrics.picp(y, intervals[:, :, j]) for j in range(2)]
    assert scorers.coverage(model, X, y) == np.mean(each)
    _, other = model.predict_interval(X, confidence_level=0.7)
    own = -metrics.interval_score(y, other[:, :, 0], 0.7)
    assert scorers.interval_score.at(0.7)(model, X, y) == own


def test_a_search_finds_the_better_setting_and_a_pipeline_is_looked_through(rows):
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), linear_clear())
    grid = {"clearregressor__calibration_size": [0.25, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=2, scoring=scorers.quantile_loss).fit(X, y)
    best = search.cv_results_["mean_test_score"].max()
    assert search.best_score_ == best < 0
    inner = search.best_estimator_
    own = scorers.coverage(inner[-1], inner[:-1].transform(X), y)
    assert scorers.coverage(search, X, y) == own


def test_all_of_them_in_one_run_and_in_other_processes(rows):
    X, y = rows
    found = cross_validate(linear_clear(), X, y, cv=2, scoring=scorers.ALL, n_jobs=1)
    assert {"test_interval_score", "test_quantile_loss", "test_coverage"} <= set(found)
    copy = pickle.loads(pickle.dumps(scorers.interval_score))
    assert copy == scorers.interval_score
    baseline = CQR(LinearQuantiles(), random_state=0)
    assert np.isfinite(cross_val_score(baseline, X, y, cv=2, scoring=scorers.coverage)).all()


def test_a_model_without_intervals_is_refused_in_one_sentence(rows):
    X, y = rows
    with pytest.raises(TypeError, match=r"LinearRegression has no predict_interval.*give a Clear"):
        scorers.coverage(LinearRegression().fit(X, y), X, y)
