"""Messages name rows by their own numbers."""

import inspect
import linecache
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate

from clearbands import (
    CalibrationWarning,
    ClearCalibrator,
    ClearRegressor,
    PCSEnsemble,
    diagnose,
    fast,
)
from clearbands.classifier import ClearClassifier
from clearbands.diagnostics.importance import feature_importance
from clearbands.rows.messages import (
    Failures,
    record_order,
    renamed,
    row_name,
    rows_of_a_file,
    suppress_warnings,
    warn,
)
from clearbands.uncertainty.folded_bounds import FoldedBounds
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from tests.toys import linear_clear, noisy_line
from tests.uncertainty.test_pcs_ensemble import RIVALS, Odd, OddInBootstraps, raise_its_own


def test_rows_of_files_keep_their_numbers_where_they_are_sorted_and_chosen():
    assert row_name(0) == "row 0 (counted from 0)"
    with rows_of_a_file():
        record_order(np.array([4, 2, 0, 1, 3]))
        record_order(np.array([3, 0]))
        assert row_name(0) == "row 2 (counted from 1)"
        assert row_name(1) == "row 5 (counted from 1)"
    with rows_of_a_file():
        assert row_name(1_234) == "row 1,235 (counted from 1)"
    assert row_name(0) == "row 0 (counted from 0)"


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_a_fit_names_the_row_as_it_was_given(calibration):
    x = np.linspace(0, 1, 100)
    X, y = pd.DataFrame({"x": x}), x + np.resize([0.0, 0.1], 100)
    model = fast(calibration=calibration, random_state=0)
    with pytest.raises(ValueError, match=r"Column 'x' contains infinity, first in row 59 "):
        model.fit(pd.DataFrame({"x": np.where(X.index == 59, np.inf, x)}), y)
    wrong = np.where(np.arange(100) == 59, -1.0, y)
    for parameters in ({"support": (0, None)}, {"target_transform": "sqrt"}):
        model.set_params(support=None, target_transform=None).set_params(**parameters)
        with pytest.raises(ValueError, match=r"-1 in row 59 \(counted from 0\)"):
            model.fit(X, wrong)


def noticed(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return told


def shown(warning):
    return linecache.getline(warning.filename, warning.lineno)


def test_own_lines_are_passed_over():
    [told] = noticed(lambda: warn("Look here.", FutureWarning))  # this line warns
    assert told.category is FutureWarning
    assert str(told.message) == "Look here."
    assert told.filename == __file__
    assert "# this line warns" in shown(told)


def test_what_is_kept_back_is_of_the_kind_that_was_named_and_said_again_afterwards():
    def said():
        with suppress_warnings(FutureWarning):
            warn("Kept back.", FutureWarning)
            warn("Said.", UserWarning)
        warn("Said again.", FutureWarning)

    assert [str(told.message) for told in noticed(said)] == ["Said.", "Said again."]


def test_few_rows_are_told_of_once_not_for_every_pair_that_competes():
    X = np.random.default_rng(0).normal(size=(6, 2))
    told = noticed(lambda: ClearRegressor(random_state=0).fit(X, X[:, 0]))
    about_rows = [each for each in told if each.category is CalibrationWarning]
    assert len(about_rows) == 1, [str(each.message) for each in about_rows]
    assert "6 calibration rows are too few for level 0.9" in str(about_rows[0].message)


@pytest.mark.slow
def test_a_warning_points_at_the_call_however_deep_it_was_noticed(tmp_path):
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 1)), 2, axis=0)
    y = 2 * X[:, 0] + np.repeat(np.random.default_rng(1).normal(size=60), 2)
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"x": X[:, 0], "y": y}).write_parquet(file)
    arrays = y[:5], y[:5], np.ones((5, 2)), np.ones((5, 2))
    calls = {
        "copies": lambda: fast(random_state=0).fit(X, y),
        "copies in files": lambda: fast(random_state=0).fit(file, "y"),
        "too few rows": lambda: ClearCalibrator(confidence_level=0.9).fit(*arrays),
    }
    for name, call in calls.items():
        told = noticed(call)
        assert told, name
        assert {warning.filename for warning in told} == {__file__}, name


