"""The mark of columns that hold codes."""

import pickle

import numpy as np
from sklearn.utils import _safe_indexing

from clearbands.rows.coded import code_columns, coded, plain_columns


def test_rows_keep_the_mark_and_numbers_have_none():
    X = coded(np.arange(12.0).reshape(4, 3), [2])
    for rows in (X[1:], X[[0, 2]], _safe_indexing(X, np.array([3])), pickle.loads(pickle.dumps(X))):
        assert code_columns(rows) == (2,)
    assert code_columns(np.asarray(X)) == ()


def test_an_array_without_codes_is_itself():
    X = np.ones((2, 2))
    assert coded(X, ()) is X


def test_plain_columns_are_those_before_the_codes():
    assert plain_columns(coded(np.arange(6.0).reshape(2, 3), [1, 2])).tolist() == [[0.0], [3.0]]
