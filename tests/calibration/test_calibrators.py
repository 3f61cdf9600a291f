import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from clearbands import metrics
from clearbands.calibration.calibrators import (
    ClearCalibrator,
    FixedAleatoricCalibrator,
    FixedRatioCalibrator,
)
from clearbands.calibration.conformal import CalibrationWarning, rank
from clearbands.calibration.lambda_path import PAPER_LAMBDAS
from clearbands.rows.bands import covered
from tests.toys import calibration_set, widths_with_ties

CALIBRATORS = [ClearCalibrator, FixedRatioCalibrator, FixedAleatoricCalibrator]
seeds = st.integers(0, 10**6)


def n_covered(calibrator, y, center, aleatoric, epistemic):
    return int(covered(y, calibrator.predict_interval(center, aleatoric, epistemic)).sum())


def test_four_rows_by_hand():
    """Scores 1, 2, 3, 4 at lambda = 1; level 0.6 asks for the third of four."""
    y, center = np.array([2.0, -4.0, 6.0, -8.0]), np.zeros(4)
    ones = np.ones((4, 2))
    fitted = FixedRatioCalibrator(0.6, ratio=1.0).fit(y, center, ones, ones)
    assert (fitted.lambda_, fitted.gamma1_, fitted.gamma2_) == (1.0, 3.0, 3.0)
    np.testing.assert_allclose(fitted.predict_interval([1.0], [[1, 2]], [[0, 1]]), [[-2, 10]])


def test_golden_values():
    """The values stay through refactorings; a grid of 200,000 lambdas confirmed the loss."""
    fitted = ClearCalibrator(0.9).fit(*calibration_set())
    assert fitted.lambda_ == pytest.approx(0.850775, abs=1e-6)
    assert fitted.gamma1_ == pytest.approx(0.726357, abs=1e-6)
    assert fitted.loss_ == pytest.approx(0.0924662, abs=1e-7)


@given(seeds, st.sampled_from([0.5, 0.8, 0.9, 0.95]))
@settings(max_examples=60, deadline=None)
def test_exactly_rank_rows_are_covered_when_scores_are_distinct(seed, level):
    data = calibration_set(n=120, seed=seed)
    fitted = FixedRatioCalibrator(level, ratio=0.7).fit(*data)
    assert n_covered(fitted, *data) == rank(120, level)
    # At the best lambda two rows may share the last score: it is a crossing of their lines.
    assert n_covered(ClearCalibrator(level).fit(*data), *data) in (
        rank(120, level),
        rank(120, level) + 1,
    )


