import numpy as np
import pandas as pd
import pytest

from clearbands.prediction.class_uncertainty import ClassUncertainty, entropy
from clearbands.tables.native import kind_of

COIN = [0.5, 0.5]


def test_entropy_is_in_bits():
    np.testing.assert_allclose(entropy(np.array([COIN, [1, 0]])), [1, 0])
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(3)


def test_chance_that_all_see_is_aleatoric_and_certain_disagreement_epistemic():
    agree, differ, sure = [COIN, COIN], [[1, 0], [0, 1]], [[1, 0], [1, 0]]
    entropies = ClassUncertainty.of_members(np.array([agree, differ, sure], float))
    np.testing.assert_allclose(entropies.total, [1, 1, 0])
    np.testing.assert_allclose(entropies.aleatoric, [1, 0, 0])
    np.testing.assert_allclose(entropies.epistemic, [0, 1, 0])
    assert entropies.dominant.tolist() == ["noise", "ignorance", "noise"]
    np.testing.assert_allclose(entropies.ratio, [0, np.inf, 1])


def test_parts_add_up_and_are_not_negative():
    members = np.random.default_rng(0).dirichlet(np.ones(4), size=(200, 5))
    entropies = ClassUncertainty.of_members(members)
    np.testing.assert_allclose(entropies.aleatoric + entropies.epistemic, entropies.total)
    assert np.all(entropies.epistemic >= 0)
    assert np.all(entropies.total <= 2)


def test_a_frame_under_the_index_of_the_rows():
    index = pd.Index(["a", "b"])
    kind = kind_of(pd.DataFrame({"x": [1, 2]}, index=index))
    frame = ClassUncertainty.of_members(np.array([[COIN], [COIN]]), kind).to_frame()
    assert frame.index.equals(index)
    assert list(frame.columns) == ["total", "aleatoric", "epistemic", "epistemic_share", "dominant"]
