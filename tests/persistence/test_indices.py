"""Numbers in a file that should be columns and are not are named."""

import zipfile
from io import BytesIO

import numpy as np
import pytest

import clearbands
from clearbands import BoostedQuantiles, ModelFileError
from tests.persistence.model_files import rewritten, small_clear
from tests.toys import noisy_line


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