@given(widths_with_ties(), st.sampled_from(CALIBRATORS))
@settings(max_examples=200, deadline=None)
def test_at_least_rank_rows_are_covered_with_ties_and_zeros(data, calibrator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        fitted = calibrator(0.5).fit(*data)
    assert n_covered(fitted, *data) >= rank(len(data[0]), 0.5)


@given(seeds, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=40, deadline=None)
def test_units_of_y_do_not_matter(seed, scale, shift):
    y, center, aleatoric, epistemic = calibration_set(n=100, seed=seed)
    one = ClearCalibrator(0.9).fit(y, center, aleatoric, epistemic)
    other = ClearCalibrator(0.9).fit(
        scale * y + shift, scale * center + shift, scale * aleatoric, scale * epistemic
    )
    assert other.lambda_ == pytest.approx(one.lambda_, rel=1e-6)
    assert other.gamma1_ == pytest.approx(one.gamma1_, rel=1e-6)


@given(seeds, st.integers(-20, 20))
@settings(max_examples=40, deadline=None)
def test_the_unit_of_the_epistemic_part_only_moves_lambda(seed, power):
    y, center, aleatoric, epistemic = calibration_set(n=100, seed=seed)
    factor = 2.0**power  # exact in floating point, so the interval must not change by one bit
    one = ClearCalibrator(0.9).fit(y, center, aleatoric, epistemic)
    other = ClearCalibrator(0.9).fit(y, center, aleatoric, factor * epistemic)
    assert other.lambda_ == one.lambda_ / factor
    np.testing.assert_array_equal(
        other.predict_interval(center, aleatoric, factor * epistemic),
        one.predict_interval(center, aleatoric, epistemic),
    )


def test_loss_is_the_metric_of_the_calibrated_intervals():
    y, center, aleatoric, epistemic = calibration_set()
    for calibrator in CALIBRATORS:
        fitted = calibrator(0.9).fit(y, center, aleatoric, epistemic)
        intervals = fitted.predict_interval(center, aleatoric, epistemic)
        assert fitted.loss_ == pytest.approx(metrics.quantile_loss(y, intervals, 0.9))


def test_clear_is_at_least_as_good_as_any_fixed_ratio():
    data = calibration_set()
    clear = ClearCalibrator(0.9).fit(*data)
    for ratio in (0, 0.3, 1, 5, math.inf):
        assert clear.loss_ <= FixedRatioCalibrator(0.9, ratio=ratio).fit(*data).loss_ + 1e-12
    grid = ClearCalibrator(0.9, lambdas=PAPER_LAMBDAS).fit(*data)
    assert grid.lambda_ in PAPER_LAMBDAS
    assert clear.loss_ <= grid.loss_


def test_validation_rows_alone_choose_lambda():
    first, second, third = (calibration_set(n=200, seed=seed) for seed in (1, 2, 3))
    split = ClearCalibrator(0.9).fit(*first, validation=third)
    assert split.lambda_ == ClearCalibrator(0.9).fit(*third).lambda_
    assert split.lambda_ == ClearCalibrator(0.9).fit(*second, validation=third).lambda_
    assert split.gamma1_ == FixedRatioCalibrator(0.9, ratio=split.lambda_).fit(*first).gamma1_


def test_conformalized_clear_covers_in_finite_samples():
    """Mean coverage over many small calibration sets lies at or just above the level."""
    shares = []
    for seed in range(300):
        data = calibration_set(n=240, seed=seed)
        validation, calibration, new = (
            [array[part] for array in data]
            for part in (slice(0, 40), slice(40, 80), slice(80, None))
        )
        fitted = ClearCalibrator(0.9).fit(*calibration, validation=validation)
        shares.append(covered(new[0], fitted.predict_interval(*new[1:])).mean())
    standard_error = np.std(shares) / math.sqrt(len(shares))
    assert 0.9 - 3 * standard_error < np.mean(shares) < 0.9 + 1 / 41 + 3 * standard_error


def test_too_few_rows_take_the_largest_score_and_say_so():
    data = calibration_set(n=10)
    with pytest.warns(CalibrationWarning, match="10 calibration rows are too few for level 0.95"):
        fitted = ClearCalibrator(0.95).fit(*data)
    assert n_covered(fitted, *data) == 10
    assert np.isfinite(fitted.gamma1_)


def test_too_few_rows_kept_apart_give_infinite_bounds_and_say_so():
    data = calibration_set(n=10)
    with pytest.warns(CalibrationWarning, match="at least 19 are needed"):
        fitted = ClearCalibrator(0.95).fit(*data, validation=calibration_set(n=50))
    assert fitted.gamma1_ == math.inf
    assert np.isinf(fitted.predict_interval(np.zeros(2), np.zeros((2, 2)), np.ones((2, 2)))).all()


def test_no_finite_factor_reaches_rows_off_zero_widths():
    y, zero = np.arange(1.0, 31.0), np.zeros((30, 2))
    with pytest.warns(CalibrationWarning, match="both widths are zero"):
        fitted = ClearCalibrator(0.9).fit(y, np.zeros(30), zero, zero)
    assert np.isinf(fitted.predict_interval([0.0], [[0, 0]], [[0, 0]])).all()


def test_constant_y_on_its_center_needs_no_width():
    y = np.full(30, 7.0)
    fitted = ClearCalibrator(0.9).fit(y, y, np.ones((30, 2)), np.ones((30, 2)))
    assert fitted.gamma1_ == fitted.gamma2_ == 0
    assert fitted.predict_interval([7.0], [[1, 1]], [[1, 1]]).tolist() == [[7.0, 7.0]]


def test_fixed_aleatoric_keeps_gamma1_and_never_shrinks_below_it():
    data = calibration_set()
    fitted = FixedAleatoricCalibrator(0.9, gamma1=0.3).fit(*data)
    assert fitted.gamma1_ == 0.3
    assert n_covered(fitted, *data) == rank(300, 0.9)
    assert FixedAleatoricCalibrator(0.9, gamma1=100).fit(*data).lambda_ == 0


@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_several_levels_are_nested(calibrator):
    y, center, aleatoric, epistemic = calibration_set()
    levels = [0.95, 0.5, 0.8]
    fitted = calibrator(levels).fit(y, center, aleatoric, epistemic)
    intervals = fitted.predict_interval(center, aleatoric, epistemic)
    assert intervals.shape == (300, 2, 3)
    assert fitted.lambda_.shape == fitted.gamma1_.shape == fitted.loss_.shape == (3,)
    inner_first = intervals[:, :, np.argsort(levels)]
    assert np.all(np.diff(inner_first[:, 0], axis=1) <= 0)
    assert np.all(np.diff(inner_first[:, 1], axis=1) >= 0)
    for j, level in enumerate(levels):
        assert covered(y, intervals[:, :, j]).sum() >= rank(300, level)


def test_nesting_keeps_the_parts_adding_up():
    """Widths that shrink with the level: the higher level takes over both parts of the lower."""
    y, center, aleatoric, epistemic = calibration_set()
    shrinking = np.stack([aleatoric, 0.01 * aleatoric], axis=2)
    fitted = FixedAleatoricCalibrator([0.5, 0.6]).fit(
        y, center, shrinking, np.repeat(epistemic[:, :, None], 2, axis=2)
    )
    parts = fitted.scale(shrinking, epistemic)
    total = parts[0] + parts[1]
    assert np.all(total[:, :, 1] >= total[:, :, 0])
    assert np.any(total[:, :, 1] == total[:, :, 0])
    np.testing.assert_allclose(
        fitted.predict_interval(center, shrinking, epistemic)[:, 1], center[:, None] + total[:, 1]
    )


@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_predict_changes_nothing_and_refitting_forgets(calibrator):
    one, other = calibration_set(seed=1), calibration_set(seed=2)
    fitted = calibrator(0.9).fit(*one)
    before = {name: np.copy(value) for name, value in vars(fitted).items()}
    fitted.predict_interval(*other[1:])
    assert all(np.array_equal(before[name], value) for name, value in vars(fitted).items())
    again = fitted.fit(*other)
    assert again.gamma2_ == clone(fitted).fit(*other).gamma2_


def replaced(position, value):
    data = list(calibration_set(n=30))
    data[position] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (replaced(0, np.full(30, np.nan)), "y contains NaN"),
        (replaced(1, np.full(30, np.inf)), "center contains NaN or infinity"),
        (replaced(1, np.zeros(29)), "center has 29 rows"),
        (replaced(2, -np.ones((30, 2))), "aleatoric must not be negative"),
        (replaced(3, np.full((30, 2), np.nan)), "epistemic contains NaN"),
        (replaced(3, np.ones(30)), r"epistemic must have shape \(n, 2\)"),
        (([], [], np.empty((0, 2)), np.empty((0, 2))), "y is empty"),
    ],
)
@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_bad_arrays(calibrator, data, message):
    with pytest.raises(ValueError, match=message):
        calibrator(0.9).fit(*data)
    with pytest.raises(ValueError, match=f"validation {message}"):
        calibrator(0.9).fit(*calibration_set(n=30), validation=data)


