"""Rows that occur more than once, and models that say so."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import CQR, FoldedEnsemble, LinearQuantiles, MemberEnsemble, NaiveConformal
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.calibration.guarantee import Guarantee
from clearbands.rows.copies import check_copies
from clearbands.rows.split import Rows
from clearbands.uncertainty.scaled_residuals import ScaledResiduals
from tests.test_classifier import blobs, quick
from tests.toys import linear_clear, noisy_line


def lines(**parameters):
    parts = {
        "epistemic": FoldedEnsemble(LinearRegression()),
        "aleatoric": ScaledResiduals(LinearRegression()),
    }
    return linear_clear(**(parts | {"calibration": "cross"} | parameters))


def said_of(*parts, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = check_copies(*parts, **options)
    assert found == bool(said)
    return found


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_many_copies_are_told_of_and_nothing_is_claimed(calibration):
    X, y = noisy_line(60)
    with pytest.warns(UserWarning, match="120 of 120 rows have a copy among the others"):
        model = lines(calibration=calibration).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert model.guarantee_ == Guarantee.COPIES


def test_labels_and_weights_keep_copies_together():
    X, y = noisy_line(60)
    label = np.tile(np.arange(60), 2)
    model = lines().fit(np.tile(X, (2, 1)), np.tile(y, 2), groups=label)
    assert model.guarantee_ == Guarantee.CROSS
    assert lines().fit(X, y, sample_weight=np.full(60, 2.0)).guarantee_ == Guarantee.CROSS


CHANGES = {
    "single precision": lambda X, y: (X.astype("f4"), y),
    "single precision of y too": lambda X, y: (X.astype("f4"), y.astype("f4")),
    "shifted": lambda X, y: (X, y + 1e-12),
    "half of them": lambda X, y: (X[::2].astype("f4"), y[::2]),
}


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_training_rows_that_calibrate_are_known_after_rounding(change, calibration):
    X, y = noisy_line(80)
    X = np.column_stack([X, np.full(80, 0.1)])  # a constant is rounded, too
    X_cal, y_cal = change(X, y)
    n = len(y_cal)
    with pytest.warns(UserWarning, match=f"{n} of {n} calibration rows are among the training"):
        model = lines(calibration=calibration).fit(X, y, X_cal=X_cal, y_cal=y_cal)
    assert model.guarantee_ == Guarantee.COPIES


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_copies_that_differ_in_the_last_digits(calibration):
    X, y = noisy_line(60)
    X = np.tile(X, (4, 1)) + 1e-9 * np.random.default_rng(0).normal(size=(240, 2))
    with pytest.warns(UserWarning, match="240 of 240 rows have a copy among the others"):
        model = lines(calibration=calibration).fit(X, np.tile(y, 4))
    assert model.guarantee_ == Guarantee.COPIES


def test_a_narrow_range_far_from_zero_is_no_rounding():
    X, y = noisy_line(300)
    assert not said_of(Rows(1e8 + X, 1e8 + y))
    assert said_of(Rows(np.tile(1e8 + X, (2, 1)), np.tile(1e8 + y, 2)))


def test_gaps_are_values_of_their_own():
    X, y = noisy_line(60)
    X[::3, 0] = np.nan
    assert not said_of(Rows(X, y))
    assert said_of(Rows(np.tile(X, (2, 1)), np.tile(y, 2)))


def test_one_value_that_is_usual_is_no_copy():
    rng = np.random.default_rng(0)
    mostly_zero = np.where(rng.random((700, 1)) < 0.8, 0.0, rng.exponential(size=(700, 1)))
    assert not said_of(Rows(mostly_zero, 3 * mostly_zero[:, 0]))
    with_towns = np.column_stack([mostly_zero, rng.integers(0, 35, 700)])
    assert not said_of(Rows(with_towns, with_towns @ [1.0, 2.0]))
    tenths = rng.normal(size=(300, 1)).round(2)
    assert not said_of(Rows(tenths, tenths[:, 0] ** 2))
    claims = np.where(rng.random(300) < 0.7, 0.0, rng.exponential(size=300))
    nothing = np.zeros((300, 1))
    given = Rows(nothing[:200], claims[:200]), [Rows(nothing[200:], claims[200:])]
    assert not said_of(*given, are_apart=True)


def test_a_few_copies_are_nothing():
    X, y = noisy_line(100)
    assert not said_of(Rows(np.vstack([X, X[:5]]), np.append(y, y[:5])))  # 10 of 105 rows
    assert said_of(Rows(np.vstack([X, X[:6]]), np.append(y, y[:6])))


def test_rows_alike_in_few_values_are_no_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 2)).astype(float)
    assert not said_of(Rows(X, rng.integers(0, 4, 200).astype(float)))  # noise
    assert not said_of(Rows(X, X[:, 0]))  # no noise, and every row occurs very often
    assert not said_of(Rows(rng.normal(size=(20, 2)), np.ones(20)))
    X_new, y_new = X[:50], rng.integers(0, 4, 50).astype(float)
    assert not said_of(Rows(X, rng.integers(0, 4, 200).astype(float)), [Rows(X_new, y_new)])


def grid(n, seed=0):
    """Return rows (n, 3) with five values in every column, so 125 different rows."""
    return np.random.default_rng(seed).integers(0, 5, (n, 3)).astype(float)


def test_fewer_than_twenty_different_rows_are_no_table():
    X, y = noisy_line(19)
    assert not said_of(Rows(np.tile(X, (4, 1)), np.tile(y, 4)))
    X, y = noisy_line(20)
    assert said_of(Rows(np.tile(X, (4, 1)), np.tile(y, 4)))


def test_where_y_follows_from_few_values_rows_are_alike_by_chance():
    X = grid(500)
    y = X @ [1.0, 0.7, 0.3]
    assert not said_of(Rows(X, y))
    towns = np.eye(40)[np.random.default_rng(1).integers(0, 40, 400)]  # as an encoder makes them
    assert not said_of(Rows(towns, towns @ np.arange(40.0)))
    # Chance does not make these rows alike: their many values agree together, though each column
    # has few.
    many = np.random.default_rng(2).integers(0, 6, (300, 8)).astype(float)
    assert said_of(Rows(np.tile(many, (2, 1)), np.tile(many @ np.arange(8.0), 2)))


def test_where_x_has_few_values_y_tells_copies():
    rng = np.random.default_rng(0)
    X, noise = grid(500), rng.normal(size=500)
    assert not said_of(Rows(X, X[:, 0] + noise))
    assert said_of(Rows(np.tile(X, (2, 1)), np.tile(X[:, 0] + noise, 2)))
    # Most claims are zero, and the others differ.
    claims = np.where(rng.random(500) < 0.7, 0.0, rng.exponential(size=500))
    assert not said_of(Rows(X, claims))
    assert said_of(Rows(np.tile(X, (2, 1)), np.tile(claims, 2)))
    # Whole numbers with little noise are often the same.
    whole = np.round(200 * X[:, 0] + 40 * X[:, 1] + 8 * X[:, 2] + noise)
    assert not said_of(Rows(X, whole))
    tenths = np.round(X[:, 0] + X[:, 1] + 0.1 * noise, 1)
    assert not said_of(Rows(X, tenths))


@pytest.mark.parametrize("n_values", [2, 4, 9])
@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_whole_numbers_are_no_copies(n_values, n_columns):
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, (400, n_columns)).astype(float)
    for y in (X.sum(axis=1), rng.poisson(1 + X.sum(axis=1)), np.exp(X).sum(axis=1)):
        assert not said_of(Rows(X, y.astype(float)))
        given = Rows(X[:100], y[:100].astype(float)), [Rows(X[100:], y[100:].astype(float))]
        assert not said_of(*given, are_apart=True)


@pytest.mark.parametrize("model", [NaiveConformal(), CQR(LinearQuantiles())])
def test_baselines_refuse_rows_that_trained(model):
    X, y = noisy_line(60)
    if isinstance(model, NaiveConformal):
        model.set_params(epistemic=FoldedEnsemble(LinearRegression()))
    with pytest.raises(ValueError, match="All 60 calibration rows are among the training rows"):
        model.fit(X, y, X_cal=X, y_cal=y)
    mixed = np.vstack([X[:20], X[:20] + 1])
    with pytest.warns(UserWarning, match="20 of 40 calibration rows are among the training rows"):
        model.fit(X, y, X_cal=mixed, y_cal=np.tile(y[:20], 2))
    assert model.guarantee_ == Guarantee.COPIES


def test_baselines_say_when_models_were_fitted_elsewhere():
    X, y = noisy_line(60)
    members = [LinearRegression().fit(X[i:], y[i:]) for i in range(3)]
    with pytest.warns(CalibrationWarning, match="MemberEnsemble were fitted elsewhere"):
        model = NaiveConformal(MemberEnsemble(members)).fit(X, y)
    assert model.guarantee_ == Guarantee.UNKNOWN
    assert model.fit(X, y, X_cal=X + 1, y_cal=y).guarantee_ == Guarantee.CONFORMAL


def test_classes_too():
    X, y = blobs(60)
    with pytest.warns(UserWarning, match="120 of 120 rows have a copy"):
        model = quick().fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert model.guarantee_ == Guarantee.COPIES
    with pytest.raises(ValueError, match="All 60 calibration rows"):
        quick().fit(X, y, X_cal=X, y_cal=y)
    few_values = np.round(X)
    assert quick().fit(few_values, (few_values[:, 0] > 1) * 1).guarantee_ == Guarantee.CROSS
