import numpy as np

from clearbands import Uncertainty


def uncertainty(aleatoric, epistemic):
    n = len(aleatoric)
    return Uncertainty(np.zeros(n), np.array(aleatoric), np.array(epistemic), 0.9)


def test_ratio_compares_the_full_widths():
    parts = uncertainty([[1.0, 1.0], [1.0, 3.0]], [[2.0, 4.0], [1.0, 1.0]])
    assert parts.ratio.tolist() == [3.0, 0.5]
    assert parts.dominant.tolist() == ["epistemic", "aleatoric"]


def test_ratio_where_parts_vanish_or_are_infinite():
    zero, one, infinite = [0.0, 0.0], [1.0, 1.0], [np.inf, np.inf]
    parts = uncertainty([zero, one, zero, infinite], [one, zero, zero, infinite])
    assert parts.ratio.tolist() == [np.inf, 0.0, 1.0, 1.0]


def test_a_frame_without_index_counts_its_rows():
    frame = uncertainty([[1.0, 1.0]] * 3, [[2.0, 4.0]] * 3).to_frame()
    assert frame.index.tolist() == [0, 1, 2]
