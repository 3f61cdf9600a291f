import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

import clearbands
from clearbands import (
    BoostedQuantiles,
    ClearCalibrator,
    ClearRegressor,
    ExpectileGAM,
    ForestQuantiles,
    LinearQuantiles,
    ModelFileError,
    PCSEnsemble,
    ResidualQuantiles,
)
from clearbands.persistence import FORMAT, HEADER
from tests.toys import calibration_set, noisy_line


def small_clear(model):
    return ClearRegressor(
        PCSEnsemble([model], n_bootstraps=3),
        ResidualQuantiles(model, n_bootstraps=3),
        random_state=0,
    )


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.clear"
    clearbands.save(small_clear(LinearQuantiles()).fit(*noisy_line()), path)
    return path


@pytest.mark.parametrize(
    "model",
    [
        LinearQuantiles(),
        BoostedQuantiles(n_trees=5),
        ForestQuantiles(n_trees=5),
        ExpectileGAM(),
        BoostedQuantiles(n_trees=5, backend="xgboost"),
        ForestQuantiles(n_trees=5, backend="quantile-forest"),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'backend', '')}",
)
def test_models_come_back_as_they_were(model, tmp_path):
    if getattr(model, "backend", "native") != "native":
        pytest.importorskip(model.backend.replace("-", "_"))
    X, y = noisy_line()
    fitted = small_clear(model).fit(X, y)
    clearbands.save(fitted, tmp_path / "model.clear")
    loaded = clearbands.load(tmp_path / "model.clear")
    np.testing.assert_array_equal(loaded.predict_interval(X)[1], fitted.predict_interval(X)[1])
    assert loaded.get_params().keys() == fitted.get_params().keys()


def test_frames_and_calibrators(tmp_path):
    X = pd.DataFrame({"town": ["a", "b", None] * 40, "size": [1.0, None, 2.0] * 40})
    fitted = small_clear(LinearQuantiles()).fit(X, np.arange(120.0) % 3)
    clearbands.save(fitted, tmp_path / "frame.clear")
    loaded = clearbands.load(tmp_path / "frame.clear")
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    calibrator = ClearCalibrator([0.5, 0.9]).fit(*calibration_set())
    clearbands.save(calibrator, tmp_path / "calibrator.clear")
    again = clearbands.load(tmp_path / "calibrator.clear")
    np.testing.assert_array_equal(again.lambda_, calibrator.lambda_)


def test_cut_files_say_so(saved, tmp_path):
    whole = saved.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        cut = tmp_path / "cut.clear"
        cut.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match="cut off or written by something else"):
            clearbands.load(cut)


def test_damaged_files_say_so(saved):
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as archive:
        largest = max(archive.infolist(), key=lambda info: info.compress_size)
    content[largest.header_offset + 60 + largest.compress_size // 2] ^= 0xFF
    saved.write_bytes(content)
    with pytest.raises(ModelFileError, match="damaged"):
        clearbands.load(saved)


def test_foreign_files_say_so(tmp_path):
    foreign = tmp_path / "foreign"
    foreign.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelFileError, match="not a complete clearbands model"):
        clearbands.load(foreign)
    skops.io.dump(LinearRegression(), foreign)
    with pytest.raises(ModelFileError, match="not a complete clearbands model"):
        clearbands.load(foreign)
    with pytest.raises(ModelFileError, match="There is no file"):
        clearbands.load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="is a folder"):
        clearbands.load(tmp_path)


def test_newer_files_ask_for_an_upgrade(tmp_path):
    path = tmp_path / "newer.clear"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, json.dumps({"format": FORMAT + 1, "clearbands": "9.9"}))
    with pytest.raises(ModelFileError, match=r"clearbands 9\.9, which is newer"):
        clearbands.load(path)


class Hostile(BaseEstimator):
    """Leaves a mark when anything rebuilds it."""

    def __init__(self, mark=None):
        self.mark = mark

    def __setstate__(self, state):
        state["mark"].write_text("ran")
        super().__setstate__(state)

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_loading_runs_no_code_of_unknown_types(tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "model.clear"
    model = small_clear(LinearQuantiles()).set_params(encoder=Hostile()).fit(*noisy_line())
    model.encoder_.mark = model.encoder.mark = str(mark)
    clearbands.save(model, path)
    with pytest.raises(ModelFileError, match=r"not trusted: .*Hostile"):
        clearbands.load(path)
    assert not mark.exists()


def test_functions_of_the_package_are_not_trusted_either(tmp_path):
    path = tmp_path / "model.clear"
    model = small_clear(LinearQuantiles())
    model.encoder = clearbands.save
    clearbands.save(model, path)
    with pytest.raises(ModelFileError, match="not trusted"):
        clearbands.load(path)


def test_a_failed_save_leaves_the_old_file(saved):
    before = saved.read_bytes()
    with pytest.raises(TypeError, match="generator"):
        clearbands.save((n for n in range(3)), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
