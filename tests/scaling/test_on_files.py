"""A model fitted on files equals that of the same rows in memory, with every engine."""

import pickle

import numpy as np
import polars as pl
import pytest

from clearbands import ClearRegressor, FoldedEnsemble, PCSEnsemble, SymmetricTrees, load, save
from clearbands.engine.screening import MOST_KEPT
from clearbands.metrics import picp
from clearbands.rows.draws import HashedFolds
from clearbands.scaling.engines import Threads
from clearbands.scaling.work import WorkFolder
from tests.scaling.files import assert_same, small_model, table, write


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return small_model().fit(write(tmp_path_factory.mktemp("once")), "price")


def test_members_are_those_of_the_same_rows_in_memory(fitted):
    frame = table()
    part = fitted.epistemic_
    X = fitted.encoder_.transform(frame.drop("price"))
    draws = HashedFolds(part.draws_.seed, len(frame), part.n_folds, part.n_repeats)
    bag = part.model_.fit_bag(X, frame["price"].to_numpy(), draws.counts)
    for name in ("unit", "init", "feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(part.bag_, name), getattr(bag, name))
    said = part.predict_unseen(X)
    by_hand = bag.predict_unseen(X, draws.counts)
    np.testing.assert_array_equal(said.center, np.median(by_hand, axis=1))


@pytest.mark.parametrize("rows_at_once", [600, 250, 97])
def test_pieces_change_nothing(fitted, tmp_path, rows_at_once):
    work = WorkFolder(tmp_path / "work", rows_at_once=rows_at_once)
    assert_same(small_model().fit(write(tmp_path), "price", work=work), fitted)


def test_files_change_nothing(fitted, tmp_path):
    parts = write(tmp_path, cuts=(1, 350))
    assert_same(small_model().fit(parts, "price"), fitted)
    assert_same(small_model().fit(sorted(parts.iterdir()), "price"), fitted)


def test_threads_change_nothing(fitted, tmp_path):
    assert_same(small_model().fit(write(tmp_path), "price", engine=Threads(3)), fitted)
    assert_same(small_model(n_jobs=2).fit(write(tmp_path), "price", engine="threads"), fitted)


def test_another_seed_is_another_model(fitted, tmp_path):
    other = small_model(random_state=1).fit(write(tmp_path), "price")
    with pytest.raises(AssertionError):
        assert_same(other, fitted)


def test_new_rows_are_covered_and_all_answers_are_there(tmp_path):
    frame, new = table(3000), table(2000, seed=1)
    model = small_model(confidence_level=[0.8, 0.9]).fit(write(tmp_path, frame), "price")
    X, y = new.drop("price"), new["price"].to_numpy()
    _, intervals = model.predict_interval(X)
    assert intervals.shape == (2000, 2, 2)
    assert picp(y, intervals[:, :, 0]) == pytest.approx(0.8, abs=0.04)
    assert picp(y, intervals[:, :, 1]) == pytest.approx(0.9, abs=0.04)
    assert model.n_train_ == model.n_calibration_ == 3000
    assert model.predict_quantiles(X, [0.1, 0.5]).shape == (2000, 2)
    assert not model.unfamiliar(X).all()
    assert model.unfamiliar(X.with_columns(town=pl.lit("Atlantis"))).all()
    far = model.predict_interval(X.with_columns(size=pl.lit(9e3)))[1]
    assert (np.ptp(far[:, :, 1], axis=1) > 2 * np.ptp(intervals[:, :, 1], axis=1)).all()
    assert model.familiar_.low[0] == model.beyond_.low[0] == frame["size"].min()


def test_saved_and_loaded_it_is_the_same_and_small(fitted, tmp_path):
    save(fitted, tmp_path / "model.clear")
    assert_same(load(tmp_path / "model.clear"), fitted)


def test_a_sample_calibrates_and_may_be_all_that_a_member_sees(tmp_path):
    frame = table(4000)
    work = WorkFolder(tmp_path / "work", member_rows=500, sample_rows=1000, rows_at_once=900)
    model = small_model().fit(write(tmp_path, frame), "price", work=work)
    assert (model.n_train_, model.n_calibration_) == (4000, 1000)
    seen = model.epistemic_.draws_.counts.sum(axis=1)
    np.testing.assert_allclose(seen, 500, atol=90)
    new = table(2000, seed=1)
    _, intervals = model.predict_interval(new.drop("price"))
    assert picp(new["price"].to_numpy(), intervals[:, :, 0]) == pytest.approx(0.9, abs=0.05)


@pytest.mark.slow
def test_the_default_competes_on_a_few_rows_and_fits_the_winner_on_all(tmp_path):
    model = ClearRegressor(random_state=0).fit(write(tmp_path, table(2000)), "price")
    assert all("GAM" not in standing.name for standing in model.centers_)
    assert {standing.noise for standing in model.leaderboard_} > {"scale", "forest", "boosting"}
    new = table(1000, seed=1)
    _, intervals = model.predict_interval(new.drop("price"))
    assert picp(new["price"].to_numpy(), intervals[:, :, 0]) == pytest.approx(0.9, abs=0.05)


def test_noise_that_cannot_be_fitted_piece_by_piece_learns_from_the_sample(tmp_path):
    from clearbands import FoldedBounds, LinearQuantiles

    model = small_model(aleatoric=FoldedBounds(LinearQuantiles(), 2, 1))
    model.fit(write(tmp_path), "price", work=tmp_path / "work")
    again = small_model(aleatoric=FoldedBounds(LinearQuantiles(), 2, 1))
    again.fit(tmp_path / "houses.parquet", "price", work=tmp_path / "work")
    new = table(50, seed=3).drop("price")
    np.testing.assert_array_equal(again.predict_interval(new)[1], model.predict_interval(new)[1])


@pytest.mark.slow
def test_of_very_many_columns_members_look_at_some(tmp_path):
    rng = np.random.RandomState(0)
    wide = pl.DataFrame(rng.normal(size=(300, MOST_KEPT + 9)))
    wide = wide.with_columns(price=5 * pl.col("column_7"))
    model = small_model().fit(write(tmp_path, wide), "price")
    assert 7 in model.epistemic_.bag_.feature


def test_a_task_ships_names_and_numbers_alone(tmp_path):
    sent = []

    class Postage(Threads):
        def run(self, tasks):
            sent.extend(len(pickle.dumps(task)) for task in tasks)
            yield from super().run(tasks)

    work = WorkFolder(tmp_path / "work", rows_at_once=200)
    small_model().fit(write(tmp_path, table(2000)), "price", work=work, engine=Postage())
    assert len(sent) > 10
    assert max(sent) < 3000


def test_trees_that_must_rise_do(tmp_path):
    falling = table().with_columns(price=-pl.col("price"))
    trees = SymmetricTrees(n_trees=8, max_depth=3, monotone={0: 1})
    model = small_model(epistemic=FoldedEnsemble(trees, 3, 2))
    model.fit(write(tmp_path, falling), "price", features=["size"])
    assert np.ptp(model.predict(falling.select("size"))) == 0  # a falling target cannot be learned


def test_trees_ask_about_a_share_of_the_columns_in_files_too(tmp_path):
    trees = SymmetricTrees(n_trees=20, max_depth=6, column_share=0.1)
    model = small_model(epistemic=FoldedEnsemble(trees, 3, 2)).fit(write(tmp_path), "price")
    asked = model.epistemic_.bag_.feature.reshape(-1, 6)
    assert max(len(set(tree)) for tree in asked) == 2
    assert len(set(asked.ravel())) > 2


def test_named_features_are_learned_from_alone(tmp_path):
    model = small_model().fit(write(tmp_path), "price", features=["size", "town"])
    assert model.feature_names_in_.tolist() == ["size", "town"]


def refused(tmp_path, *, parameters=None, target="price", match, **given):
    with pytest.raises((ValueError, TypeError), match=match):
        small_model(**(parameters or {})).fit(write(tmp_path), target, **given)


def test_what_cannot_be_is_refused_in_one_sentence(tmp_path):
    refused(tmp_path, target="prise", match="has no column 'prise'; did you mean 'price'")
    refused(tmp_path, target=[1, 2], match="y must be the name of a column, got list")
    refused(tmp_path, target="town", match="'town' holds values of type String")
    refused(tmp_path, features=["price"], match="cannot be learned from itself")
    refused(tmp_path, groups=[1], match="groups must be the name of a column, got list")
    refused(tmp_path, X_cal=table(), match="calibrates on rows of its own")
    refused(tmp_path, parameters={"split": "time"}, match="not in the order of time")
    refused(tmp_path, parameters={"encoder": None}, match="needs an encoder")
    refused(tmp_path, parameters={"epistemic": PCSEnsemble()}, match="members of symmetric trees")
    refused(tmp_path, engine="carrier pigeons", match='engine must be one of "threads"')
    refused(tmp_path, parameters={"random_state": None}, work=tmp_path, match="random_state")
    with pytest.raises(ValueError, match="X is in memory already"):
        small_model().fit(table().drop("price"), table()["price"], work=tmp_path)


def test_a_path_is_not_a_table_to_predict(fitted):
    with pytest.raises(TypeError, match=r"X is a path, 'new.parquet': .* clearbands predict"):
        fitted.predict_interval("new.parquet")


def test_targets_that_are_missing_are_named_with_row_and_file(tmp_path):
    holed = table().with_columns(
        price=pl.when(pl.int_range(pl.len()) == 321).then(None).otherwise("price")
    )
    with pytest.raises(
        ValueError, match=r"missing or infinite in row 322 \(.* of .*houses.parquet"
    ):
        small_model().fit(write(tmp_path, holed), "price")


def test_a_support_holds_for_all_rows(tmp_path):
    with pytest.raises(ValueError, match="support"):
        small_model(support=(0, 100)).fit(write(tmp_path), "price")
