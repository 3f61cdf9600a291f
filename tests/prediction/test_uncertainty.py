import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands import Uncertainty
from clearbands.tables.native import kind_of


def uncertainty(aleatoric, epistemic):
    n = len(aleatoric)
    return Uncertainty(np.zeros(n), np.array(aleatoric), np.array(epistemic), 0.9)


def test_ratio_compares_the_full_widths():
    parts = uncertainty([[1.0, 1.0], [1.0, 3.0]], [[2.0, 4.0], [1.0, 1.0]])
    assert parts.ratio.tolist() == [3.0, 0.5]


def test_the_larger_square_dominates_and_a_range_may_leave_it_unclear():
    parts = uncertainty([[2.0, 2.0], [3.0, 3.0]], [[1.0, 1.0], [1.0, 1.0]])
    assert parts.dominant.tolist() == ["ignorance", "noise"]  # 3² - 2² > 2², and 4² - 3² < 3²
    noise = np.array([[0.6, 0.6, 0.9], [0.5, 0.6, 0.8], [0.7, 0.8, 0.99]])
    parts = uncertainty([[1.0, 1.0]] * 3, [[1.0, 1.0]] * 3).split_by(noise[:, :, None])
    assert parts.dominant.tolist() == ["ignorance", "unclear", "noise"]
    assert (parts.share_low, parts.share_high) == pytest.approx((1 - 2.49 / 3, 1 - 1.9 / 3))


def test_of_no_width_nobody_knows_what_it_is():
    noise = np.array([0.5, 0.1, 0.9])[:, None, None]
    parts = uncertainty([[0.0, 0.0]] * 2, [[0.0, 0.0]] * 2).split_by(noise)
    assert parts.dominant.tolist() == ["unclear", "unclear"]
    assert (parts.share_low, parts.share_high) == (0.0, 1.0)


def test_ratio_where_parts_vanish_or_are_infinite():
    zero, one, infinite = [0.0, 0.0], [1.0, 1.0], [np.inf, np.inf]
    parts = uncertainty([zero, one, zero, infinite], [one, zero, zero, infinite])
    assert parts.ratio.tolist() == [np.inf, 0.0, 1.0, 1.0]


def test_a_frame_without_index_counts_its_rows():
    frame = uncertainty([[1.0, 1.0]] * 3, [[2.0, 4.0]] * 3).to_frame()
    assert frame.index.tolist() == [0, 1, 2]


def of_rows(X):
    n = len(X)
    return Uncertainty(np.zeros(n), np.ones((n, 2)), np.ones((n, 2)), 0.9, kind_of(X))


def test_a_frame_is_of_the_users_own_kind():
    values = {"x": [1.0, 2.0]}
    assert isinstance(of_rows(pl.DataFrame(values)).to_frame(), pl.DataFrame)
    frame = of_rows(pd.DataFrame(values, index=["a", "b"])).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == ["a", "b"]
    assert of_rows(pd.DataFrame(values, index=["a", "b"])).take(np.array([1])).to_frame().index == [
        "b"
    ]


def test_a_list_of_rows_has_a_frame_too():
    assert of_rows([[1.0], [2.0]]).to_frame().shape == (2, 11)


def test_without_pandas_the_frame_is_of_polars(monkeypatch):
    parts = of_rows(np.zeros((2, 1)))
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(parts.to_frame(), pl.DataFrame)
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="needs pandas, polars or pyarrow: pip install polars"):
        parts.to_frame()


def test_the_share_of_all_rows_is_that_of_the_mean_width():
    parts = uncertainty([[1.0, 1.0], [5.0, 5.0]], [[3.0, 3.0], [0.0, 0.0]])
    assert parts.epistemic_share.tolist() == [0.75, 0.0]
    assert parts.mean_share == 6 / 18
    infinite = [np.inf, np.inf]
    with_infinite = uncertainty([[1.0, 1.0], infinite], [[3.0, 3.0], infinite])
    assert with_infinite.mean_share == 0.75
    assert uncertainty([[0.0, 0.0]], [[0.0, 0.0]]).mean_share == 0.5


def test_it_prints_as_a_table_of_few_rows():
    parts = uncertainty([[1.0, 1.0]] * 12, [[3.0, 3.0]] * 12)
    title, head, *rows, more = repr(parts).splitlines()
    assert title == "12 rows at 90 %, 75 % epistemic share of the mean width"
    assert head.split() == [
        "row", "center", "lower", "upper", "aleatoric", "epistemic", "epistemic_share",
    ]  # fmt: skip
    assert rows[0].split() == ["1", "0", "−4", "4", "2", "6", "75", "%"]
    assert (len(rows), more.strip()) == (8, "4 more rows")
    assert parts._repr_html_().count("<tr>") == 9
