"""A center that is added in one file competes, and an error says where it cannot."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals, SymmetricTrees
from clearbands.models.bagging import fit_clones
from clearbands.models.center_model import CenterModel, has_capability
from clearbands.selection.model_search import ModelSearch


class Steps(CenterModel):
    """A new center: the mean of y on either side of the median of the first column."""

    supports_monotone = True

    def __init__(self, monotone=None):
        self.monotone = monotone

    def fit_bag(self, X, y, counts, *, weight=None, n_jobs=None, stage="fit"):
        return fit_clones(_Step(self.monotone), X, y, counts, n_jobs=1, stage=stage)


class _Step(Steps):
    def fit(self, X, y, sample_weight=None):
        self.cut_ = np.median(X[:, 0])
        is_low = X[:, 0] <= self.cut_
        self.means_ = np.array([y[is_low].mean(), y[~is_low].mean()])
        if self.monotone is not None and self.monotone[0] == 1:
            self.means_ = np.maximum.accumulate(self.means_)
        return self

    def predict(self, X):
        return self.means_[(X[:, 0] > self.cut_).astype(int)]


class EarlyTrees(SymmetricTrees):
    """Trees with larger steps, which fits on files can grow like their parent class."""

    def _learning_rates(self, n_rows):
        return np.full(len(n_rows), 0.5)


@dataclass(frozen=True)
class WithOthers(ModelSearch):
    of_trees: bool = True

    def centers(self, n_rows, n_columns):
        trees = {"early trees": EarlyTrees(n_trees=10, max_depth=2)} if self.of_trees else {}
        return {"steps": Steps(), **trees}

    def noises(self):
        return {"scale": ScaledResiduals(n_repeats=1)}


def rows(n=150):
    rng = np.random.RandomState(0)
    X = rng.rand(n, 2)
    return X, np.where(X[:, 0] > 0.5, 2.0, 0.0) + 0.1 * rng.randn(n)


def in_a_file(tmp_path):
    X, y = rows()
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_parquet(file)
    return file


def names_of(model):
    return {standing.name.split(" with ")[0] for standing in model.centers_}


def test_it_competes_in_memory():
    model = ClearRegressor(search=WithOthers(), random_state=0).fit(*rows())
    assert names_of(model) == {"steps", "early trees"}


def test_it_competes_where_columns_have_a_direction():
    X, y = rows()
    model = ClearRegressor(search=WithOthers(), monotone=[1, 0], random_state=0).fit(X, y)
    assert names_of(model) == {"steps", "early trees"}
    assert {standing.model.monotone for standing in model.centers_} == {(1, 0)}


@pytest.mark.slow
def test_those_alone_compete_on_files_that_say_they_can(tmp_path):
    model = ClearRegressor(search=WithOthers(), random_state=0).fit(in_a_file(tmp_path), "y")
    assert names_of(model) == {"early trees"}
    assert isinstance(model.epistemic_.model_, EarlyTrees)
    X, y = rows()
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    assert np.corrcoef(model.predict(frame), y)[0, 1] > 0.9


def test_files_are_grown_by_the_class_of_the_center_and_not_by_its_parent(tmp_path):
    file = in_a_file(tmp_path)
    noise = ScaledResiduals(n_repeats=1)
    predicted = []
    for trees in (SymmetricTrees, EarlyTrees):
        center = FoldedEnsemble(trees(n_trees=5, max_depth=2, learning_rate=0.1), 3, 2)
        model = ClearRegressor(center, noise, random_state=0).fit(file, "y")
        predicted.append(model.predict(pl.DataFrame({"a": [0.1, 0.9], "b": [0.5, 0.5]})))
    slow, early = (np.ptp(each) for each in predicted)
    assert early > 1.5 * slow  # five steps of a tenth do not reach the target, but five halves do


def test_where_none_can_a_sentence_says_what_is_missing(tmp_path):
    model = ClearRegressor(search=WithOthers(of_trees=False), random_state=0)
    with pytest.raises(
        ValueError, match=r"A table in files needs .* `streams_files = True`.*Steps"
    ):
        model.fit(in_a_file(tmp_path), "y")
    given = ClearRegressor(FoldedEnsemble(Steps()), ScaledResiduals(), random_state=0)
    with pytest.raises(ValueError, match="symmetric trees"):
        given.fit(in_a_file(tmp_path), "y")

    class Plain(Steps):
        supports_monotone = False

    assert not has_capability(Plain(), "supports_monotone")
    given.set_params(epistemic=FoldedEnsemble(Plain()), monotone=[1, 0])
    with pytest.raises(ValueError, match="FoldedEnsemble cannot keep to monotone"):
        given.fit(*rows())
