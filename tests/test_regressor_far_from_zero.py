"""Targets far from zero: their differences are learned as well as near zero."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import clearbands
from clearbands import ClearRegressor, MemberEnsemble, ScaledResiduals, fast
from clearbands.rows.target_transform import Shifted, shift_large_targets
from tests.toys import linear_clear

FAR = 2.0**40  # about 1e12; floats there differ by 1/4096
X = np.random.default_rng(0).normal(size=(300, 3))
NOISE = np.random.default_rng(1).normal(size=300)
Y = np.rint((X[:, 0] + np.sin(3 * X[:, 1]) + NOISE * (1 + np.abs(X[:, 2])) / 2) * 4096) / 4096


@pytest.mark.parametrize(
    ("make", "calibration"),
    [(fast, "cross"), (fast, "joint"), (fast, "conformal"), (linear_clear, "joint")],
)
def test_a_shift_of_the_targets_shifts_all_answers(make, calibration):
    near, far = (
        make(calibration=calibration, random_state=0).fit(X, Y + shift) for shift in (0.0, FAR)
    )
    point, bounds = near.predict_interval(X)
    width = np.ptp(bounds, axis=1).mean()
    close = {"rtol": 0, "atol": 1e-3 * width}
    np.testing.assert_allclose(far.predict_interval(X)[0] - FAR, point, **close)
    np.testing.assert_allclose(far.predict_interval(X)[1] - FAR, bounds, **close)
    np.testing.assert_allclose(far.predict(X) - FAR, near.predict(X), **close)
    np.testing.assert_allclose(far.components(X).center - FAR, near.components(X).center, **close)
    np.testing.assert_allclose(
        far.predict_quantiles(X, [0.2, 0.7]) - FAR, near.predict_quantiles(X, [0.2, 0.7]), **close
    )
    np.testing.assert_allclose(
        far.predict_probability(X, above=FAR + 0.5),
        near.predict_probability(X, above=0.5),
        atol=0.01,
    )
    np.testing.assert_allclose(
        far.predict_uncertainty(X).epistemic, near.predict_uncertainty(X).epistemic, **close
    )


def test_far_targets_are_updated_saved_and_kept_inside_their_support(tmp_path):
    model = fast(random_state=0, support=(FAR - 1, None)).fit(X, np.maximum(Y, -1) + FAR)
    assert isinstance(model.transform_, Shifted)
    assert model.predict_interval(X)[1].min() >= FAR - 1
    model.update(X[:5], Y[:5].clip(-1) + FAR)
    clearbands.save(model, tmp_path / "model.clear")
    loaded = clearbands.load(tmp_path / "model.clear")
    np.testing.assert_array_equal(loaded.predict_interval(X)[1], model.predict_interval(X)[1])


def test_whole_numbers_far_from_zero_keep_narrow_bounds():
    counts = np.rint(10 * Y)
    near, far = (
        fast(random_state=0, whole_numbers=True).fit(X, counts + shift) for shift in (0.0, FAR)
    )
    np.testing.assert_allclose(
        far.predict_interval(X)[1] - FAR, near.predict_interval(X)[1], atol=1
    )


def test_members_that_were_fitted_elsewhere_predict_the_targets_themselves():
    member = RandomForestRegressor(5, random_state=0).fit(X, Y + FAR)
    model = ClearRegressor(MemberEnsemble([member, member]), ScaledResiduals(), random_state=0)
    with pytest.warns(UserWarning, match="fitted elsewhere"):
        model.fit(X, Y + FAR)
    assert model.transform_ is None
    np.testing.assert_allclose(model.predict(X), member.predict(X))


def test_only_targets_that_are_nearly_one_number_are_shifted():
    assert shift_large_targets(np.full(5, 1e12)) is None  # there is nothing to learn
    assert shift_large_targets(np.array([0.0, 1e12])) is None
    assert shift_large_targets(2020 + Y) is None
    assert shift_large_targets(-FAR + Y) is not None
