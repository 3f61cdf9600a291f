"""Rows in pieces: every row once and in order, and no piece larger than memory allows."""

import numpy as np
import pandas as pd
import pytest

from clearbands.rows.chunks import (
    PREDICTIONS_AT_ONCE,
    ROWS_TO_TRY,
    chunks,
    concatenate,
    row_chunks,
    spread_rows,
)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9])
def test_each_row_is_in_one_piece_and_in_order(n):
    members = PREDICTIONS_AT_ONCE // 4  # so that a piece has four rows
    pieces = row_chunks(n, members)
    np.testing.assert_array_equal(np.concatenate(pieces), np.arange(n))
    assert all(0 < len(piece) * members <= PREDICTIONS_AT_ONCE for piece in pieces)


def test_more_members_than_can_be_held_get_a_row_at_a_time():
    assert [len(piece) for piece in row_chunks(3, 2 * PREDICTIONS_AT_ONCE)] == [1, 1, 1]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
def test_what_is_said_of_the_pieces_is_what_is_said_of_all(make):
    X = make(np.arange(20.0).reshape(10, 2))
    pieces = list(chunks(X, PREDICTIONS_AT_ONCE // 4))
    assert [len(piece) for piece in pieces] == [4, 4, 2]
    assert all(type(piece) is type(X) for piece in pieces)
    sums = concatenate([np.asarray(piece).sum(axis=1) for piece in pieces])
    np.testing.assert_array_equal(sums, np.asarray(X).sum(axis=1))


def test_few_rows_are_passed_on_as_they_are():
    X = np.ones((5, 2))
    (only,) = chunks(X)
    assert only is X
    assert concatenate([X]) is X


def test_rows_to_try_come_from_all_over():
    X = np.arange(10 * ROWS_TO_TRY)[:, None]
    tried = spread_rows(X)
    assert len(tried) == ROWS_TO_TRY
    assert tried[0, 0] == 0
    assert tried[-1, 0] >= len(X) - 10
    assert spread_rows(X[:ROWS_TO_TRY]) is not tried
    np.testing.assert_array_equal(spread_rows(X[:7]), X[:7])
