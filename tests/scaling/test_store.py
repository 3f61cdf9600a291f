"""Stored files are whole, or they do not exist."""

import numpy as np
import pytest

from clearbands import LinearQuantiles
from clearbands.scaling.store import Store
from tests.scaling.files import table


@pytest.fixture
def store(tmp_path):
    found = Store(str(tmp_path))
    found.write_array("a.npy", np.arange(1000))
    found.write_arrays("a.npz", {"x": np.arange(1000), "y": np.ones(3)})
    found.write_json("a.json", {"x": [1, 2, 3]})
    found.write_table("a.parquet", table())
    found.write_part("a.clear", LinearQuantiles())
    return found


NAMES = pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.json", "a.parquet", "a.clear"])


@NAMES
def test_a_file_that_was_cut_anywhere_is_no_file(store, name):
    assert store.is_complete(name)
    content = store.path(name).read_bytes()
    for length in (0, 3, len(content) // 2, len(content) - 1):
        store.path(name).write_bytes(content[:length])
        assert not store.is_complete(name)
    store.path(name).unlink()
    assert not store.is_complete(name)


@NAMES
def test_a_file_with_changed_bytes_is_refused_until_it_is_written_again(store, name):
    whole = store.path(name).read_bytes()
    for place in (0, len(whole) // 2, len(whole) - 8):
        flipped = bytes(byte ^ 255 for byte in whole[place : place + 8])
        store.path(name).write_bytes(whole[:place] + flipped + whole[place + 8 :])
        with pytest.raises(ValueError, match=rf"{name} was changed after it was written"):
            store.is_complete(name)
    store.path(name).unlink()
    assert not store.is_complete(name)
    with store.writing(name) as unfinished:
        unfinished.write_bytes(whole)
    assert store.is_complete(name)


def test_what_is_read_is_what_was_written(store):
    np.testing.assert_array_equal(store.map_array("a.npy"), np.arange(1000))
    assert store.read_arrays("a.npz")["y"].tolist() == [1, 1, 1]
    assert store.read_json("a.json") == {"x": [1, 2, 3]}


def test_a_key_is_all_that_a_file_depends_on(store):
    one = store.subfolder("members", seed=1, model={"n_trees": 8})
    assert one == store.subfolder("members", model={"n_trees": 8}, seed=np.int64(1))
    assert one != store.subfolder("members", seed=2, model={"n_trees": 8})
    assert one.read_json("key.json") == {"seed": 1, "model": {"n_trees": 8}}
