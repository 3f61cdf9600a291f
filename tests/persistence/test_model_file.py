import json
import pickle
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from sklearn.linear_model import LinearRegression

import clearbands
from clearbands import (
    BoostedQuantiles,
    ClearCalibrator,
    ExpectileGAM,
    ForestQuantiles,
    LinearQuantiles,
    ModelFileError,
)
from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.groups import GroupCalibrator
from clearbands.persistence.model_file import FORMAT, HEADER
from tests.persistence.model_files import rewritten, small_clear
from tests.toys import calibration_set, noisy_line


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
    size = np.arange(120.0)
    size[1::3] = np.nan
    X = pd.DataFrame({"town": ["a", "b", None] * 40, "size": size})
    fitted = small_clear(LinearQuantiles()).fit(X, np.arange(120.0) % 7 - 3.5)
    clearbands.save(fitted, tmp_path / "frame.clear")
    loaded = clearbands.load(tmp_path / "frame.clear")
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    calibrator = ClearCalibrator([0.5, 0.9]).fit(*calibration_set())
    clearbands.save(calibrator, tmp_path / "calibrator.clear")
    again = clearbands.load(tmp_path / "calibrator.clear")
    np.testing.assert_array_equal(again.lambda_, calibrator.lambda_)


def test_weighted_and_grouped_calibrators_and_any_level(tmp_path):
    data, path = calibration_set(n=60), tmp_path / "calibrator.clear"
    new = [array[:5] for array in data[1:]]
    weighted = ClearCalibrator(0.8).fit(*data, calibration_weight=np.arange(1, 61))
    grouped = GroupCalibrator(confidence_level=0.8).fit(*data, calibration_groups=["a", "b"] * 30)
    distances = np.add(*grouped.scale(*data[2:], calibration_groups=["a", "b"] * 30))
    bands = AnyLevel.of([0.8], data[0], data[1], distances)
    clearbands.save([weighted, grouped, bands], path)
    for before, after, arguments in zip(
        (weighted.predict_interval, grouped.predict_interval),
        (part.predict_interval for part in clearbands.load(path)[:2]),
        ({"weight": np.ones(5)}, {"calibration_groups": ["a"] * 5}),
        strict=True,
    ):
        np.testing.assert_array_equal(after(*new, **arguments), before(*new, **arguments))
    loaded = clearbands.load(path)[2]
    np.testing.assert_array_equal(
        loaded.intervals(data[1], distances, [0.3, 0.8]),
        bands.intervals(data[1], distances, [0.3, 0.8]),
    )


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


def with_versions(path, **versions):
    """Write the file with other versions in its header; return its path."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read(HEADER))
    return rewritten(path, entries={HEADER: json.dumps(header | versions)})


@pytest.mark.parametrize("version", ["99.0", "0.1.1", "0.2"])
def test_a_file_of_a_newer_version_asks_for_an_upgrade(saved, version):
    with pytest.raises(ModelFileError, match=f"clearbands {version}, which is newer .* upgrade"):
        clearbands.load(with_versions(saved, clearbands=version))


def test_another_scikit_learn_is_told_of_once(saved):
    with pytest.warns(UserWarning, match=r"scikit-learn 0\.1, and this is \d") as heard:
        clearbands.load(with_versions(saved, **{"scikit-learn": "0.1"}))
    assert len(heard) == 1


def test_the_last_part_of_a_version_does_not_matter(saved):
    major, minor, *_ = sklearn.__version__.split(".")
    clearbands.load(with_versions(saved, **{"scikit-learn": f"{major}.{minor}.99"}))
    clearbands.load(with_versions(saved, clearbands="0.0.9"))


def test_a_header_of_nonsense_is_no_failure_of_another_kind(saved):
    for value in (None, [1], {"a": 1}, "", "x" * 10_000, "9" * 5_000):
        with_versions(saved, **{"clearbands": value, "scikit-learn": value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(ModelFileError):
                clearbands.load(saved)


def test_a_failed_save_leaves_the_old_file(saved):
    before = saved.read_bytes()
    with pytest.raises(ModelFileError, match="generator"):
        clearbands.save((n for n in range(3)), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize("name", ["clearbands.regressor.Gone", "clearbands.gone.ClearRegressor"])
def test_a_class_that_is_gone_is_named(saved, name):
    module, _, class_name = name.rpartition(".")
    rewritten(saved, lambda schema: schema | {"__module__": module, "__class__": class_name})
    with pytest.raises(ModelFileError, match=rf"{name}, which this version .* no longer has"):
        clearbands.load(saved)


def test_any_flipped_bit_gives_the_same_model_or_one_error(saved):
    whole, X = saved.read_bytes(), noisy_line()[0]
    expected = clearbands.load(saved).predict_interval(X)[1]
    with zipfile.ZipFile(saved) as archive:
        directory = archive.start_dir
    rng = np.random.RandomState(0)
    places = np.concatenate(
        [rng.randint(len(whole), size=100), rng.randint(directory, len(whole), 150)]
    )
    refused = 0
    for place, bit in zip(places, rng.randint(8, size=len(places)), strict=True):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << bit
        saved.write_bytes(flipped)
        try:
            loaded = clearbands.load(saved)
        except ModelFileError:
            refused += 1
        else:
            np.testing.assert_array_equal(loaded.predict_interval(X)[1], expected)
    assert refused > 100
