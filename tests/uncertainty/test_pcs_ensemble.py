import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import (
    BoostedQuantiles,
    FoldedEnsemble,
    ForestQuantiles,
    LinearQuantiles,
    PCSEnsemble,
)
from tests.toys import OTHER_DRAWS, linear_clear, noisy_line
from tests.uncertainty.root import Root


def test_the_best_model_wins_and_the_table_says_by_how_much():
    X, y = noisy_line()
    pool = {"mean": DummyRegressor(), "line": LinearRegression()}
    fitted = PCSEnsemble(pool, n_bootstraps=5, random_state=0).fit(
        X[:160], y[:160], validation=(X[160:], y[160:])
    )
    first, second = fitted.leaderboard_
    assert (first["model"], first["selected"]) == ("line", True)
    assert (second["model"], second["selected"]) == ("mean", False)
    once = LinearRegression().fit(X[:160], y[:160])
    assert first["r2"] == pytest.approx(once.score(X[160:], y[160:]))
    assert first["rmse"] < second["rmse"]
    assert isinstance(fitted.winner_, LinearRegression)


class Odd(RegressorMixin, BaseEstimator):
    """A line that spoils its predictions."""

    def __init__(self, spoil=None):
        self.spoil = spoil

    def fit(self, X, y):
        self.line_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.spoil(self.line_.predict(X))


def raise_its_own(predicted):
    raise RuntimeError("out of memory on the device")


SPOILT = {
    "NaN or infinity": lambda p: np.where(np.arange(len(p)) == 0, np.nan, p),
    r"shape \(\d+, 2\)": lambda p: np.column_stack([p, p]),
    r"shape \(\d+,\) for \d+ rows": lambda p: p[:-1],
    "complex128, not real numbers": lambda p: p + 1j,
    "out of memory on the device": raise_its_own,
}


@pytest.mark.parametrize("said", SPOILT)
def test_a_candidate_that_fails_is_left_out_and_named(said):
    X, y = noisy_line(80)
    pool = {"odd": Odd(SPOILT[said]), "mean": DummyRegressor(), "line": LinearRegression()}
    ensemble = PCSEnsemble(pool, n_bootstraps=3, random_state=0)
    with pytest.warns(UserWarning, match=f"The model 'odd' is left out: .*{said}"):
        ensemble.fit(X, y)
    assert [entry["model"] for entry in ensemble.leaderboard_] == ["line", "mean"]
    with pytest.raises((ValueError, RuntimeError), match=said):  # if it has no rival
        FoldedEnsemble(Odd(SPOILT[said])).fit(X, y).predict_unseen(X)


def test_a_pool_that_fails_says_why():
    X, y = noisy_line(80)
    pool = {"odd": Odd(raise_its_own), "other": Odd(raise_its_own)}
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ValueError, match=r"model 'odd', .*: RuntimeError: out of memory") as error,
    ):
        PCSEnsemble(pool, n_bootstraps=3, random_state=0).fit(X, y)
    assert isinstance(error.value.__cause__, RuntimeError)  # the cause shows where it failed


class OddInBootstraps(Odd):
    """A line that spoils its predictions if some rows were drawn twice."""

    def fit(self, X, y):
        self.spoils_ = len(np.unique(X, axis=0)) < len(X)
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) if self.spoils_ else self.line_.predict(X)


RIVALS = {"mean": DummyRegressor(), "line": LinearRegression()}


@pytest.mark.parametrize("said", SPOILT)
@pytest.mark.parametrize("top_k", [1, 2])
def test_where_members_fail_the_next_best_takes_the_place(said, top_k):
    X, y = noisy_line(80)
    pool = {"odd": OddInBootstraps(SPOILT[said]), **RIVALS}
    ensemble = PCSEnsemble(pool, top_k=top_k, n_bootstraps=3, random_state=0)
    validation = noisy_line(80, seed=1)
    with pytest.warns(UserWarning, match=f"The model 'odd' is left out: .*{said}"):
        ensemble.fit(X, y, validation=validation)
    without = PCSEnsemble(RIVALS, top_k=top_k, n_bootstraps=3, random_state=0)
    without.fit(X, y, validation=validation)
    assert ensemble.leaderboard_ == without.leaderboard_
    assert isinstance(ensemble.winner_, LinearRegression)
    np.testing.assert_array_equal(ensemble.predict_members(X), without.predict_members(X))


def test_where_all_members_fail_it_is_an_error():
    X, y = noisy_line(80)
    two = {"odd": OddInBootstraps(raise_its_own), "other": OddInBootstraps(raise_its_own)}
    said = r"Every model of the pool failed \(The model 'odd', The model 'other': RuntimeError"
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ValueError, match=said):
        PCSEnsemble(two, n_bootstraps=3, random_state=0).fit(X, y)
    with pytest.raises(RuntimeError, match="out of memory on the device"):  # its own error
        PCSEnsemble([two["odd"]], n_bootstraps=3, random_state=0).fit(X, y)


