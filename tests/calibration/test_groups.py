"""The level holds in every group, and groups of too few rows say which rows they share."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from clearbands import CalibrationWarning, ClearCalibrator, FixedRatioCalibrator
from clearbands.calibration.conformal import beta_parameters, rank
from clearbands.calibration.groups import GroupCalibrator
from clearbands.calibration.guarantee import Guarantee
from clearbands.rows.bands import covered
from tests.toys import calibration_set


def three_groups(rng, n):
    """Draw noise that is 1, 2 and 4 times as large in three groups of equal widths."""
    groups = rng.choice(["a", "b", "c"], size=n)
    scale = np.select([groups == "a", groups == "b"], [1.0, 2.0], 4.0)
    ones = np.ones((n, 2))
    return (scale * rng.normal(size=n), np.zeros(n), ones, 0.5 * ones), groups


def test_exactly_rank_rows_of_every_group_are_covered():
    data, groups = three_groups(np.random.default_rng(0), 300)
    fitted = GroupCalibrator(confidence_level=0.9).fit(*data, calibration_groups=groups)
    inside = covered(data[0], fitted.predict_interval(*data[1:], calibration_groups=groups))
    for group in fitted.calibration_groups_:
        assert group.rows == "own"
        assert inside[groups == group.label].sum() == rank(group.n, 0.9)
        assert group.gamma2 / group.gamma1 == pytest.approx(fitted.pooled_.lambda_)


def test_the_coverage_of_a_group_follows_its_beta_distribution():
    rng = np.random.default_rng(0)
    coverages = []
    for _ in range(400):
        data, _ = three_groups(rng, 60)
        groups = np.repeat(["a", "b"], [23, 37])
        y = np.where(groups == "a", 1, 5) * rng.normal(size=60)
        fitted = GroupCalibrator(FixedRatioCalibrator(), confidence_level=0.8).fit(
            y, *data[1:], calibration_groups=groups
        )
        reach = fitted.predict_interval([0.0], [[1, 1]], [[0.5, 0.5]], calibration_groups=["a"])[
            0, 1
        ]
        coverages.append(stats.norm.cdf(reach) - stats.norm.cdf(-reach))
    assert fitted.guarantee_ == Guarantee.GROUPS
    law = stats.beta(*beta_parameters(23, 0.8))
    assert stats.kstest(coverages, law.cdf).pvalue > 0.01
    pooled = stats.beta(*beta_parameters(60, 0.8))
    assert stats.kstest(coverages, pooled.cdf).pvalue < 1e-6


def test_small_groups_are_merged_or_pooled_as_asked_and_said():
    data, groups = three_groups(np.random.default_rng(1), 200)
    groups = groups.astype(object)
    groups[:4], groups[4:12] = "few", "some"
    merged = GroupCalibrator(confidence_level=0.9).fit(*data, calibration_groups=groups)
    assert {g.label: g.rows for g in merged.calibration_groups_} == {
        "a": "own",
        "b": "own",
        "c": "own",
        "few": "merged",
        "some": "merged",
    }
    together = FixedRatioCalibrator(0.9, ratio=merged.pooled_.lambda_[0])
    together.fit(*(array[:12] for array in data))
    assert (
        merged.calibration_groups_[3].gamma1[0]
        == merged.calibration_groups_[4].gamma1[0]
        == together.gamma1_
    )
    pooled = GroupCalibrator(confidence_level=0.9, small="pool").fit(
        *data, calibration_groups=groups
    )
    assert [g.rows for g in pooled.calibration_groups_[3:]] == ["pooled", "pooled"]
    assert pooled.calibration_groups_[3].gamma1[0] == pooled.pooled_.gamma1_[0]
    assert pooled.guarantee_ == Guarantee.JOINT.with_exceptions(["few", "some"])
    assert pooled.guarantee_.endswith(": few, some")
    still_few = GroupCalibrator(confidence_level=0.9, smallest=13).fit(
        *data, calibration_groups=groups
    )
    assert [g.rows for g in still_few.calibration_groups_[3:]] == ["pooled", "pooled"]


def test_a_group_that_is_calibrated_on_too_few_rows_has_infinite_bounds():
    data, groups = three_groups(np.random.default_rng(1), 200)
    groups = groups.astype(object)
    groups[:4] = "few"
    with pytest.warns(CalibrationWarning, match=r"within few \(4 calibration rows\)"):
        fitted = GroupCalibrator(smallest=2).fit(*data, calibration_groups=groups)
    new = ([0.0, 0.0], [[1, 1]] * 2, [[1, 1]] * 2)
    bounds = fitted.predict_interval(*new, calibration_groups=["few", "a"])
    assert np.isinf(bounds).tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize("small", ["merge", "pool"])
def test_with_rows_of_its_own_to_choose_lambda_no_group_shares_rows(small):
    """Each group has the rank among its own rows, or infinite bounds and a warning."""
    data, groups = three_groups(np.random.default_rng(1), 200)
    groups = groups.astype(object)
    groups[:8], groups[8:17] = "eight", "nine"
    fitted = GroupCalibrator(confidence_level=[0.9, 0.5], small=small, smallest=30)
    with pytest.warns(CalibrationWarning, match=r"level 0\.9 within eight \(8 calibration rows\):"):
        fitted.fit(
            *data,
            calibration_groups=groups,
            validation=three_groups(np.random.default_rng(2), 90)[0],
        )
    assert {group.rows for group in fitted.calibration_groups_} == {"own"}
    assert fitted.guarantee_ == Guarantee.GROUPS
    bounds = fitted.predict_interval(*data[1:], calibration_groups=groups)
    assert np.isinf(bounds[:8, :, 0]).all()
    assert np.isfinite(bounds[8:]).all()
    for group in fitted.calibration_groups_[:3] + fitted.calibration_groups_[4:]:
        own = groups == group.label
        for j, level in enumerate(fitted.levels_.tolist()):
            assert covered(data[0][own], bounds[own][:, :, j]).sum() == rank(group.n, level)


def test_rows_of_a_group_that_all_count_alike_are_as_many_as_without_weights():
    data, groups = three_groups(np.random.default_rng(3), 150)
    others = three_groups(np.random.default_rng(4), 90)[0]
    one = GroupCalibrator(confidence_level=0.9).fit(
        *data, calibration_groups=groups, validation=others
    )
    weight = np.select([groups == "a", groups == "b"], [50.0, 1 / 3], 1.0)
    two = clone(one).fit(*data, calibration_groups=groups, validation=others, sample_weight=weight)
    for first, second in zip(one.calibration_groups_, two.calibration_groups_, strict=True):
        np.testing.assert_array_equal(first.gamma1, second.gamma1)


def test_weights_that_differ_in_a_group_promise_nothing_to_rows_that_count_alike():
    """Quiet rows that weigh more make intervals too short for rows with loud noise."""
    rng, ones = np.random.default_rng(0), np.ones((2000, 2))
    groups, is_loud = np.repeat(["a", "b"], 1000), np.tile([True, False], 1000)
    y = np.where(is_loud, 10.0, 1.0) * rng.normal(size=2000)
    data = (y, np.zeros(2000), ones, ones)
    fitted = GroupCalibrator(confidence_level=0.9).fit(
        *data,
        calibration_groups=groups,
        validation=tuple(array[::2] for array in data),
        sample_weight=np.where(is_loud, 1.0, 100.0),
    )
    inside = covered(y, fitted.predict_interval(*data[1:], calibration_groups=groups))
    assert inside.mean() < 0.6
    assert fitted.guarantee_ == Guarantee.WEIGHTED_GROUPS
    assert Guarantee.in_text(fitted.guarantee_) is Guarantee.WEIGHTED_GROUPS


def test_rows_that_count_as_several_are_no_further_rows_to_the_guarantee():
    data, groups = three_groups(np.random.default_rng(5), 120)
    fixed = GroupCalibrator(FixedRatioCalibrator(ratio=0))
    assert fixed.fit(*data, calibration_groups=groups).guarantee_ == Guarantee.GROUPS
    fixed.fit(*data, calibration_groups=groups, sample_weight=np.full(120, 50.0))
    assert fixed.guarantee_ == Guarantee.JOINT


def test_unknown_groups_are_named_or_pooled():
    data, groups = three_groups(np.random.default_rng(2), 120)
    new = ([0.0, 0.0], [[1, 1]] * 2, [[1, 1]] * 2)
    strict = GroupCalibrator().fit(*data, calibration_groups=groups)
    advice = r"not calibrated: north\. .* GroupCalibrator\(unknown=\"pool\"\)"
    with pytest.raises(ValueError, match=advice):
        strict.predict_interval(*new, calibration_groups=["a", "north"])
    lenient = GroupCalibrator(unknown="pool").fit(*data, calibration_groups=groups)
    with pytest.warns(CalibrationWarning, match=r"\(north\) get the factors of all rows"):
        bounds = lenient.predict_interval(*new, calibration_groups=["a", "north"])
    alone = ClearCalibrator().fit(*data).predict_interval(*new)
    np.testing.assert_array_equal(bounds[1], alone[1])
    with pytest.raises(ValueError, match=r"groups must have shape \(2,\)"):
        strict.predict_interval(*new, calibration_groups=["a"])


def test_several_levels_are_nested_and_weights_are_repeated_rows():
    data, groups = three_groups(np.random.default_rng(3), 150)
    weight = np.arange(150) % 3
    fitted = GroupCalibrator(confidence_level=[0.8, 0.5])
    one = fitted.fit(*data, calibration_groups=groups, sample_weight=weight)
    intervals = one.predict_interval(*data[1:], calibration_groups=groups)
    assert intervals.shape == (150, 2, 2)
    assert np.all(np.ptp(intervals, axis=1)[:, 0] >= np.ptp(intervals, axis=1)[:, 1])
    repeated = [np.repeat(array, weight, axis=0) for array in data]
    other = clone(fitted).fit(*repeated, calibration_groups=np.repeat(groups, weight))
    for first, second in zip(one.calibration_groups_, other.calibration_groups_, strict=True):
        np.testing.assert_array_equal(first.gamma1, second.gamma1)


def test_one_group_is_the_calibrator_itself():
    data = calibration_set()
    fitted = GroupCalibrator().fit(*data, calibration_groups=np.full(300, "all"))
    plain = ClearCalibrator().fit(*data)
    assert fitted.calibration_groups_[0].gamma1[0] == plain.gamma1_
    assert fitted.guarantee_ == Guarantee.JOINT
    others = calibration_set(seed=1)
    split = GroupCalibrator().fit(*data, calibration_groups=np.full(300, "all"), validation=others)
    assert split.guarantee_ == Guarantee.GROUPS


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"small": "drop"}, "small"), ({"unknown": "guess"}, "unknown"), ({"smallest": 0}, "whole")],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GroupCalibrator(**parameters).fit(*calibration_set(n=30), calibration_groups=["a"] * 30)
