"""The questions to a model, which are checked when they are made, for all rows or some."""

import numpy as np
import pytest

from clearbands.prediction.questions import FAN, Questions, fan_levels, name_of, tails_in


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"side": "left"}, 'side must be "both", "lower" or "upper", got \'left\''),
        ({"tails": (0.6, 0.6)}, "tails must be the shares of targets below and above"),
        ({"tails": (0.1, 0.1), "levels": [0.8]}, "leave out level and side"),
        ({"tails": (0.1, 0.1), "side": "lower"}, "leave out level and side"),
        ({"levels": [1.5]}, "Did you mean 0.015"),
        ({"quantiles": [0.0]}, "quantiles must rise and lie strictly between 0 and 1"),
        ({"below": {"cheap": float("inf")}}, "below must be a finite number, got inf"),
    ],
)
def test_bad_questions_are_refused_when_they_are_made(options, words):
    with pytest.raises(ValueError, match=words):
        Questions(**options)


def test_quantiles_rise_and_stand_once():
    assert Questions(quantiles=[0.9, 0.1, 0.9]).quantiles == (0.1, 0.9)


def test_thresholds_of_some_rows():
    asked = Questions(above={"limit": np.arange(5.0)}, below={"low": 2.0})
    some = asked.rows(1, 3)
    assert some.above["limit"].tolist() == [1.0, 2.0]
    assert some.below == {"low": 2.0}


def test_a_fan_has_the_levels_that_the_rows_suffice_for():
    class Bands:
        highest = 0.85

    class Model:
        any_level_ = Bands()

    assert fan_levels(Model()) == [level for level in FAN if level <= 0.85] != list(FAN)
    Model.any_level_ = None
    assert fan_levels(Model()) == []


@pytest.mark.parametrize("text", ["0.1", "0.1:", "a:b"])
def test_tails_in_a_text(text):
    assert tails_in("--tails", "0.1:0") == (0.1, 0.0)
    with pytest.raises(ValueError, match="--tails takes BELOW:ABOVE"):
        tails_in("--tails", text)


def test_no_two_numbers_have_one_name():
    values = [1.0, -1.0, 1e15, 1e15 + 2, 0.1, 0.1 + 2**-55, 1e300]
    assert len({name_of(value) for value in values}) == len(values)
    assert all(float(name_of(value)) == value for value in values)