@pytest.mark.parametrize(
    ("calibrator", "message"),
    [
        (ClearCalibrator(lambdas="grid"), "exact"),
        (ClearCalibrator(lambdas=[]), "lambdas must be"),
        (ClearCalibrator(lambdas=[-1.0]), "lambdas must be"),
        (FixedRatioCalibrator(ratio=-1), "ratio must be"),
        (FixedAleatoricCalibrator(gamma1=0), "gamma1 must be"),
        (ClearCalibrator(95), "Did you mean 0.95?"),
    ],
)
def test_bad_parameters(calibrator, message):
    with pytest.raises(ValueError, match=message):
        calibrator.fit(*calibration_set(n=30))


def test_predict_before_fit_and_with_rows_that_differ():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ClearCalibrator().predict_interval([0.0], [[1, 1]], [[1, 1]])
    with pytest.raises(NotFittedError):
        _ = ClearCalibrator().lambda_
    fitted = ClearCalibrator().fit(*calibration_set(n=30))
    with pytest.raises(ValueError, match="equally many rows, got 2, 1 and 1"):
        fitted.predict_interval([0.0, 1.0], [[1, 1]], [[1, 1]])


@pytest.mark.parametrize("scale", [1e-149, 1e-40, 1e40, 1e146])
@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_own_rows_stay_covered_at_any_scale(calibrator, scale):
    data = [scale * array for array in calibration_set(n=100)]
    fitted = calibrator(0.9).fit(*data)
    assert n_covered(fitted, *data) >= rank(100, 0.9)
    usual = calibrator(0.9).fit(*calibration_set(n=100))
    assert fitted.gamma2_ == pytest.approx(usual.gamma2_, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_the_two_parts_may_have_units_of_their_own(unit):
    y, center, aleatoric, epistemic = calibration_set(n=100)
    data = (y, center, aleatoric, unit * epistemic)
    fitted = ClearCalibrator(0.9).fit(*data)
    assert n_covered(fitted, *data) >= rank(100, 0.9)
    assert fitted.gamma2_ * unit == pytest.approx(
        ClearCalibrator(0.9).fit(y, center, aleatoric, epistemic).gamma2_, rel=1e-9
    )
    one, other = (FixedRatioCalibrator(0.9, ratio=ratio) for ratio in (1e300, math.inf))
    np.testing.assert_allclose(one.fit(*data).gamma2_, other.fit(*data).gamma2_, rtol=1e-9)


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize(
    ("position", "factor", "name"),
    [(2, 1.7e308, "aleatoric"), (3, 1e200, "epistemic"), (0, 1e160, "y"), (2, 1e-200, "aleatoric")],
)
def test_scales_beyond_exact_arithmetic_are_refused(calibrator, position, factor, name):
    data = list(calibration_set(n=30))
    data[position] = np.minimum(data[position], 1) * factor
    with pytest.raises(ValueError, match=f"largest value of {name} is .* another unit"):
        calibrator(0.9).fit(*data)
    with pytest.raises(ValueError, match=f"largest value of validation {name}"):
        calibrator(0.9).fit(*calibration_set(n=30), validation=data)


def test_bounds_beyond_the_largest_number_are_infinite_and_say_so():
    y, center, aleatoric, epistemic = calibration_set(n=100)
    fitted = FixedRatioCalibrator(0.9).fit(
        1e149 * y, center, 1e-100 * aleatoric, 1e-100 * epistemic
    )
    with pytest.warns(CalibrationWarning, match="exceed the largest number"):
        interval = fitted.predict_interval([0.0], [[1e149, 0.0]], [[0.0, 0.0]])
    assert interval[0, 0] == -np.inf
    assert abs(interval[0, 1]) < 1e-300
    with pytest.raises(ValueError, match="largest value of aleatoric"):
        fitted.predict_interval([0.0], [[1.7e308, 0.0]], [[0.0, 0.0]])


def epistemic_share(fitted, aleatoric, epistemic):
    parts = fitted.scale(aleatoric, epistemic)
    return parts[1].mean() / (parts[0] + parts[1]).mean()


def test_a_least_epistemic_share_is_kept_and_else_nothing_changes():
    rng = np.random.default_rng(0)
    y, center, ones = rng.normal(size=300), np.zeros(300), np.ones((300, 2))
    no_signal = rng.lognormal(0, 1, size=(300, 2))
    plain = ClearCalibrator(0.9).fit(y, center, ones, no_signal)
    assert epistemic_share(plain, ones, no_signal) < 0.05
    raised = ClearCalibrator(0.9, least_epistemic=0.1).fit(y, center, ones, no_signal)
    assert epistemic_share(raised, ones, no_signal) == pytest.approx(0.1)
    assert n_covered(raised, y, center, ones, no_signal) >= rank(300, 0.9)
    data = calibration_set()
    np.testing.assert_array_equal(
        ClearCalibrator(0.9, least_epistemic=0.1).fit(*data).factors_,
        ClearCalibrator(0.9).fit(*data).factors_,
    )
    nothing = ClearCalibrator(0.9, least_epistemic=0.1).fit(y, center, ones, 0 * ones)
    assert nothing.lambda_ == 0
    with pytest.raises(ValueError, match="least_epistemic must be a share"):
        ClearCalibrator(0.9, least_epistemic=1.0).fit(*data)


def test_the_usual_share_is_reached_only_where_the_rows_cannot_tell_the_difference():
    rng = np.random.default_rng(0)

    def share(n, widths):
        y, ones = rng.normal(size=n), np.ones((n, 2))
        widths = widths(n)
        rows = (y, np.zeros(n), ones, np.column_stack([widths, widths]))
        calibrator = ClearCalibrator(0.9, least_epistemic=0.02, usual_epistemic=0.1).fit(*rows)
        assert n_covered(calibrator, *rows) >= rank(n, 0.9)
        return epistemic_share(calibrator, *rows[2:])

    def even(n):
        return np.exp(rng.normal(size=n) / 10)

    def wild(n):
        return np.exp(3 * rng.normal(size=n))

    assert share(300, even) >= 0.1 - 1e-12  # the rows cannot tell losses apart
    assert share(3000, wild) == pytest.approx(0.02)
    with pytest.raises(ValueError, match="usual_epistemic must be a share"):
        ClearCalibrator(0.9, usual_epistemic=-0.1).fit(*calibration_set())


@pytest.mark.parametrize("unit", [1e-149, 1e-9, 1e149])
def test_the_usual_share_does_not_depend_on_the_unit(unit):
    rows = calibration_set(80)
    shares = {"least_epistemic": 0.05, "usual_epistemic": 0.9}
    plain, scaled = (
        ClearCalibrator(0.8, **shares).fit(*(factor * array for array in rows))
        for factor in (1.0, unit)
    )
    assert scaled.lambda_ == pytest.approx(plain.lambda_)


def test_the_usual_share_counts_whole_weights_as_repeated_rows():
    y, center, aleatoric, epistemic = calibration_set(60)
    times = np.random.default_rng(0).integers(1, 4, size=60)
    shares = {"least_epistemic": 0.3, "usual_epistemic": 0.8}
    weighted = ClearCalibrator(0.8, **shares).fit(
        y, center, aleatoric, epistemic, sample_weight=times
    )
    repeated = (np.repeat(array, times, axis=0) for array in (y, center, aleatoric, epistemic))
    assert weighted.lambda_ == pytest.approx(ClearCalibrator(0.8, **shares).fit(*repeated).lambda_)


def test_validation_rows_that_calibrate_are_told_of():
    rows = calibration_set(50)
    with pytest.warns(CalibrationWarning, match="validation rows are the calibration rows"):
        ClearCalibrator().fit(*rows, validation=rows)
