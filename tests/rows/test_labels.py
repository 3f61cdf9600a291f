import numpy as np
import pandas as pd
import pytest

from clearbands.rows.labels import Told, read_calibration_groups, read_labels, read_order

y = np.arange(4.0)


def test_groups_are_labels_or_a_column():
    towns = pd.DataFrame({"town": ["Aix", "Bex", None, "Aix"]})
    named = read_labels(Told(calibration_groups="town"), towns, y)
    given = read_labels(Told(calibration_groups=towns["town"]), y[:, None], y)
    assert (
        named.calibration_groups.tolist()
        == given.calibration_groups.tolist()
        == ["Aix", "Bex", "missing", "Aix"]
    )
    assert named.calibration_weight is None


def test_weights_are_checked_and_nothing_told_is_nothing():
    found = read_labels(Told(calibration_weight=[1, 2, 3, 4]), None, y)
    assert found.calibration_weight.tolist() == [1, 2, 3, 4]
    assert read_labels(Told(), None, None) == (None, None)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (Told(calibration_groups="abcd", calibration_weight=y), "cannot be used at once"),
        (Told(calibration_weight=-y), "must not be negative"),
        (Told(calibration_groups=["a"]), "a label per row"),
    ],
)
def test_what_cannot_be_is_refused(told, message):
    with pytest.raises(ValueError, match=message):
        read_labels(told, y[:, None], y)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'country' is no column of X, which has town"):
        read_calibration_groups("country", pd.DataFrame({"town": list("abcd")}), 4)
    with pytest.raises(ValueError, match="X is an array"):
        read_calibration_groups("town", y[:, None], 4)


def test_rows_at_random_keep_their_labels_and_rows_in_time_their_places():
    assert read_order(Told(groups=[1, 1, 2, 2]), "random", y) == ([1, 1, 2, 2], None)
    assert read_order(Told(), "time", y).groups.tolist() == [0, 1, 2, 3]
    order = read_order(Told(time=[5, 7, 7, 9]), "time", y)
    assert order.groups.tolist() == [0, 1, 1, 2]
    assert order.last_time == 9


@pytest.mark.parametrize(
    ("told", "split", "message"),
    [
        (Told(time=y), "random", 'set split="time"'),
        (Told(groups=y), "time", "cannot be used at once"),
    ],
)
def test_an_order_that_cannot_be_is_refused(told, split, message):
    with pytest.raises(ValueError, match=message):
        read_order(told, split, y)
