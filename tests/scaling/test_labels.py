"""Columns of a table in files as weights, groups and labels, and its held-out rows."""

import numpy as np
import polars as pl
import pytest
from sklearn.dummy import DummyRegressor

from clearbands import (
    CalibrationWarning,
    ClearRegressor,
    FoldedEnsemble,
    ScaledResiduals,
    SymmetricTrees,
)
from clearbands.metrics import picp
from clearbands.rows.draws import HashedFolds
from clearbands.scaling.work import WorkFolder
from tests.scaling.files import TREES, assert_same, small_model, table

CHUNKS = pytest.mark.parametrize("rows_at_once", [600, 97])


def fit(folder, frame, rows_at_once=600, work="work", **given):
    parameters = given.pop("parameters", {})
    file = folder / "labelled.parquet"
    frame.write_parquet(file)
    kept = WorkFolder(folder / work, rows_at_once=rows_at_once)
    return small_model(**parameters).fit(file, "price", work=kept, **given)


def weighted(values):
    frame = table()
    return frame.with_columns(weight=np.resize(values, len(frame)))


@pytest.mark.parametrize("values", [[1, 0, 3, 2], [0.7, 0.0, 1.3, 2.2]])
def test_members_of_weighted_rows_are_those_of_the_same_rows_in_memory(tmp_path, values):
    frame = weighted(values)
    model = fit(tmp_path, frame, 97, sample_weight="weight")
    assert "weight" not in model.feature_names_in_
    part, counted = model.epistemic_, frame["weight"].to_numpy() > 0
    X = model.encoder_.transform(frame.drop("price", "weight"))[counted]
    y, weight = frame["price"].to_numpy()[counted], frame["weight"].to_numpy()[counted]
    draws = HashedFolds(part.draws_.seed, len(frame), part.n_folds, part.n_repeats)
    bag = part.model_.fit_bag(X, y, draws.counts[:, counted], weight=weight.astype(float))
    for name in TREES:
        np.testing.assert_array_equal(getattr(part.bag_, name), getattr(bag, name))
    assert model.n_train_ == model.n_calibration_ == counted.sum()


def test_a_conformal_promise_counts_rows_however_much_they_weigh(tmp_path):
    parameters = {
        "calibration": "conformal", "calibration_size": 0.05, "confidence_level": [0.95, 0.8],
    }  # fmt: skip
    with pytest.warns(CalibrationWarning, match="15 calibration rows are too few for level 0.95"):
        model = fit(tmp_path, weighted([50.0]), sample_weight="weight", parameters=parameters)
    intervals = model.predict_interval(table().drop("price"))[1]
    assert np.isinf(intervals[:, :, 0]).all()
    assert np.isfinite(intervals[:, :, 1]).all()


@CHUNKS
def test_what_is_held_out_is_seen_by_nobody(tmp_path, rows_at_once):
    """Other values in the held-out rows change the calibration and nothing else."""
    frame = table()
    parameters = {"calibration": "conformal", "calibration_size": 0.3}
    model = fit(tmp_path, frame, rows_at_once, parameters=parameters)
    assert model.guarantee_ == "finite-sample marginal coverage"
    assert (model.n_train_, model.n_validation_, model.n_calibration_) == (420, 90, 90)
    (held_out,) = {tuple(np.load(file)) for file in tmp_path.rglob("held-out.npy")}
    assert len(held_out) == 180
    is_other = pl.Series(np.isin(np.arange(len(frame)), held_out))
    others = frame.with_columns(
        pl.when(is_other).then(pl.lit("Zug")).otherwise("town").alias("town"),
        pl.when(is_other).then(9e9).otherwise(pl.col("size")).alias("size"),
        pl.when(is_other).then(pl.col("price") * 7).otherwise(pl.col("price")).alias("price"),
    )
    changed = fit(tmp_path, others, rows_at_once, "other", parameters=parameters)
    for mine, yours in zip(model.parts_.pairs, changed.parts_.pairs, strict=True):
        for part in ("epistemic", "aleatoric"):
            bags = [getattr(pair, part).bag_ for pair in (mine, yours)]
            for name in TREES:
                np.testing.assert_array_equal(*(getattr(bag, name) for bag in bags), err_msg=name)
    np.testing.assert_array_equal(changed.familiar_.high, model.familiar_.high)
    assert changed.gamma1_ > 2 * model.gamma1_


def test_held_out_rows_calibrate_alike_whatever_the_pieces(tmp_path):
    parameters = {"calibration": "joint"}
    one = fit(tmp_path, table(), 600, parameters=parameters)
    other = fit(tmp_path, table(), 97, "other", parameters=parameters)
    assert_same(one, other)
    assert one.gamma1_ == other.gamma1_
    assert one.n_validation_ == one.n_calibration_ == 150


def test_no_more_rows_are_held_out_than_the_sample_has(tmp_path):
    table(1000).write_parquet(tmp_path / "houses.parquet")
    work = WorkFolder(tmp_path / "work", sample_rows=100)
    model = small_model(calibration="joint").fit(tmp_path / "houses.parquet", "price", work=work)
    assert (model.n_train_, model.n_calibration_) == (900, 100)


