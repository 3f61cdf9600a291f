import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearbands
from clearbands import CalibrationWarning, ClearClassifier, SymmetricTreesClassifier
from clearbands.calibration.conformal import beta_parameters, rank
from clearbands.prediction.class_predictions import predict_classes
from clearbands.selection.fit_classes import stratified_folds
from tests.toys import OTHER_DRAWS


def blobs(n=240, n_classes=3, seed=0):
    """Return X (n, 2) and y: overlapping clouds in a row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 2))
    X[:, 0] += 1.5 * y
    return X, y


def quick(model=None, **parameters):
    """Return a model whose fit takes no time."""
    defaults = {"n_folds": 3, "n_repeats": 2, "random_state": 0}
    model = LogisticRegression() if model is None else model
    return ClearClassifier(model, **(defaults | parameters))


def coverage(sets, y):
    return sets[np.arange(len(y)), y].mean()


@parametrize_with_checks(
    [quick(), quick(calibration="joint")], expected_failed_checks=lambda _: OTHER_DRAWS
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_rows_of_weight_1_are_rows_and_of_weight_0_none(calibration):
    X, y = blobs()
    y = np.where(np.arange(240) == 5, 9, y)  # a class that only a row of weight 0 has
    weight = (np.arange(240) % 4 != 1).astype(float)
    left = np.flatnonzero(weight)
    plain = quick(calibration=calibration).fit(X[left], y[left])
    weighted = quick(calibration=calibration).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-6)
    np.testing.assert_array_equal(weighted.predict_set(X), plain.predict_set(X))


def test_a_conformal_promise_counts_rows_however_much_they_weigh():
    X, y = blobs(60)
    plain = quick(calibration="conformal").fit(X, y)
    heavy = quick(calibration="conformal").fit(X, y, sample_weight=np.full(60, 50.0))
    assert plain.n_calibration_ < 19
    for model in (plain, heavy):
        with pytest.warns(CalibrationWarning, match="every class is in every set"):
            assert model.predict_set(X, confidence_level=0.95).all()
        assert model.guarantee_ == "finite-sample marginal coverage"
        for level in (0.5, 0.6, 0.7, 0.8):
            k = rank(model.n_calibration_, level)
            assert model.predictor_.threshold(level) == np.sort(model.scores_)[k - 1]
    uneven = quick(calibration="conformal").fit(X, y, sample_weight=1.0 + np.arange(60) % 2)
    assert uneven.guarantee_.endswith("distributed as the weights say")


def test_heavy_rows_decide_and_count_in_the_sets():
    """The heavy one of two sources says the opposite of the other."""
    X, y = blobs(400, n_classes=2)
    is_heavy = np.arange(400) % 2 == 0
    y = np.where(is_heavy, y, 1 - y)
    weight = np.where(is_heavy, 20.0, 1.0)
    model = ClearClassifier(n_folds=3, n_repeats=1, random_state=0)
    model.fit(X, y, sample_weight=weight)
    assert np.mean(model.predict(X)[is_heavy] == y[is_heavy]) > 0.7
    found = model.predict_set(X)[np.arange(400), y]
    assert np.average(found, weights=weight) == pytest.approx(0.9, abs=0.05)
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, y, sample_weight=-weight)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        quick(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_the_default_answers_everything():
    X, y = blobs()
    X_new, y_new = blobs(seed=1)
    model = ClearClassifier(n_folds=3, n_repeats=2, random_state=0).fit(X, y)
    assert set(model.leaderboard_) == {"logistic", "trees", "kernel"}
    assert list(model.leaderboard_.values()) == sorted(model.leaderboard_.values())
    probabilities = model.predict_proba(X_new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X_new), probabilities.argmax(axis=1))
    sets = model.predict_set(X_new)
    assert sets.dtype == bool
    assert sets.shape == (240, 3)
    assert np.all(sets[np.arange(240), model.predict(X_new)])
    assert 0.84 < coverage(sets, y_new) < 0.97
    assert (model.n_train_, model.n_calibration_) == (240, 240)
    entropies = model.predict_uncertainty(X_new)
    np.testing.assert_allclose(entropies.total, entropies.aleatoric + entropies.epistemic)


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_a_model_that_is_too_sure_is_calibrated(calibration):
    X, y = blobs(400)
    X_new, y_new = blobs(1000, seed=1)
    trees = HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=2)
    model = quick(trees, calibration=calibration).fit(X, y)
    assert model.c1_ < 0.7
    plain = np.exp(model.member_logits(X_new))
    plain = (plain / plain.sum(axis=2, keepdims=True)).mean(axis=1)
    assert log_loss(y_new, model.predict_proba(X_new)) < log_loss(y_new, plain) - 0.05


def test_constants_of_one_are_the_plain_mean_of_the_members():
    X, y = blobs()
    model = quick().fit(X, y)
    model.calibrator_.c1_ = model.calibrator_.c2_ = 1.0
    plain = np.mean([member.predict_proba(X) for member in model.members_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), plain, atol=1e-4)


@pytest.mark.slow
def test_conformal_coverage_follows_the_beta_distribution():
    """Over calibration sets of n rows, the coverage of sets is Beta(k, n + 1 - k)."""
    X, y = blobs(100, n_classes=4)
    X_test, y_test = blobs(4000, n_classes=4, seed=1)
    X_cal, y_cal = blobs(150 * 60, n_classes=4, seed=2)
    members = [LogisticRegression(C=c).fit(X, y) for c in (0.01, 1.0)]
    model = ClearClassifier(members=members, calibration="conformal", random_state=0)
    found = []
    for rows in np.arange(len(y_cal)).reshape(-1, 60):
        sets = model.fit(X_cal[rows], y_cal[rows]).predict_set(X_test, confidence_level=0.8)
        found.append(coverage(sets, y_test))
    assert model.n_calibration_ == 30
    expected = stats.beta(*beta_parameters(30, 0.8))
    assert stats.kstest(found, expected.cdf).pvalue > 0.01


def test_guarantees_are_said():
    X, y = blobs()
    said = {c: quick(calibration=c).fit(X, y).guarantee_ for c in ("cross", "joint", "conformal")}
    assert said["conformal"] == "finite-sample marginal coverage"
    assert "finite-sample marginal" not in said["cross"] + said["joint"]
    assert quick().fit(X, y).calibration_ == "cross"
    assert quick().fit(X, y, X_cal=X + 0.01, y_cal=y).calibration_ == "joint"


def test_sets_are_nested_and_few_rows_give_every_class():
    X, y = blobs()
    model = quick().fit(X, y)
    inner, outer = (model.predict_set(X, confidence_level=level) for level in (0.5, 0.95))
    assert np.all(outer | ~inner)
    assert inner.sum() < outer.sum()
    with pytest.warns(CalibrationWarning, match="999"):
        assert model.predict_set(X, confidence_level=0.999).all()


# Members


def test_every_class_is_seen_by_every_member_and_every_row_unseen_by_as_many():
    y = np.repeat([0, 1, 2], [50, 7, 2])
    draws = stratified_folds(y, 5, 3, np.random.RandomState(0))
    assert draws.counts.shape == (15, 59)
    assert all(len(np.unique(y[seen > 0])) == 3 for seen in draws.counts)
    np.testing.assert_array_equal(draws.unseen.sum(axis=0), 3)
    single = stratified_folds(np.array([0, 0, 0, 1]), 2, 1, np.random.RandomState(0))
    np.testing.assert_array_equal(single.unseen.sum(axis=0), [1, 1, 1, 0])


def test_cross_judges_rows_by_members_that_did_not_see_them():
    """Members that remember their own rows would otherwise look flawless."""
    X, y = blobs()
    y = np.random.default_rng(0).permutation(y)  # nothing to learn
    model = quick(RandomForestClassifier(5)).fit(X, y)
    assert model.predict_proba(X).max() < 0.6
    assert model.calibrator_.loss_ > 1.0


def test_models_that_help_each_other_are_kept_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (1.5 * X[:, 0] + 3 * (np.abs(X[:, 1]) > 1) + rng.logistic(size=600) > 0.8).astype(int)
    line, trees = LogisticRegression(), HistGradientBoostingClassifier(max_iter=30, max_depth=2)
    noise = Guesses()
    model = quick({"line": line, "trees": trees, "noise": noise}).fit(X, y)
    assert "trees" in model.models_
    assert "noise" not in model.models_
    assert len(model.members_) == 6 * len(model.models_)
    assert list(model.leaderboard_)[-1] == "noise"


class Guesses(ClassifierMixin, BaseEstimator):
    """A classifier that gives random probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        rng = np.random.default_rng(len(X))
        return rng.dirichlet(np.ones(len(self.classes_)), size=len(X))


