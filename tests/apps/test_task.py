"""Tasks: what apps ask of a model of numbers or of classes."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from clearbands import ClearClassifier
from clearbands.apps.question_table import QUESTIONS
from clearbands.apps.task import Classification, Regression, task_of
from clearbands.metrics import picp
from clearbands.prediction.questions import Questions
from tests.toys import linear_clear, noisy_line

X, Y = noisy_line(200)
NOT_ASKED = dict.fromkeys(QUESTIONS)


@pytest.fixture(scope="module")
def of_numbers():
    return task_of(linear_clear(confidence_level=[0.8, 0.5]).fit(X, Y))


@pytest.fixture(scope="module")
def of_classes():
    labels = np.where(Y > 0, "up", "down")
    model = ClearClassifier(LogisticRegression(), n_folds=3, n_repeats=1, random_state=0)
    return task_of(model.fit(X, labels))


def test_a_model_is_for_numbers_or_for_classes(of_numbers, of_classes):
    assert isinstance(of_numbers, Regression)
    assert isinstance(of_classes, Classification)
    assert of_numbers.levels == [0.8, 0.5]
    assert of_classes.levels == [0.9]


def test_numbers_answer_every_question_and_classes_those_that_say_so(of_numbers, of_classes):
    for name, question in QUESTIONS.items():
        asked = NOT_ASKED | {name: [0.5]}
        of_numbers.check(asked)
        if question.of_classes:
            of_classes.check(asked)
        else:
            with pytest.raises(ValueError, match=f"predicts classes, and --{name} is for numbers"):
                of_classes.check(asked, "--")


def test_the_highest_level_is_answered_and_no_higher_one(of_numbers, of_classes):
    for task in (of_numbers, of_classes):
        highest = task.highest_level
        assert 0.9 < highest < 1
        task.check_enough(Questions(levels=(highest,)))
        with pytest.raises(ValueError, match="calibration rows"):
            task.check_enough(Questions(levels=((1 + highest) / 2,)))


def test_scores_are_those_of_the_intervals_and_of_the_classes(of_numbers, of_classes):
    scores, parts = of_numbers.evaluate(X, Y)
    assert [score["confidence_level"] for score in scores] == [0.8, 0.5]
    assert scores[0]["picp"] == picp(Y, parts[0].interval)
    (score,), _ = of_classes.evaluate(X, np.where(Y > 0, "up", "down"))
    assert score["set_size"] == of_classes.model.predict_set(X).sum(axis=1).mean()


def test_predictions_have_the_columns_of_predict_frame(of_numbers):
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    task = task_of(linear_clear().fit(frame, Y))
    assert task.predict(frame).frame().equals(task.model.predict_frame(frame))
    widths = of_numbers.widths(of_numbers.predict(X, Questions(levels=(0.8, 0.3))))
    assert list(widths) == [0.8]  # the fit has no level of 0.3
