"""Which types a model file may hold."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR

import clearbands
from clearbands import LinearQuantiles, ModelFileError
from tests.toys import noisy_line


class Hostile(BaseEstimator):
    """An estimator that writes a file when it is loaded."""

    def __init__(self, mark=None):
        self.mark = mark

    def __setstate__(self, state):
        Path(state["mark"]).write_text("ran")
        super().__setstate__(state)


HOSTILE = f"{__name__}.Hostile"


def test_loading_runs_no_code_of_unknown_types(tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "model.clear"
    clearbands.save([LinearQuantiles(), Hostile(str(mark))], path, trusted=[HOSTILE])
    mark.unlink()
    with pytest.raises(ModelFileError, match=r"not trusted: .*Hostile"):
        clearbands.load(path)
    assert not mark.exists()
    clearbands.load(path, trusted=[HOSTILE])
    assert mark.exists()


def test_what_load_refuses_save_refuses(tmp_path):
    path = tmp_path / "model.clear"
    for model, reason in [
        (Hostile(str(tmp_path / "mark")), "not trusted: .*Hostile.* name them in save and load"),
        ([clearbands.save], r"not trusted: clearbands\.persistence\.model_file\.save"),
        ({None: LinearQuantiles()}, "NoneType"),  # skops writes this and cannot read it
        ({(1, 2): LinearQuantiles()}, "cannot be saved: keys"),
        ((n for n in range(3)), "generator"),
    ]:
        with pytest.raises(ModelFileError, match=reason):
            clearbands.save(model, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=3),
        GaussianProcessRegressor(RBF() + WhiteKernel(), optimizer=None),
        KNeighborsRegressor(algorithm="kd_tree"),
        make_pipeline(SelectKBest(f_regression, k=1), SplineTransformer(), Ridge()),
        RandomForestRegressor(3),
        GradientBoostingRegressor(n_estimators=3),
        make_pipeline(SplineTransformer(sparse_output=True), KNeighborsRegressor(1)),
        SVR(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scikit_learn_needs_no_trust(model, tmp_path):
    X, y = noisy_line()
    clearbands.save(model.fit(X, y), tmp_path / "model.clear")
    loaded = clearbands.load(tmp_path / "model.clear")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