class Hopeful(Guesses):
    """A classifier whose probabilities sum to more than 1."""

    def predict_proba(self, X):
        return super().predict_proba(X) + 0.1


def test_given_members_are_calibrated_and_not_trained():
    X, y = blobs()
    names = np.array(["a", "b", "c"])[y]
    members = [LogisticRegression(C=c).fit(X, names) for c in (0.01, 1.0)]
    before = [member.coef_.copy() for member in members]
    has_c = names == "c"
    model = ClearClassifier(members=members, random_state=0).fit(X[~has_c], names[~has_c])
    assert model.classes_.tolist() == ["a", "b", "c"]  # though no row of c calibrates
    assert model.predict_set(X).shape == (240, 3)
    assert "if no member was trained" in model.guarantee_
    for member, coef in zip(model.members_, before, strict=True):
        np.testing.assert_array_equal(member.coef_, coef)
    again = clone(model).fit(X[~has_c], names[~has_c])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rounds_that_were_left_open_are_chosen_by_unseen_rows():
    X, y = blobs(400, n_classes=2)
    y = np.where(np.random.default_rng(0).random(400) < 0.3, 1 - y, y)  # little to learn
    model = quick(SymmetricTreesClassifier()).fit(X, y)
    (chosen,) = model.models_.values()
    assert chosen.n_trees < 256
    assert model.members_[0].n_trees == chosen.n_trees
    told = quick(SymmetricTreesClassifier(n_trees=20)).fit(X, y)
    assert [trees.n_trees for trees in told.models_.values()] == [20]


