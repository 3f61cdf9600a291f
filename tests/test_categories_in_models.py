"""Columns of many categories through whole models."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import clearbands
from clearbands import (
    ClearCalibrator,
    ClearClassifier,
    ClearRegressor,
    FoldedEnsemble,
    PCSEnsemble,
    ScaledResiduals,
    fast,
)
from clearbands.models.category_bag import CategoryBag
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_classifier import SymmetricTreesClassifier
from clearbands.prediction.table_estimator import make_encoder
from clearbands.rows.draws import Folds
from clearbands.rows.split import Rows
from clearbands.selection.fit_classes import train_members
from clearbands.selection.in_memory import encode_shares
from clearbands.selection.model_search import ModelSearch
from clearbands.tables.encoder import NamesWarning, encode_to_fit


class Few(ModelSearch):
    """A search with one center, whose fit takes no time."""

    def centers(self, n_rows, n_columns):
        return {"trees": SymmetricTrees(n_trees=12, max_depth=3)}


PLACE = np.arange(240) // 3
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
@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        ({}, {"sample_weight": PLACE % 3}),
        ({}, {"groups": PLACE}),
        ({"split": "time"}, {}),
        ({"confidence_level": [0.5, 0.9]}, {}),
        ({"monotone": {"size": 1}}, {}),
    ],
    ids=["weights", "groups", "time", "levels", "directions"],
)
def test_weights_groups_time_levels_and_directions(parameters, labels):
    model = ClearRegressor(search=replace(QUICK, lean=True), random_state=0, **parameters)
    X, y = towns()
    _, bounds = model.fit(X, y, **labels).predict_interval(X)
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


class Keeping(ClearCalibrator):
    """A calibrator that keeps what it was fitted on."""

    def fit(self, y, center, aleatoric, epistemic, **given):
        self.y_, self.components_ = y, (center, aleatoric, epistemic)
        return super().fit(y, center, aleatoric, epistemic, **given)


def judged(X, y, rows=None, **parameters):
    """Return the targets that calibrate, and their components by members of trees."""
    parts = FoldedEnsemble(SymmetricTrees(n_trees=8), 3, 2), ScaledResiduals(n_folds=3, n_repeats=1)
    model = ClearRegressor(*parts, calibrator=Keeping(), random_state=0, **parameters)
    fitted = model.fit(X, y, **(rows or {}))
    assert fitted.encode(X).shape[1] == 2  # towns are codes
    return fitted.calibrator_.y_, fitted.calibrator_.components_


@pytest.mark.parametrize("labels", [None, "sample_weight", "groups"])
def test_the_center_of_a_row_knows_nothing_of_its_target(labels):
    X, y = towns()
    place, row = np.arange(len(y)) // 3, 100
    rows = {} if labels is None else {labels: 1 + place % 3 if labels == "sample_weight" else place}
    together = place == place[row] if labels == "groups" else np.arange(len(y)) == row
    changed = np.where(together, y + 3.0, y)
    now, then = (judged(X, target, rows)[1][0] for target in (y, changed))
    assert now[row] == then[row]
    assert not np.array_equal(now, then)


def test_in_time_categories_are_worth_what_the_past_says():
    X, y = towns(400)
    changed = np.where(np.arange(400) < 300, y, 50 - y)
    (y_now, now), (y_then, then) = (judged(X, each, split="time") for each in (y, changed))
    same = np.flatnonzero(y_now == y_then)
    assert len(same) > 100
    for one, other in zip(now, then, strict=True):
        np.testing.assert_array_equal(one[same], other[same])
    assert not np.array_equal(now[0], then[0])


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
def test_rows_that_are_held_out_tell_nothing_of_categories(calibration):
    X, y = towns(400)
    held_out, now = judged(X, y, calibration=calibration)
    changed = np.where(np.isin(y, held_out), 50 - y, y)
    _, then = judged(X, changed, calibration=calibration)
    for one, other in zip(now, then, strict=True):
        np.testing.assert_array_equal(one, other)


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


def test_a_new_category_widens_where_ordinary_rows_have_new_ones_too():
    """In a tenth of the rows, the town is as new as that of a new row: no other row has it."""
    X, y = towns(300)
    alone = [f"alone {i}" if i % 10 == 0 else town for i, town in enumerate(X["town"])]
    model = quick().fit(X.with_columns(town=pl.Series(alone)), y)
    new = X.with_columns(town=pl.lit("nowhere"))
    known, unknown = (np.diff(model.predict_interval(rows)[1], axis=1).mean() for rows in (X, new))
    assert unknown > 1.3 * known
    assert model.unfamiliar(new).mean() < 0.2


def with_names(X, n_alone):
    """Give `n_alone` rows a name of their own; the others share one with the next row."""
    names = [f"n{i}" if i < n_alone else f"both {i // 2}" for i in range(len(X))]
    return X.with_columns(name=pl.Series(names))


@pytest.mark.parametrize("classes", [False, True])
def test_names_that_tell_nothing_change_nothing(classes):
    X, y = towns(300)
    named, y = with_names(X, 300), y > np.median(y) if classes else y
    make = partial(ClearClassifier, random_state=0) if classes else quick
    with pytest.warns(NamesWarning, match="'name' holds 300 different texts"):
        models = [make().fit(named, y), make().fit(X, y)]
    answer = "predict_proba" if classes else "predict_interval"
    one, other = (np.hstack([np.ravel(a) for a in getattr(model, answer)(rows)])
                  for model, rows in zip(models, (named, X), strict=True))  # fmt: skip
    np.testing.assert_array_equal(one, other)


def test_names_that_tell_are_kept():
    """Three rows in twenty share a name with another row, and have the same y as that one."""
    X, _ = towns(400)
    named = with_names(X, 340)
    worth = dict(zip(named["name"].unique(), np.random.RandomState(0).randn(400), strict=False))
    y = np.array([worth[name] for name in named["name"]])
    with pytest.warns(NamesWarning):
        encoder, _, _ = encode_shares(
            make_encoder("auto", codes=True), [Rows(named, y)], are_apart=False
        )
    assert "name" in encoder.get_feature_names_out()


def test_nul_at_the_end_of_a_category_changes_nothing():
    """Files that pad their texts have a nul there; without it the category is known."""
    X, y = towns()
    model = quick().fit(X, y)
    padded = X.with_columns(pl.col("town") + "\0")
    np.testing.assert_array_equal(model.predict(padded), model.predict(X))
    np.testing.assert_array_equal(model.unfamiliar(padded), model.unfamiliar(X))


def test_members_of_a_classifier_know_nothing_of_a_row_that_they_left_out():
    X, y = towns(300)
    row, high = 100, (y > np.median(y)).astype(int)
    coded = encode_to_fit(make_encoder("auto", codes=True).fit(X), X)
    draws = Folds.draw(300, 3, 2, np.random.RandomState(0))
    models = {"trees": SymmetricTreesClassifier(n_trees=8, random_state=0)}
    now, then = (
        np.concatenate(
            [bag.predict_logits(coded)[row] for bag in
             train_members(models, Rows(coded, label), 2, draws, 2, n_jobs=1).bags]
        )
        for label in (high, np.where(np.arange(300) == row, 1 - high, high))
    )  # fmt: skip
    np.testing.assert_array_equal((now == then).all(axis=1), draws.unseen[:, row])


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
    # Rows that have their values do not change if others have gaps.
    mixed = pl.concat([X[:200], gap[200:]])
    np.testing.assert_allclose(np.diff(model.predict_interval(mixed)[1], axis=1)[:200], known[:200])


def test_a_gap_in_a_column_that_had_some_is_as_calibrated():
    X, y = towns(400)
    some = X.with_columns(size=pl.when(pl.arange(400) % 5 == 0).then(None).otherwise("size"))
    model = quick().fit(some, y)
    assert model.beyond_.gaps.tolist() == [0.0]


@pytest.mark.parametrize("effect", [0.0, 3.0])
def test_a_table_can_hold_one_column_of_text_alone(effect, tmp_path):
    """If the column does not pay, members predict the same for all rows."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 30, 400)
    table = pl.DataFrame({"town": [f"town {number}" for number in town]})
    y = rng.normal(size=400) + effect * rng.normal(size=30)[town]
    table.with_columns(y=y).write_parquet(tmp_path / "table.parquet")
    for X, target in ((table, y), (tmp_path / "table.parquet", "y")):
        model = fast(random_state=0, n_jobs=1).fit(X, target)
        assert model.unseen_.rmse < 1.3
        assert model.unseen_.coverage[0] == pytest.approx(0.9, abs=0.01)
        assert np.isfinite(model.predict_interval(table[:5])[1]).all()