@pytest.mark.parametrize(
    ("function", "old", "words"),
    [
        (ClearRegressor.fit, "together", "give rows that belong together as groups"),
        (ClearRegressor.predict_interval, "groups", "as calibration_groups"),
        (ClearRegressor.predict_quantiles, "groups", "as calibration_groups"),
        (ClearRegressor.update, "groups", "as calibration_groups"),
        (ClearRegressor.report, "groups", "whose coverage is compared as by"),
        (ClearClassifier.report, "groups", "whose coverage is compared as by"),
        (diagnose, "groups", "whose coverage is compared as by"),
        (feature_importance, "groups", "as calibration_groups"),
    ],
)
def test_an_old_name_gets_a_sentence_that_gives_the_new_one(function, old, words):
    with pytest.raises(TypeError, match=f"{function.__name__} has no argument '{old}': .*{words}"):
        function(**{old: [1]})
    assert old not in inspect.signature(function).parameters


def test_other_arguments_pass():
    @renamed(before="groups")
    def take(groups, *, other=0):
        return groups, other

    assert take(1) == (1, 0)
    assert take(groups=2, other=3) == (2, 3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        take(1, wrong=2)


class Groups(ClearRegressor):
    """A regressor that keeps the labels of its fit."""

    def fit(self, X, y, *, groups=None):
        self.labels_ = groups
        return super().fit(X, y, groups=groups)


def test_scikit_learn_passes_groups_to_the_folds_and_to_fit():
    rng = np.random.default_rng(0)
    X, patient = rng.normal(size=(90, 2)), np.repeat(np.arange(30), 3)
    y = X[:, 0] + rng.normal(size=90)
    model = linear_clear()
    plain = cross_val_score(model, X, y, groups=patient, cv=GroupKFold(3))
    assert np.isfinite(plain).all()
    parts = FoldedEnsemble(LinearRegression(), 3, 1), FoldedBounds(n_folds=3, n_repeats=1)
    with config_context(enable_metadata_routing=True):
        asked = Groups(*parts, random_state=0).set_fit_request(groups=True)
        assert clone(asked).get_metadata_routing().fit.requests["groups"] is True
        assert ClearRegressor().set_fit_request(groups=True, calibration_groups=False)
        found = cross_validate(
            clone(asked), X, y, params={"groups": patient}, cv=GroupKFold(3), return_estimator=True
        )
    for fitted in found["estimator"]:
        assert len(fitted.labels_) == 60
        assert len(np.unique(fitted.labels_)) == 20


@pytest.mark.parametrize("model", [Odd(raise_its_own), OddInBootstraps(raise_its_own)])
def test_the_warning_points_at_the_line_of_the_user(model):
    X, y = noisy_line(60)
    with pytest.warns(UserWarning, match="'odd' is left out") as said:
        PCSEnsemble({"odd": model, **RIVALS}, n_bootstraps=3, random_state=0).fit(X, y)
    assert said[0].filename == __file__


def test_one_without_rivals_raises_its_own_error_and_an_interrupt_is_no_failure():
    failures = Failures()
    with pytest.raises(KeyError), failures.leaving_out("It", has_rivals=False):
        raise KeyError("size")
    with pytest.raises(KeyboardInterrupt), failures.leaving_out("It"):
        raise KeyboardInterrupt
    assert len(failures) == 0


def test_the_same_words_are_said_once():
    failures = Failures()
    for who in ("A", "B", "C"):
        with pytest.warns(UserWarning, match="left out"), failures.leaving_out(who):
            raise ValueError("too few rows" if who < "C" else "too many")
    error = failures.none_left("All failed")
    assert str(error) == "All failed (A, B: too few rows; C: too many)."
    assert str(error.__cause__) == "too many"