# Use in other tools


@pytest.mark.parametrize("calibration", ["cross", "joint"])
def test_rows_from_elsewhere_are_unfamiliar(calibration):
    X, y = blobs(300)
    town = np.array(["north", "south"])[np.arange(300) % 2]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": town})
    model = quick(calibration=calibration).fit(frame, y)
    new = pd.DataFrame(blobs(300, seed=1)[0], columns=["a", "b"]).assign(town=town)
    assert model.unfamiliar(new).mean() < 0.15
    assert model.unfamiliar(new.assign(b=50.0)).all()
    assert model.unfamiliar(new.assign(town="west")).all()
    members = [LogisticRegression().fit(X, y)]
    with pytest.raises(ValueError, match="fitted elsewhere"):
        ClearClassifier(members=members).fit(X, y).unfamiliar(X)


def test_pipeline_grid_search_and_cross_validation():
    X, y = blobs()
    names = np.array(["low", "middle", "high"])[y]
    search = GridSearchCV(quick(), {"model__C": [0.01, 1.0]}, cv=2, scoring="neg_log_loss")
    assert search.fit(X, names).best_params_["model__C"] == 1.0
    pipeline = make_pipeline(StandardScaler(), quick())
    predicted = cross_val_predict(pipeline, X, names, cv=2)
    assert set(predicted) == {"low", "middle", "high"}
    assert np.mean(predicted == names) > 0.6


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns_and_gaps(frame):
    rng = np.random.default_rng(0)
    town = rng.choice(["north", "south", "west"], size=200)
    size = rng.normal(size=200)
    y = np.where((town == "north") ^ (rng.random(200) < 0.1), "yes", "no")
    size[::10] = np.nan
    X = frame({"size": size, "town": town})
    model = quick().fit(X, pd.Series(y))
    assert np.mean(model.predict(X) == y) > 0.8
    entropies = model.predict_uncertainty(X)
    assert isinstance(entropies.to_frame(), frame)


def test_imbalance_and_a_class_that_no_calibration_row_has():
    X, y = blobs(400)
    rare = np.r_[np.flatnonzero(y == 2)[:3], np.flatnonzero(y != 2)]
    model = quick().fit(X[rare], y[rare])
    assert model.predict_proba(X).shape == (400, 3)
    with_cal = quick().fit(X[rare], y[rare], X_cal=X[y != 2] + 0.01, y_cal=y[y != 2])
    assert with_cal.predict_set(X).shape == (400, 3)
    assert np.isfinite(with_cal.c1_)


