import json
import pickle
import tracemalloc
import warnings
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR

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
from clearbands.calibration.distribution import AnyLevel
from clearbands.calibration.groups import GroupCalibrator
from clearbands.persistence.model_file import FORMAT, HEADER, SCHEMA
from tests.toys import calibration_set, noisy_line


def small_clear(model):
    return ClearRegressor(
        PCSEnsemble([model], n_bootstraps=3),
        ResidualQuantiles(model, n_bootstraps=3),
        calibration="joint",
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
    """The file with other versions in its header."""
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


class Hostile(BaseEstimator):
    """Leaves a mark when anything rebuilds it."""

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


def test_a_failed_save_leaves_the_old_file(saved):
    before = saved.read_bytes()
    with pytest.raises(ModelFileError, match="generator"):
        clearbands.save((n for n in range(3)), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def rewritten(path, change=lambda schema: schema, entries=(), compression=zipfile.ZIP_DEFLATED):
    """The file with another schema, and with entries of other content."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    held[SCHEMA] = json.dumps(change(json.loads(held[SCHEMA]))).encode()
    held.update(entries)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return path


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


def test_a_number_that_is_no_column_is_named(tmp_path):
    path = tmp_path / "model.clear"
    clearbands.save(small_clear(BoostedQuantiles(n_trees=3)).fit(*noisy_line()), path)
    with zipfile.ZipFile(path) as archive:
        arrays = {
            name: np.load(BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    name = next(name for name, array in arrays.items() if array.dtype == np.uint16)
    arrays[name].flat[0] = 65535
    changed = BytesIO()
    np.save(changed, arrays[name])
    rewritten(path, entries={name: changed.getvalue()})
    with pytest.raises(ModelFileError, match=r"damaged .* A split names number 65,535 of 2"):
        clearbands.load(path)


def array_of(shape, values=b""):
    """An array in NumPy's format that claims a shape, followed by any bytes."""
    buffer = BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "|u1", "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue() + values


def state(number, loader, content, **more):
    kind = {"ListNode": "list", "JsonNode": "str", "NdArrayNode": "ndarray"}[loader]
    module = "numpy" if kind == "ndarray" else "builtins"
    return {
        "__class__": kind,
        "__module__": module,
        "__loader__": loader,
        "__id__": number,
        "content": content,
        **more,
    }


def array_state(number, file):
    return state(number, "NdArrayNode", None, type="numpy", file=file)


def of_list(*parts):
    return lambda schema: state(1, "ListNode", list(parts)) | {"protocol": schema["protocol"]}


ZEROS = b"\0" * 100_000_000


def bomb(path):
    rewritten(path, of_list(array_state(2, "a.npy")), {"a.npy": array_of((len(ZEROS),), ZEROS)})


def lying_bomb(path):
    bomb(path)
    content = path.read_bytes()
    size = (len(ZEROS) + len(array_of((len(ZEROS),)))).to_bytes(4, "little")
    assert content.count(size) >= 2
    path.write_bytes(content.replace(size, (1000).to_bytes(4, "little")))


def nested_bomb(path):
    matrix = BytesIO()
    sparse.save_npz(matrix, sparse.coo_matrix(([1.0], ([0], [0]))))
    with zipfile.ZipFile(matrix, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", array_of((len(ZEROS),), ZEROS))
    part = state(2, "NdArrayNode", None, type="scipy", file="a.npz")
    part |= {
        "__loader__": "SparseMatrixNode",
        "__module__": "scipy.sparse._coo",
        "__class__": "coo_matrix",
    }
    rewritten(path, of_list(part), {"a.npz": matrix.getvalue()}, zipfile.ZIP_STORED)


def packed_otherwise(path):
    entries = {"a.npy": array_of((len(ZEROS),), ZEROS)}
    rewritten(path, of_list(array_state(2, "a.npy")), entries, zipfile.ZIP_LZMA)


def huge_shape(path):
    rewritten(path, of_list(array_state(2, "a.npy")), {"a.npy": array_of((2**40, 2**20))})


def one_array_for_many(path):
    parts = [array_state(number, "a.npy") for number in range(2, 9000)]
    rewritten(path, of_list(*parts), {"a.npy": array_of((10**6,), b"\0" * 10**6)})


def too_many_parts(path):
    rewritten(path, of_list(*(state(n, "JsonNode", "1") for n in range(2, 80_000))))


def doubling(path):
    """Each list holds the list before it twice: 2**60 visits to the innermost."""
    part = state(2, "JsonNode", "1")
    for number in range(3, 63):
        part = state(number, "ListNode", [part, {"__id__": number - 1}])
    rewritten(path, of_list(part))


def doubling_written_out(path):
    part = state(2, "JsonNode", "1")
    for number in range(3, 63):
        part = state(number, "ListNode", [part, state(number - 1, "JsonNode", "1")])
    rewritten(path, of_list(part))


def deep(path):
    nested = state(2, "JsonNode", "[" * 10**6)
    rewritten(path, of_list(nested))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (bomb, "unpacks to more than a model of its size"),
        (lying_bomb, "damaged"),
        (nested_bomb, "unpacks to more than a model of its size"),
        (packed_otherwise, "not a complete"),
        (huge_shape, "claims .* bytes of values and holds 0"),
        (one_array_for_many, "belongs to two parts"),
        (too_many_parts, "more parts than a model of its size"),
        (doubling, "refers to another"),
        (doubling_written_out, "Two different parts have the number"),
        (deep, "damaged"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_files_made_to_exhaust_memory_or_time_are_refused(make, reason, tmp_path):
    path = tmp_path / "model.clear"
    clearbands.save(LinearQuantiles(), path)
    make(path)
    assert path.stat().st_size < 1_100_000
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=reason):
            clearbands.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 250e6


def test_regular_models_are_not_mistaken_for_such_files(tmp_path):
    zeros = np.zeros(9_000_000)
    clearbands.save([zeros, [str(n % 7) for n in range(22_000)]], tmp_path / "zeros.clear")
    np.testing.assert_array_equal(clearbands.load(tmp_path / "zeros.clear")[0], zeros)
