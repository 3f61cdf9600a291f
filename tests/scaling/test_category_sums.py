"""Columns of many categories in files: their effects are summed piece by piece."""

import numpy as np
import polars as pl
import pytest

from clearbands import ScaledResiduals, SymmetricTrees, load, save
from clearbands.models.categories import shrunken_effects
from clearbands.models.category_bag import CategoryBag
from clearbands.scaling.category_sums import CategorySums, TargetScale
from clearbands.scaling.work import WorkFolder
from tests.scaling.files import small_model, write


def towns(n=900, seed=0, n_towns=40):
    rng = np.random.RandomState(seed)
    town, size = rng.randint(0, n_towns, n), rng.rand(n)
    worth = 4 * np.random.RandomState(99).randn(n_towns)
    return pl.DataFrame(
        {
            "size": size,
            "town": [None if t == 7 else f"t{t}" for t in town],
            "place": np.arange(n) // 2,
            "weight": 0.5 + rng.rand(n),
            "price": 3 * size + worth[town] + rng.randn(n),
        }
    )


def model(**parameters):
    noise = ScaledResiduals(SymmetricTrees(n_trees=4, max_depth=2), 3, 1)
    return small_model(aleatoric=noise, **parameters)


FEATURES = ["size", "town"]


def fit(folder, frame, work=None, **columns):
    work = WorkFolder(folder / "work", **{"sample_rows": 400, **(work or {})})
    return model().fit(write(folder, frame), "price", features=FEATURES, work=work, **columns)


def sums_of(rows, scale, parts=1):
    sums = CategorySums.zeros(scale, 4, 12)
    for some in np.array_split(np.arange(len(rows[0])), parts):
        sums.add(*(each[some] for each in rows))
    return sums


def test_worths_come_from_the_rows_of_the_other_folds():
    rng = np.random.RandomState(0)
    fold, code, weight = rng.randint(0, 4, 500), rng.randint(0, 11, 500), rng.rand(500)
    y = 1000 + code + rng.randn(500)
    sums = sums_of((fold, code, y, weight), TargetScale.of(y))
    others = (fold != 1) & (fold != 3)
    expected = shrunken_effects(code[others], 12, y[others], weight[others])
    np.testing.assert_allclose(sums.effects_without(1, 3), np.transpose(expected), atol=1e-5)
    assert (sums.effects_without(0, 1, 2, 3) == 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_do_not_depend_on_pieces_or_on_the_order_of_rows(weighted):
    rng = np.random.RandomState(0)
    rows = (
        rng.randint(0, 4, 999),
        rng.randint(0, 12, 999),
        rng.standard_cauchy(999) + 1 / 3,
        rng.rand(999) if weighted else np.ones(999),
    )
    scale, order = TargetScale.of(rows[2][:500]), rng.permutation(999)
    once, often = sums_of(rows, scale), sums_of([each[order] for each in rows], scale, 10)
    for name in ("rows", "totals", "squares"):
        np.testing.assert_array_equal(getattr(once, name), getattr(often, name))


def test_members_on_files_learn_what_categories_are_worth(tmp_path):
    frame, later = towns(3000), towns(1000, seed=1)
    new, y = later[FEATURES], later["price"].to_numpy()
    fitted = fit(tmp_path, frame)
    assert isinstance(fitted.epistemic_.bag_, CategoryBag)
    assert fitted.encode(new).shape == (1000, 2)
    point, bounds = fitted.predict_interval(new)
    assert np.sqrt(np.mean((point - y) ** 2)) < 0.5 * y.std()
    assert 0.86 < np.mean((bounds[:, 0, 0] <= y) & (y <= bounds[:, 1, 0])) < 0.94
    unknown = new.with_columns(town=pl.lit("nowhere"))
    assert fitted.unfamiliar(unknown).all()
    assert fitted.unfamiliar(new).mean() < 0.15
    save(fitted, tmp_path / "towns.clear")
    loaded = load(tmp_path / "towns.clear")
    answers = [each.predict_interval(unknown)[1] for each in (fitted, loaded)]
    np.testing.assert_array_equal(*answers)


def test_pieces_change_nothing(tmp_path):
    (tmp_path / "other").mkdir()
    once = fit(tmp_path, towns(), sample_weight="weight")
    often = fit(tmp_path / "other", towns(), {"rows_at_once": 97}, sample_weight="weight")
    answers = [fitted.predict_interval(towns()[FEATURES]) for fitted in (once, often)]
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


def test_categories_that_the_sample_does_not_have_get_codes(tmp_path):
    frame = towns(900)
    fitted = fit(tmp_path, frame, {"sample_rows": 20})
    (known,) = fitted.encoder_.categorical_.categories_
    assert set(known) == set(frame["town"].to_list())
    assert not (fitted.encode(frame[FEATURES])[:, -1] == -1).any()


@pytest.mark.parametrize(
    "columns", [{}, {"sample_weight": "weight"}, {"groups": "place"}], ids=lambda c: str([*c])
)
def test_what_members_say_of_rows_that_they_left_out_does_not_depend_on_their_targets(
    tmp_path, columns
):
    frame, row = towns(), 333
    labels = frame["place"].to_numpy() if "groups" in columns else np.arange(len(frame))
    moved = pl.Series(0.5 * (labels == labels[row]))
    others = frame.with_columns(price=frame["price"] + moved)
    statements = []
    for name, rows in (("one", frame), ("other", others)):
        (tmp_path / name).mkdir()
        part = (fitted := fit(tmp_path / name, rows, **columns)).epistemic_
        X = fitted.encode(rows[FEATURES])[row : row + 1]
        statements.append(part.bag_.predict_members(X)[0, 0])
    same = statements[0] == statements[1]
    assert same.sum() == part.draws_.n_repeats  # one member of each repeat did not see the row
