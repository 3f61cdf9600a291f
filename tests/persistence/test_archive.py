"""Files made to exhaust memory or time are refused."""

import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest
from scipy import sparse

import clearbands
from clearbands import LinearQuantiles, ModelFileError
from tests.persistence.model_files import rewritten


def array_of(shape, values=b""):
    """Return a header of NumPy's format that claims a shape, followed by any bytes."""
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
    """Write lists that each hold the one before twice: the innermost is read 2**60 times."""
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
