"""Columns of many categories through whole models."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import clearbands
from clearbands import ClearClassifier, ClearRegressor, PCSEnsemble, fast
from clearbands.models.category_bag import CategoryBag
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_classifier import SymmetricTreesClassifier
from clearbands.prediction.interval_regressor import make_encoder
from clearbands.selection.model_search import ModelSearch


class Few(ModelSearch):
    """One center, so that a fit takes no time."""

    def centers(self, n_rows, n_columns):
        return {"trees": SymmetricTrees(n_trees=12, max_depth=3)}


QUICK = Few(folds=3, repeats=2, n_centers=1, small_rows=0)


def towns(n=240, seed=0, n_towns=25, names="t"):
    rng = np.random.RandomState(seed)
    town, size = rng.randint(0, n_towns, n), rng.rand(n)
    worth = 4 * np.random.RandomState(99).randn(n_towns)
    X = pl.DataFrame({"size": size, "town": [f"{names}{i}" for i in town]})
    return X, 3 * size + worth[town] + rng.randn(n)


def quick(**parameters):
    return ClearRegressor(search=QUICK, random_state=0, **parameters)


@pytest.mark.parametrize("calibration", ["cross", "joint", "conformal"])
def test_every_calibration(calibration):
    X, y = towns(400)
    model = quick(calibration=calibration).fit(X, y)
    assert isinstance(model.epistemic_.bag_, CategoryBag)
    new, y_new = towns(300, seed=1)
    _, bounds = model.predict_interval(new)
    assert 0.82 < np.mean((bounds[:, 0, 0] <= y_new) & (y_new <= bounds[:, 1, 0])) < 0.98
    assert np.corrcoef(model.predict(new), y_new)[0, 1] > 0.9


@pytest.mark.slow
def test_weights_groups_time_levels_and_directions():
    X, y = towns()
    place = np.arange(len(y)) // 3
    for model, rows in (
        (quick(), {"sample_weight": place % 3}),
        (quick(), {"groups": place}),
        (quick(split="time"), {}),
        (quick(confidence_level=[0.5, 0.9]), {}),
        (quick(monotone={"size": 1}), {}),
    ):
        _, bounds = model.fit(X, y, **rows).predict_interval(X)
        assert np.isfinite(bounds).all()


@pytest.mark.slow
def test_files_clones_pickles_and_jobs_answer_alike(tmp_path):
    X, y = towns()
    model = quick().fit(X, y)
    expected = model.predict_interval(X)[1]
    own = [f"{Few.__module__}.{Few.__name__}"]
    clearbands.save(model, tmp_path / "towns.clear", trusted=own)
    others = [
        clearbands.load(tmp_path / "towns.clear", trusted=own),
        pickle.loads(pickle.dumps(model)),
        clone(model).set_params(n_jobs=2).fit(X, y),
    ]
    for other in others:
        np.testing.assert_array_equal(other.predict_interval(X)[1], expected)


def test_a_new_category_widens_and_is_unfamiliar():
    X, y = towns()
    model = quick().fit(X, y)
    new = X.with_columns(town=pl.lit("nowhere"))
    known, unknown = (np.diff(model.predict_interval(rows)[1], axis=1).mean() for rows in (X, new))
    assert unknown > 1.5 * known
    assert model.unfamiliar(new).all()
    assert model.unfamiliar(X).mean() < 0.15


def test_a_name_for_nearly_every_row_is_no_sign_of_being_unfamiliar():
    X, y = towns(300)
    rng = np.random.RandomState(3)
    names = X.with_columns(name=pl.Series([f"n{i}" for i in rng.randint(0, 9_000, 300)]))
    with pytest.warns(UserWarning, match="'name' holds 29. different texts in 300 rows"):
        model = quick().fit(names, y)
    others, _ = towns(300, seed=5)
    new = others.with_columns(name=pl.Series([f"m{i}" for i in range(300)]))
    assert 0 < model.unfamiliar(new).mean() < 0.2
    assert model.unfamiliar(new.with_columns(size=pl.lit(99.0))).all()


def test_nul_at_the_end_of_a_category_changes_nothing():
    """Files that pad their texts have it; without it the category is known."""
    X, y = towns()
    model = quick().fit(X, y)
    padded = X.with_columns(pl.col("town") + "\0")
    np.testing.assert_array_equal(model.predict(padded), model.predict(X))
    np.testing.assert_array_equal(model.unfamiliar(padded), model.unfamiliar(X))


def test_classes(tmp_path):
    X, y = towns(300)
    label = np.where(y > np.median(y), "high", "low")
    model = ClearClassifier(SymmetricTreesClassifier(), n_repeats=2, n_folds=3, random_state=0).fit(
        X, label
    )
    assert np.mean(model.predict(X) == label) > 0.8
    member = model.members_[0]
    assert member.predict_proba(model.encoder_.transform(X)).shape == (300, 2)
    clearbands.save(model, tmp_path / "classes.clear")
    loaded = clearbands.load(tmp_path / "classes.clear")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model.unfamiliar(X.with_columns(town=pl.lit("nowhere"))).all()


def test_members_of_folds_learn_for_themselves_where_they_are_given():
    X, y = towns(400)
    model = fast(random_state=0).fit(X, y)
    assert model.encode(X).shape[1] == 2
    new, y_new = towns(300, seed=1)
    assert np.corrcoef(model.predict(new), y_new)[0, 1] > 0.9


def test_other_parts_that_are_given_get_dummies():
    X, y = towns()
    line = PCSEnsemble({"line": LinearRegression()}, n_bootstraps=30)
    model = ClearRegressor(line, calibration="joint", random_state=0).fit(X, y)
    assert model.encode(X).shape[1] > 20


def test_a_hundred_thousand_values():
    n = 100_000
    rng = np.random.RandomState(0)
    X = pl.DataFrame({"x": rng.rand(n), "name": [f"n{i}" for i in range(n)]})
    with pytest.warns(UserWarning, match="100,000 different texts"):
        encoder = make_encoder("auto", codes=True).fit(X)
    assert encoder.transform(X).nbytes == 16 * n


def test_a_gap_where_there_was_none_widens():
    X, y = towns(400)
    model = quick().fit(X, y)
    X, y = towns(400, seed=1)
    gap = X.with_columns(size=pl.lit(None, pl.Float64))
    known, unknown = (np.diff(model.predict_interval(rows)[1], axis=1) for rows in (X, gap))
    assert unknown.mean() > 1.05 * known.mean()
    bounds = model.predict_interval(gap)[1]
    assert 0.85 < np.mean((bounds[:, 0, 0] <= y) & (y <= bounds[:, 1, 0])) < 0.97
    # Rows that have their values are not touched by others that have gaps.
    mixed = pl.concat([X[:200], gap[200:]])
    np.testing.assert_allclose(np.diff(model.predict_interval(mixed)[1], axis=1)[:200], known[:200])


def test_a_gap_in_a_column_that_had_some_is_as_calibrated():
    X, y = towns(400)
    some = X.with_columns(size=pl.when(pl.arange(400) % 5 == 0).then(None).otherwise("size"))
    model = quick().fit(some, y)
    assert model.beyond_.gaps.tolist() == [0.0]