def test_a_regressor_goes_on_with_the_next_best():
    X, y = noisy_line(120)
    pool = {"odd": OddInBootstraps(SPOILT["NaN or infinity"]), "mean": DummyRegressor()}
    model = linear_clear(epistemic=PCSEnsemble(pool, n_bootstraps=10))
    with pytest.warns(UserWarning, match="The model 'odd' is left out"):
        model.fit(X, y)
    assert [entry["model"] for entry in model.epistemic_.leaderboard_] == ["mean"]


def test_a_column_of_predictions_is_one_number_for_every_row():
    X, y = noisy_line(80)
    pool = {"column": Odd(lambda p: p[:, None]), "mean": DummyRegressor()}
    fitted = PCSEnsemble(pool, n_bootstraps=3, random_state=0).fit(X, y)
    assert fitted.leaderboard_[0]["model"] == "column"
    line = PCSEnsemble([LinearRegression()], n_bootstraps=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), line.predict(X), atol=0.2)


def test_top_k_pools_the_members_of_several_models():
    X, y = noisy_line()
    pool = {
        "mean": DummyRegressor(),
        "line": LinearRegression(),
        "zero": DummyRegressor(strategy="median"),
    }
    fitted = PCSEnsemble(pool, top_k=2, n_bootstraps=3, random_state=0).fit(X, y)
    assert fitted.predict_members(X).shape == (240, 6)
    assert [entry["selected"] for entry in fitted.leaderboard_] == [True, True, False]


def test_a_share_keeps_that_part_of_the_distinct_combinations():
    X, y = noisy_line()
    degrees = {f"degree {d}": PolynomialFeatures(d) for d in (1, 2, 3)}
    again = {f"again {d}": PolynomialFeatures(d) for d in (1, 2, 3)}
    fitted = PCSEnsemble(
        [LinearRegression(), DummyRegressor()], degrees | again, top_k=0.5, n_bootstraps=2
    ).fit(X, y)
    assert [entry["selected"] for entry in fitted.leaderboard_] == 3 * [True] + 3 * [False]
    assert fitted.predict_members(X).shape == (240, 6)


class Counting(LinearRegression):
    """A line that counts how often its clones were fitted."""

    fits = 0

    def fit(self, X, y):
        Counting.fits += 1
        return super().fit(X, y)


@pytest.mark.parametrize("top_k", [1, 3])
def test_versions_with_the_same_training_data_are_fitted_once(top_k):
    X, y = noisy_line()
    versions = {"one": FunctionTransformer(), "two": FunctionTransformer(), "three": Root()}
    Counting.fits = 0
    fitted = PCSEnsemble([Counting()], versions, top_k, n_bootstraps=1).fit(X, y - y.min())
    assert fitted.duplicates_ == {"two": "one"}
    assert {entry["preprocessing"] for entry in fitted.leaderboard_} == {"one", "three"}
    # There is one fit for each distinct version, to compare them if there is a choice, and one in
    # the bags.
    assert Counting.fits == (3 if top_k == 1 else 2)


@pytest.mark.parametrize(
    "model", [LinearQuantiles(), BoostedQuantiles(n_trees=5), ForestQuantiles(n_trees=5)]
)
def test_of_quantile_models_the_median_is_bagged_and_jobs_change_nothing(model):
    X, y = noisy_line()
    one, two = (
        PCSEnsemble([model], n_bootstraps=4, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert one.predict_members(X).shape == (240, 4)
    np.testing.assert_array_equal(one.predict_members(X), two.predict_members(X))


def test_bootstraps_are_drawn_once_and_kept():
    X, y = noisy_line()
    ensemble = PCSEnsemble([LinearRegression()], n_bootstraps=4, random_state=0)
    first = ensemble.fit(X, y).draws_.counts
    ensemble.predict(X)
    assert ensemble.draws_.counts is first
    np.testing.assert_array_equal(ensemble.fit(X, y).draws_.counts, first)


@pytest.mark.parametrize(
    ("ensemble", "message"),
    [
        (PCSEnsemble(n_bootstraps=0), "n_bootstraps must be a whole number of at least 1, got 0"),
        (PCSEnsemble(top_k=0), "top_k.* must be"),
        (PCSEnsemble(top_k=1.5), "top_k.* must be"),
        (PCSEnsemble([]), "models is empty"),
        (PCSEnsemble(preprocessings=[]), "preprocessings is empty"),
        (PCSEnsemble(validation_size=1.5), "validation_size must lie"),
    ],
)
def test_bad_parameters(ensemble, message):
    with pytest.raises(ValueError, match=message):
        ensemble.fit(*noisy_line())


@parametrize_with_checks(
    [PCSEnsemble([LinearRegression()], n_bootstraps=3)],
    expected_failed_checks=lambda _: OTHER_DRAWS,
)
def test_estimator_checks(estimator, check):
    check(estimator)
