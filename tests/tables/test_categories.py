"""Text is encoded as dummies or as codes."""

import numpy as np

from clearbands.tables.categories import CategoryCodes


def block(*columns):
    return np.array(list(zip(*columns, strict=True)), dtype=object)


def test_few_values_become_dummies_and_many_become_codes():
    towns, sizes = [f"town {i}" for i in range(12)], ["s", "m", "l"] * 4
    encoder = CategoryCodes(few=3).fit(block(sizes, towns))
    assert encoder.get_feature_names_out(["size", "town"]).tolist() == [
        "size_l",
        "size_m",
        "size_s",
        "town",
    ]
    found = encoder.transform(block(["m"], ["town 1"]))
    assert found.tolist() == [[0.0, 1.0, 0.0, encoder.categories_[1].tolist().index("town 1")]]
    assert encoder.n_codes == 1


def test_missing_is_a_value_and_new_ones_have_none():
    values = [*"abcd", None]
    encoder = CategoryCodes(few=2).fit(block(values))
    assert encoder.transform(block([None, "new", ""])).tolist() == [[4.0], [-1.0], [-1.0]]
    dummies = CategoryCodes(few=9).fit(block(values))
    assert dummies.transform(block([None, "new"])).tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]


def test_a_value_that_ends_in_nul_is_another_value():
    encoder = CategoryCodes(few=1).fit(block(["a", "a\0", "b"]))
    assert len(set(encoder.transform(block(["a", "a\0", "b"])).ravel())) == 3


def test_a_hundred_thousand_values_are_one_column():
    values = np.array([[f"v{i}"] for i in range(100_000)], dtype=object)
    assert CategoryCodes().fit(values).transform(values).nbytes == 8 * 100_000
