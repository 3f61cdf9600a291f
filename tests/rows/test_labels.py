import numpy as np
import pandas as pd
import pytest

from clearbands.rows.labels import read_calibration_groups, read_groups, read_labels

y = np.arange(4.0)


def test_groups_are_labels_or_a_column():
    towns = pd.DataFrame({"town": ["Aix", "Bex", None, "Aix"]})
    named, weight = read_labels(towns, y, "town")
    listed, _ = read_labels(y[:, None], y, towns["town"])
    assert named.tolist() == listed.tolist() == ["Aix", "Bex", "missing", "Aix"]
    assert weight is None


def test_weights_are_checked_and_nothing_is_nothing():
    _, weight = read_labels(None, y, calibration_weight=[1, 2, 3, 4])
    assert weight.tolist() == [1, 2, 3, 4]
    assert read_labels(None, None) == (None, None)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"calibration_groups": "abcd", "calibration_weight": y}, "cannot be used at once"),
        ({"calibration_weight": -y}, "must not be negative"),
        ({"calibration_groups": ["a"]}, "a label per row"),
    ],
)
def test_what_cannot_be_is_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y[:, None], y, **labels)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'country' is no column of X, which has town"):
        read_calibration_groups("country", pd.DataFrame({"town": list("abcd")}), 4)
    with pytest.raises(ValueError, match="X is an array"):
        read_calibration_groups("town", y[:, None], 4)


def test_rows_at_random_keep_their_labels_and_rows_in_time_their_places():
    assert read_groups("random", y, groups=[1, 1, 2, 2]) == ([1, 1, 2, 2], None)
    assert read_groups("time", y)[0].tolist() == [0, 1, 2, 3]
    places, last_time = read_groups("time", y, time=[5, 7, 7, 9])
    assert places.tolist() == [0, 1, 1, 2]
    assert last_time == 9


@pytest.mark.parametrize(
    ("labels", "split", "message"),
    [
        ({"time": y}, "random", 'set split="time"'),
        ({"groups": y}, "time", "cannot be used at once"),
    ],
)
def test_an_order_that_cannot_be_is_refused(labels, split, message):
    with pytest.raises(ValueError, match=message):
        read_groups(split, y, **labels)