@pytest.mark.slow
def test_jobs_change_nothing_and_files_bring_it_back(tmp_path):
    X, y = blobs()
    trees = HistGradientBoostingClassifier(max_iter=5)
    line = make_pipeline(StandardScaler(), LogisticRegression())
    model = quick([trees, line]).fit(X, y)
    shared = quick([trees, line], n_jobs=2).fit(X, y)
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(shared.predict_proba(X), expected)
    clearbands.save(model, tmp_path / "model.clear")
    loaded = clearbands.load(tmp_path / "model.clear")
    np.testing.assert_array_equal(loaded.predict_proba(X), expected)
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    assert loaded.guarantee_ == model.guarantee_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)


@pytest.mark.parametrize(
    "model",
    [
        None,
        HistGradientBoostingClassifier(max_iter=5),
        GaussianNB(),
        SymmetricTreesClassifier(n_trees=8),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stock_classifiers_survive_a_file(model, n_classes, tmp_path):
    X, y = blobs(90, n_classes)
    fitted = ClearClassifier(model, n_folds=2, n_repeats=1, random_state=0).fit(X, y)
    clearbands.save(fitted, tmp_path / "model.clear")
    again = clearbands.load(tmp_path / "model.clear")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


# Errors that say what cannot be done


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.zeros(240), "one class only"),
        (np.r_[np.zeros(239), 1], "one row only"),
        (np.array(["a", "b"] * 119 + ["a", None], object), "without a class"),
        (np.linspace(0, 1, 240), "continuous"),
        (np.zeros(10), "one for every row"),
        (None, "requires y"),
    ],
)
def test_bad_classes(y, said):
    with pytest.raises(ValueError, match=said):
        quick().fit(blobs()[0], y)


def test_bad_models_and_members():
    X, y = blobs()
    fitted = LogisticRegression().fit(X, y)
    other = LogisticRegression().fit(X[y < 2], y[y < 2])
    with pytest.raises(ValueError, match="same classes"):
        ClearClassifier(members=[fitted, other]).fit(X, y)
    with pytest.raises(ValueError, match="no member knows"):
        ClearClassifier(members=[other]).fit(X, y)
    with pytest.raises(ValueError, match=r"the class \w, which no member knows"):
        ClearClassifier(members=[fitted]).fit(X, np.array(["a", "b", "c"])[y])
    with pytest.raises(TypeError, match="fitted classifier"):
        ClearClassifier(members=[LogisticRegression()]).fit(X, y)
    with pytest.raises(ValueError, match="empty"):
        ClearClassifier(members=[]).fit(X, y)
    with pytest.raises(ValueError, match="give one of them"):
        ClearClassifier(LogisticRegression(), members=[fitted]).fit(X, y)
    with pytest.raises(ValueError, match="sum to 1"):
        quick(Hopeful()).fit(X, y)
    with pytest.raises(ValueError, match="no predict_proba"):
        quick(LinearSVC()).fit(X, y)
    with pytest.raises(ValueError, match="was not trained on"):
        quick().fit(X[y < 2], y[y < 2], X_cal=X, y_cal=y)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"calibration": "platt"}, "must be one of"),
        ({"confidence_level": 90}, "0.9"),
        ({"n_folds": 1}, "n_folds"),
        ({"encoder": "one-hot"}, "encoder"),
        ({"calibration": "cross", "encoder": TargetEncoder()}, "learns from y"),
    ],
)
def test_bad_parameters(parameters, said):
    with pytest.raises(ValueError, match=said):
        quick(**parameters).fit(*blobs())


def test_calibration_rows_that_train_are_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="belong together"):
        quick().fit(X, y, X_cal=X)
    with pytest.raises(ValueError, match="among the training rows"):
        quick().fit(X, y, X_cal=X, y_cal=y)
    with pytest.raises(ValueError, match="have no use"):
        quick(calibration="cross").fit(X, y, X_cal=X, y_cal=y)


