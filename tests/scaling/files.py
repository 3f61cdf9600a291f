"""A small table in files, a model that fits it in a moment, and a comparison of two models."""

from itertools import pairwise

import numpy as np
import polars as pl

from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals, SymmetricTrees

TREES = ("unit", "init", "feature", "threshold", "value")


def table(n=600, seed=0):
    rng = np.random.RandomState(seed)
    size, age = rng.uniform(20, 200, n).round(1), rng.randint(0, 90, n)
    town = rng.choice(["Bern", "Chur", "Genf"], n)
    price = 3 * size - age + 50 * (town == "Bern") + size * rng.normal(0, 0.3, n)
    frame = pl.DataFrame({"size": size, "age": age, "town": town, "price": price})
    return frame.with_columns(age=pl.when(pl.col("age") > 85).then(None).otherwise("age"))


def write(folder, frame=None, cuts=()):
    """Write one file, or a folder of files with the rows between the cuts."""
    frame = table() if frame is None else frame
    if not cuts:
        frame.write_parquet(folder / "houses.parquet", row_group_size=250)
        return folder / "houses.parquet"
    parts = folder / "houses"
    parts.mkdir()
    ends = [0, *cuts, len(frame)]
    for number, (start, end) in enumerate(pairwise(ends)):
        frame[start:end].write_parquet(parts / f"part-{number}.parquet")
    return parts


def small_model(**parameters):
    return ClearRegressor(
        **{
            "epistemic": FoldedEnsemble(SymmetricTrees(n_trees=8, max_depth=3), 3, 2),
            "aleatoric": ScaledResiduals(SymmetricTrees(n_trees=4, max_depth=2), 2, 1),
            "show_center": True,
            "random_state": 0,
            **parameters,
        }
    )


def assert_same(one, other):
    """Check that trees of all members and predictions are the same to the last bit."""
    for mine, yours in zip(one.parts_.pairs, other.parts_.pairs, strict=True):
        for part in ("epistemic", "aleatoric"):
            bags = [getattr(pair, part).bag_ for pair in (mine, yours)]
            for name in TREES:
                np.testing.assert_array_equal(*(getattr(bag, name) for bag in bags), err_msg=name)
    new = table(50, seed=9).drop("price")
    for mine, yours in zip(one.predict_interval(new), other.predict_interval(new), strict=True):
        np.testing.assert_array_equal(mine, yours)