def test_the_level_holds_in_every_group(tmp_path):
    def houses(seed):
        frame = table(3000, seed)
        noise = np.random.RandomState(seed + 10).normal(0, 200, len(frame))
        return frame.with_columns(price=pl.col("price") + (pl.col("town") == "Chur") * noise)

    # The town is no feature, so only calibration by group makes the level hold in each town.
    frame, new = houses(0), houses(1)
    conformal = {"calibration": "conformal", "calibration_size": 0.6}
    settings = {"features": ["size"], "parameters": conformal}
    model = fit(tmp_path, frame, calibration_groups="town", **settings)
    assert "group" in model.guarantee_
    towns, y = new["town"].to_numpy(), new["price"].to_numpy()
    X = new.select("size")
    _, intervals = model.predict_interval(X, calibration_groups=towns)
    for town in ("Bern", "Chur", "Genf"):
        own = towns == town
        assert picp(y[own], intervals[own, :, 0]) == pytest.approx(0.9, abs=0.05), town
    with pytest.raises(ValueError, match="give calibration_groups"):
        model.predict_interval(X)


def test_a_group_that_is_learned_from_is_found_again(tmp_path):
    model = fit(tmp_path, table(), calibration_groups="town")
    new = table(50, seed=3).drop("price")
    found = model.predict_interval(new)[1]
    np.testing.assert_array_equal(found, model.predict_interval(new, calibration_groups="town")[1])


def test_rows_that_belong_together_are_judged_together(tmp_path):
    """Every patient has three copies: members that saw one of them would know the answer."""
    rng = np.random.RandomState(0)
    patient = np.repeat(np.arange(200), 3)
    y, x = rng.normal(size=200)[patient], rng.normal(size=200)[patient]
    frame = pl.DataFrame({"x": x, "patient": [f"p{number}" for number in patient], "y": y})
    frame = frame.sample(fraction=1, shuffle=True, seed=1)
    frame.write_parquet(tmp_path / "visits.parquet")

    def coverage(**given):
        trees = SymmetricTrees(n_trees=150, max_depth=8, learning_rate=0.5, l2=0)
        model = ClearRegressor(
            FoldedEnsemble(trees, 5, 2), ScaledResiduals(), show_center=True, random_state=0
        ).fit(tmp_path / "visits.parquet", "y", features=["x"], **given)
        _, intervals = model.predict_interval(pl.DataFrame({"x": rng.normal(size=2000)}))
        return picp(rng.normal(size=2000), intervals[:, :, 0])

    with pytest.warns(UserWarning, match="600 of 600 rows have a copy among the others"):
        assert coverage() < 0.7
    assert coverage(groups="patient") == pytest.approx(0.9, abs=0.05)


def test_who_saw_rows_that_are_drawn_by_labels_is_not_told_by_their_places(tmp_path):
    frame = table().with_columns(flat=pl.int_range(pl.len()) // 2)
    model = fit(tmp_path, frame, groups="flat")
    with pytest.raises(ValueError, match="the place of a row does not tell which members saw it"):
        model.epistemic_.predict_unseen(model.encode(frame.drop("price", "flat")))


def test_calibration_rows_count_as_often_as_they_occur_among_new_rows(tmp_path):
    """If all new rows are large houses, only large houses calibrate."""
    frame = table(2000).with_columns(often=(pl.col("size") > 180).cast(float))
    new = table(2000, seed=1).filter(pl.col("size") > 180)
    even = {"aleatoric": ScaledResiduals(DummyRegressor()), "show_center": False}

    def coverage(**given):
        model = fit(tmp_path, frame, parameters=even, features=["age"], **given)
        _, intervals = model.predict_interval(new.select("age"))
        return picp(new["price"].to_numpy(), intervals[:, :, 0])

    assert coverage() < 0.7
    assert coverage(calibration_weight="often") == pytest.approx(0.9, abs=0.07)


@pytest.mark.parametrize("scale", ["log", "sqrt"])
def test_targets_may_be_learned_on_another_scale(tmp_path, scale):
    frame, new = (
        table(n, seed).with_columns(price=pl.col("price").abs() + 1)
        for n, seed in ((2000, 0), (500, 1))
    )
    model = fit(tmp_path, frame, parameters={"target_transform": scale})
    point, intervals = model.predict_interval(new.drop("price"))
    assert (intervals > 0).all()
    y = new["price"].to_numpy()
    assert picp(y, intervals[:, :, 0]) == pytest.approx(0.9, abs=0.05)
    assert np.abs(point - y).mean() < 0.5 * np.abs(y - np.median(y)).mean()


def test_values_that_cannot_be_are_named_with_row_and_file(tmp_path):
    def refused(match, column=None, value=None, parameters=None, **given):
        frame = weighted([1.0]).with_columns(pl.col("price").abs() + 1, label="town")
        if column is not None:
            at = pl.int_range(pl.len()) == 450
            frame = frame.with_columns(pl.when(at).then(value).otherwise(column).alias(column))
        with pytest.raises((ValueError, TypeError), match=match):
            fit(tmp_path, frame, 97, f"{match}-{column}", parameters=parameters or {}, **given)

    here = r"in row 451 \(counted from 1\) of .*labelled\.parquet"
    refused(f"'weight' is missing or infinite {here}", "weight", sample_weight="weight")
    refused(f"'weight' is negative {here}", "weight", -1.0, sample_weight="weight")
    refused(f"'weight' is negative {here}", "weight", -1.0, calibration_weight="weight")
    refused(f"label 'label' is missing {here}", "label", groups="label")
    support = {"support": (-1000, 1000)}
    refused(rf"outside support=\(-1000, 1000\) {here}", "price", 1e4, support)
    refused(
        f"no finite value by target_transform {here}", "price", -9.0, {"target_transform": "log"}
    )
    refused(r"no whole number in row 1 \(counted from 1\) of", parameters={"whole_numbers": True})
    refused("weight 'town' holds values of type String", sample_weight="town")
    refused("sample_weight must be the name of a column, got ndarray", sample_weight=np.ones(600))
    refused("has no column 'twon'; did you mean 'town'", calibration_groups="twon")
    refused("holds out single rows", parameters={"calibration": "joint"}, groups="label")