def test_an_encoder_that_sees_the_classes_needs_rows_that_it_did_not_see():
    X, y = blobs(80)
    encoder = TargetEncoder(cv=2, random_state=0)
    with pytest.raises(ValueError, match="learns from y"):
        quick(encoder=encoder).fit(np.round(X), y)
    assert quick(encoder=encoder, calibration="joint").fit(np.round(X), y).n_validation_ == 20


def test_infinity_in_a_frame_is_refused_with_the_name_of_its_column():
    X, y = blobs(40)
    frame = pd.DataFrame(X, columns=["width", "height"])
    frame.loc[3, "height"] = np.inf
    with pytest.raises(ValueError, match="height"):
        quick().fit(frame, y)


def test_rows_that_are_alike_anyway_may_train_and_calibrate():
    X = np.array([[0.0], [1.0]] * 60)
    y = (X[:, 0] + (np.arange(120) % 7 == 0)) % 2
    X_cal, y_cal = X[:50], y[:50]
    assert quick().fit(X, y, X_cal=X_cal, y_cal=y_cal).predict_set(X).all(axis=1).mean() < 1
    assert quick(calibration="joint").fit(X, y).predict_proba([[0.0]])[0, 0] > 0.6


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no device")

    def predict_proba(self, X):
        return np.ones((len(X), 2))


def test_a_model_that_fails_is_left_out_and_named():
    X, y = blobs(80)
    with pytest.warns(UserWarning, match="'broken' is left out: RuntimeError: no device"):
        model = quick({"broken": Broken(), "line": LogisticRegression()}).fit(X, y)
    assert list(model.leaderboard_) == ["line"]
    with pytest.raises(RuntimeError, match="no device"):
        quick(Broken()).fit(X, y)


class Tires(LogisticRegression):
    """A classifier whose fit works `fits_left` times, and later raises or gives NaN."""

    fits_left = 0

    def fit(self, X, y):
        Tires.fits_left -= 1
        self.is_tired_ = Tires.fits_left < 0
        if self.is_tired_ and self.C == 1:
            raise RuntimeError("no device")
        return super().fit(X, y)

    def predict_proba(self, X):
        return super().predict_proba(X) * (np.nan if self.is_tired_ else 1)


@pytest.mark.parametrize("C", [1.0, 2.0])  # raises, or gives NaN
def test_where_members_fail_later_the_others_go_on(C):
    X, y = blobs(80)
    pool = {"tires": Tires(C=C), "line": LogisticRegression(C=1e-4)}
    Tires.fits_left = 3  # the folds of the first repeat
    with pytest.warns(UserWarning, match="'tires' is left out: (RuntimeError: no dev|.*nan)"):
        model = quick(pool).fit(X, y)
    assert list(model.leaderboard_) == list(model.models_) == ["line"]
    alone = quick(pool["line"]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    Tires.fits_left = 3
    with pytest.raises(Exception, match=r"no device|nan"):
        quick(Tires(C=C)).fit(X, y)


def test_classes_that_are_masked_or_missing_are_refused():
    X, y = blobs(20)
    with pytest.raises(ValueError, match="y is masked in some rows"):
        quick().fit(X, np.ma.masked_equal(y, 1))
    with pytest.raises(ValueError, match="rows without a class"):
        quick().fit(X, pd.array(["a", None] * 10, dtype="string"))


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_whatever_scikit_learn_is_set_to_give(output):
    X, y = blobs(60)
    plain = quick(encoder=StandardScaler()).fit(X, y).predict_proba(X)
    with config_context(transform_output=output):
        np.testing.assert_array_equal(
            quick(encoder=StandardScaler()).fit(X, y).predict_proba(X), plain
        )
        quick().fit(X, y).unfamiliar(X)


class Asked(LogisticRegression):
    """A classifier that counts how often its probabilities are asked for."""

    n_asked = 0

    def predict_proba(self, X):
        type(self).n_asked += 1
        return super().predict_proba(X)


def test_whether_rows_are_unfamiliar_needs_no_second_pass_over_the_members():
    X, y = blobs()
    model = quick(Asked()).fit(X, y)
    Asked.n_asked = 0
    predictions = predict_classes(model, X)
    assert Asked.n_asked == len(model.members_) == 6
    np.testing.assert_array_equal(predictions.unfamiliar, model.unfamiliar(X))
    assert predictions.unfamiliar.any()
