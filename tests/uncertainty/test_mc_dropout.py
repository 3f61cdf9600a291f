import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearbands
from clearbands import MCDropout
from tests.deep import TINY, need_torch
from tests.toys import OTHER_DRAWS, noisy_line

need_torch()


def test_members_are_one_network_with_units_left_out(tmp_path):
    X, y = noisy_line(120)
    fitted = MCDropout(20, **TINY, dropout=0.3, random_state=0).fit(X, y)
    members = fitted.predict_members(X)
    assert members.shape == (120, 20)
    assert np.ptp(members, axis=1).min() > 0
    np.testing.assert_allclose(fitted.predict_members(X[5:7]), members[5:7])
    # A member with all units kept is the network itself.
    fitted.kept_ = [np.ones_like(kept) for kept in fitted.kept_]
    whole = fitted.networks_.predict_members(X)[:, 0]
    np.testing.assert_allclose(fitted.predict_members(X), np.repeat(whole, 20, axis=1))
    clearbands.save(fitted, tmp_path / "mc.clear")
    again = clearbands.load(tmp_path / "mc.clear")
    np.testing.assert_array_equal(again.predict_members(X), fitted.predict_members(X))


def test_units_are_kept_as_often_as_said():
    X, y = noisy_line(40)
    fitted = MCDropout(2000, hidden=(5,), max_epochs=1, dropout=0.25, random_state=0).fit(X, y)
    assert np.mean(fitted.kept_[0] > 0) == pytest.approx(0.75, abs=0.02)
    assert fitted.kept_[0].mean() == pytest.approx(1, abs=0.03)


def test_without_dropout_there_are_no_members():
    with pytest.raises(ValueError, match="members differ by the units that they lack"):
        MCDropout(dropout=0.0).fit(*noisy_line(40))


@parametrize_with_checks(
    [MCDropout(3, (8,), max_epochs=30, learning_rate=0.02)],
    expected_failed_checks=lambda _: OTHER_DRAWS,
)
def test_estimator_checks(estimator, check):
    check(estimator)
