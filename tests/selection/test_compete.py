"""The default from end to end: all rows train, and no row is judged by a member that saw it."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import TargetEncoder

from clearbands import (
    ClearRegressor,
    LinearQuantiles,
    MemberEnsemble,
    PCSEnsemble,
    ResidualQuantiles,
    load,
    save,
)
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.calibration.guarantee import Guarantee
from clearbands.models.random_trees import RandomTrees
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.selection.model_search import ModelSearch
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.scaled_residuals import ScaledResiduals
from tests.apps.report.houses import TwoByTwo
from tests.toys import noisy_line


class RandomTreesAlone(ModelSearch):
    """A search with one center, which has no rival."""

    def centers(self, n_rows, n_columns):
        return {"random trees": RandomTrees(8)}


def folded_lines(**parameters):
    """Return a model of quick parts, calibrated on all rows."""
    defaults = {
        "epistemic": FoldedEnsemble(LinearRegression(), 5, 2),
        "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=25),
        "random_state": 0,
    }
    return ClearRegressor(**(defaults | parameters))


def test_all_rows_train_and_all_rows_calibrate():
    X, y = noisy_line()
    model = folded_lines().fit(X, y)
    assert (model.n_train_, model.n_calibration_) == (240, 240)
    assert model.calibration_ == "cross"
    assert "without a finite-sample guarantee" in model.guarantee_
    assert [s.selected for s in model.leaderboard_] == [True]


@pytest.mark.slow
def test_coverage_on_new_rows_is_near_the_level():
    covered = []
    for seed in range(6):
        X, y = noisy_line(1200, seed=seed)
        model = folded_lines(random_state=seed).fit(X[:200], y[:200])
        _, intervals = model.predict_interval(X[200:])
        covered.append(np.mean((intervals[:, 0, 0] <= y[200:]) & (y[200:] <= intervals[:, 1, 0])))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.02)


@pytest.mark.slow
def test_the_default_chooses_averages_and_is_reproduced():
    X, y = noisy_line(150)
    model = ClearRegressor(confidence_level=[0.9, 0.5], n_jobs=1, random_state=3).fit(X, y)
    assert len(model.centers_) == len(ModelSearch().centers(*X.shape))
    assert {s.noise for s in model.leaderboard_} == set(ModelSearch().noises())
    assert len(model.leaderboard_) <= 3 * len(ModelSearch().noises())
    assert model.leaderboard_[0].selected
    assert 1 <= sum(s.selected for s in model.leaderboard_) <= 3
    assert [s.loss for s in model.leaderboard_] == sorted(s.loss for s in model.leaderboard_)
    again = ClearRegressor(confidence_level=[0.9, 0.5], n_jobs=2, random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.predict_interval(X)[1], again.predict_interval(X)[1])
    np.testing.assert_array_equal(model.predict(X), model.predict_interval(X)[0])


@pytest.mark.slow
def test_the_default_is_saved_and_loaded(tmp_path):
    X, y = noisy_line(100)
    model = ClearRegressor(random_state=0).fit(X, y)
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    np.testing.assert_array_equal(model.predict_interval(X)[1], again.predict_interval(X)[1])
    assert again.leaderboard_ == model.leaderboard_


@pytest.mark.slow
def test_an_average_of_pairs_knows_that_it_may_be_wrong():
    """Of these 61 rows of mostly noise, no pair needs its epistemic part."""
    rng = np.random.default_rng(11)
    X = rng.uniform(size=(61, 5))
    smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y = smooth + 5 * rng.normal(size=61)
    model = ClearRegressor(random_state=11).fit(X, y)
    parts = model.predict_uncertainty(X)
    assert model.lambda_[0] > 0
    assert parts.epistemic.mean() > 0.05 * parts.aleatoric.mean()


def test_without_nested_folds_noise_has_folds_of_its_own():
    X, y = noisy_line(60)
    rules = {"folds": 3, "repeats": 1}
    for n_nested, n_members in ((0, 10), (4, 4)):
        search = TwoByTwo(nested_folds=n_nested, **rules)
        model = ClearRegressor(search=search, random_state=0).fit(X, y)
        assert {len(pair.aleatoric.draws_) for pair in model.parts_.pairs} == {n_members}


def test_of_many_rows_some_choose_and_all_train():
    X, y = noisy_line(400)
    search = ModelSearch(fine_rows=100, judging_rows=100, folds=3, repeats=1, nested_folds=3)
    model = ClearRegressor(search=search, random_state=0).fit(X, y)
    assert model.n_train_ == model.n_calibration_ == 400
    assert model.parts_.pairs[0].epistemic.draws_.counts.shape[1] == 400


def test_parts_compete_on_training_rows_alone_where_others_calibrate():
    X, y = noisy_line(300)
    one = ClearRegressor(calibration="conformal", random_state=0)
    one.fit(X[:100], y[:100], X_cal=X[100:], y_cal=y[100:])
    two = ClearRegressor(calibration="conformal", random_state=0)
    two.fit(X[:100], y[:100], X_cal=X[100:], y_cal=-y[100:])
    assert one.guarantee_ == "finite-sample marginal coverage"
    assert one.leaderboard_ == two.leaderboard_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


class Tires(LinearRegression):
    """A line whose fit works `fits_left` times."""

    fits_left = 0

    def fit(self, X, y):
        Tires.fits_left -= 1
        if Tires.fits_left < 0:
            raise RuntimeError("the device is gone")
        return super().fit(X, y)


class Tiring(TwoByTwo):
    """A search whose best center is judged well and fails later."""

    def centers(self, n_rows, n_columns):
        return {"tires": Tires(), **super().centers(n_rows, n_columns), "line": Ridge(50)}


class TiringNoise(TwoByTwo):
    def noises(self):
        return {"tires": ScaledResiduals(Tires()), **super().noises()}


def test_the_models_of_a_search_stay_as_they_were_given():
    model = Ridge(solver="sag")

    class OneModel(ModelSearch):
        def centers(self, n_rows, n_columns):
            return {"line": model}

    X, y = noisy_line(40)
    search = OneModel(folds=2, repeats=1, lean=True)
    ClearRegressor(search=search, random_state=0).fit(X, y)
    assert model.random_state is None
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("fits", "rules", "left"),
    [
        (3, {"n_centers": 1}, {"line"}),  # judged, but then no member can be fitted
        (3, {"n_centers": 2}, {"line"}),  # nor can the mean
        (3 + 2, {"n_centers": 1}, {"line"}),  # only some members can be fitted
    ],
)
def test_where_a_center_fails_later_the_next_best_takes_its_place(fits, rules, left):
    X, y = noisy_line(60)
    Tires.fits_left = fits
    search = {"folds": 3, "repeats": 2, "averaged": 1, "small_rows": 0, **rules}
    with pytest.warns(UserWarning, match="The center 'tires' is left out: RuntimeError: the dev"):
        model = ClearRegressor(search=Tiring(**search), random_state=0).fit(X, y)
    assert {standing.center for standing in model.leaderboard_} == left
    assert [standing.center for standing in model.leaderboard_ if standing.selected] == ["line"]
    assert len(model.epistemic_.predict_members(X)[0]) == 6


@pytest.mark.parametrize("fits", [0, 4])  # with no center, or not with all its members
def test_noise_that_fails_is_left_out(fits):
    X, y = noisy_line(60)
    Tires.fits_left = fits
    search = TiringNoise(folds=3, repeats=2, n_centers=2, judging_rows=30)
    with pytest.warns(UserWarning, match="The noise 'tires' around '(line|mean)' is left out"):
        model = ClearRegressor(search=search, random_state=0).fit(X, y)
    kept = {standing.noise for standing in model.leaderboard_ if standing.selected}
    assert kept
    assert kept <= {"constant", "scaled"}


def test_where_all_fail_or_nothing_else_competes_it_is_an_error():
    X, y = noisy_line(60)

    class Alone(Tiring):
        def centers(self, n_rows, n_columns):
            return {"one": Tires(), "two": Tires()}

    Tires.fits_left = 6
    said = r"No center could be fitted with all its members \(The center 'one', The center 'two':"
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ValueError, match=said):
        ClearRegressor(search=Alone(folds=3, repeats=1, small_rows=0), random_state=0).fit(X, y)
    given = FoldedEnsemble(Tires(), 3, 1)
    with pytest.raises(RuntimeError, match="the device is gone"):
        ClearRegressor(given, search=TwoByTwo(), random_state=0).fit(X, y)
    given = ScaledResiduals(Tires())
    with pytest.raises(RuntimeError, match="the device is gone"):  # once for all centers
        ClearRegressor(aleatoric=given, search=TwoByTwo(), random_state=0).fit(X, y)


def test_rows_that_are_said_to_belong_together_are_never_parted():
    X, y = noisy_line(60)
    visits = np.repeat([f"patient {i}" for i in range(20)], 3)
    model = folded_lines().fit(X, y, groups=visits)
    for part in (model.epistemic_, model.aleatoric_):
        for seen in part.draws_.counts:
            assert all(len(set(seen[visits == who])) == 1 for who in np.unique(visits))
    with pytest.raises(ValueError, match=r"groups must have shape \(60,\), a label per row"):
        model.fit(X, y, groups=visits[:-1])


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
def test_rows_that_belong_together_are_held_out_together(calibration):
    X, y = noisy_line(70)
    visits = np.repeat(np.arange(10), 7)
    model = folded_lines().set_params(calibration=calibration).fit(X, y, groups=visits)
    assert model.n_train_ == 49
    assert model.n_calibration_ == (21 if calibration == "joint" else 14)
    assert not Guarantee(model.guarantee_).is_finite_sample  # rows of a label are not exchangeable


def test_models_that_were_fitted_elsewhere_promise_nothing_without_rows_of_their_own():
    X, y = noisy_line(200)
    members = MemberEnsemble([LinearRegression().fit(X, y), LinearRegression().fit(X, y + 0.1)])
    with pytest.warns(CalibrationWarning, match="fitted elsewhere. If they saw rows of X"):
        model = folded_lines(epistemic=members).fit(X, y)
    assert model.guarantee_.startswith("no guarantee")
    fresh, targets = noisy_line(100, seed=1)
    model = folded_lines(epistemic=members, calibration="conformal")
    model.fit(X, y, X_cal=fresh, y_cal=targets)
    assert model.guarantee_ == "finite-sample marginal coverage"


def test_calibration_rows_that_train_are_refused():
    X, y = noisy_line(100)
    model = folded_lines(calibration="joint")
    with pytest.raises(ValueError, match="All 100 calibration rows are among the training rows"):
        model.fit(X, y, X_cal=X, y_cal=y)
    fresh, targets = noisy_line(40, seed=1)
    with pytest.warns(UserWarning, match="60 of 100 calibration rows are among the training rows"):
        model.fit(X, y, X_cal=np.vstack([X[:60], fresh]), y_cal=np.concatenate([y[:60], targets]))


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({"calibration": "cross"}, {"X_cal": np.ones((5, 2)), "y_cal": np.ones(5)}, "have no use"),
        ({"encoder": TargetEncoder()}, {}, "The encoder learns from y"),
        ({"residuals": "in-sample"}, {}, "judge members that saw them"),
        ({"epistemic": PCSEnsemble([LinearRegression()], n_bootstraps=1)}, {}, "Only"),
    ],
)
def test_bad_input(parameters, arguments, message):
    X, y = noisy_line(80)
    with pytest.raises(ValueError, match=message):
        folded_lines(**parameters).fit(X, y, **arguments)


def test_many_rows_or_columns_get_fewer_centers():
    search = ModelSearch()
    sizes = [(1_000, 512), (1_000, 513), (6_000, 20), (20_000, 20)]
    assert [search.n_centers_for(*size) for size in sizes] == [3, 1, 3, 2]


def test_three_tenths_of_the_folds_judge_centers_and_more_where_rows_are_few():
    search = ModelSearch()
    sizes = [(4_000, 10), (2_500, 10), (300, 10), (20_000, 5)]
    assert [search.n_judges(*size) for size in sizes] == [3, 4, 10, 2]


def test_of_few_rows_members_miss_fewer_and_of_many_rows_more():
    search = ModelSearch(folds=5)
    assert [search.folds_for(n, 8) for n in (49, 50, 1_999, 2_000)] == [5, 10, 10, 5]
    assert [search.folds_for(n, 8) for n in (2, 3, 8)] == [2, 2, 4]  # two rows or more in each
    assert search.folds_for(1_000, 8, n_units=6) == 3
    assert search.folds_for(1_999, 513) == 5  # columns cost more than folds gain
    assert [ModelSearch().folds_for(n, 8) for n in (5_000, 5_001)] == [10, 5]
    assert search.race_folds(1_999, 8) == 5


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
@pytest.mark.parametrize("n", [3, 4, 19])
def test_few_rows_do_not_make_enormous_widths(n):
    """Members that leave out the same single row agree up to rounding, which makes no width."""
    X, y = make_friedman1(n, n_features=5, noise=1.0, random_state=0)
    _, intervals = ClearRegressor(random_state=0).fit(X, y).predict_interval(X)
    assert np.diff(intervals[:, :, 0]).max() < 20 * np.ptp(y)


class TreesAlone(ModelSearch):
    """A search with one center, which has no rival, and with noise that costs nothing."""

    def centers(self, n_rows, n_columns):
        return {"trees": SymmetricTrees(n_trees=400, max_depth=2)}

    def noises(self):
        return {"constant": super().noises()["constant"]}


def test_what_has_won_is_finer_where_rows_are_many():
    def trees_of(n, **given):
        X, y = make_friedman1(n, n_features=5, random_state=0)
        search = TreesAlone(folds=4, repeats=2, fine_rows=80, small_rows=0)
        model = ClearRegressor(**given, search=search, random_state=0).fit(X, y)
        return model.epistemic_.bag_.feature.shape[1]

    assert (trees_of(80), trees_of(90)) == (400, 800)
    own = FoldedEnsemble(SymmetricTrees(n_trees=8, max_depth=2), 2, 2)
    assert trees_of(90, epistemic=own) == 8  # a part that was given keeps its trees


def test_a_surface_that_becomes_finer_competes_with_fewer_landmarks():
    def landmarks(n_rows):
        return ModelSearch().centers(n_rows, 8)["surface"].smooth.n_landmarks

    assert (landmarks(5_000), landmarks(5_001)) == (1_000, 500)
    surface = ModelSearch().centers(5_001, 8)["surface"].finer(8)
    assert (surface.smooth.n_landmarks, surface.trees.n_trees) == (1_000, 800)


def test_where_many_members_judge_a_row_each_has_its_share_of_the_random_trees():
    def trees_of(part):
        return part.model.n_trees

    X, y = noisy_line(60)
    model = ClearRegressor(search=RandomTreesAlone(folds=3, repeats=2), random_state=0).fit(X, y)
    assert trees_of(model.epistemic_) == 4  # instead of 8, as two members judge each row
