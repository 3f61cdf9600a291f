"""Files appear whole or not at all, and an error says why one does not."""

import subprocess
import sys

import numpy as np
import pytest

import clearbands
from clearbands.persistence.writing import atomic_path

FULL = """
import resource, sys
from pathlib import Path
import numpy as np, polars as pl
import clearbands
from clearbands.apps.reading.files import write_table

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
path, values = Path(sys.argv[1]), np.random.default_rng(0).normal(size=20_000)
try:
    if path.suffix == ".clear":
        clearbands.save({"values": values}, path)
    else:
        write_table(pl.DataFrame({"values": values}), path)
except OSError as error:
    sys.stdout.write(str(error))
"""


@pytest.mark.parametrize("ending", ["clear", "csv", "parquet", "feather"])
def test_a_full_disk_is_one_sentence(ending, tmp_path):
    pytest.importorskip("polars")
    pytest.importorskip("resource")
    path = tmp_path / f"file.{ending}"
    found = subprocess.run(
        [sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True
    )
    assert found.stdout == (
        f"There is no room left to write {path}: free some, or write elsewhere."
    )
    assert list(tmp_path.iterdir()) == []


def test_no_folder_is_one_sentence(tmp_path):
    path = tmp_path / "nowhere" / "model.clear"
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere for model\.clear: "):
        clearbands.save({"values": np.zeros(3)}, path)


def test_errors_of_the_block_stay_what_they_are(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    other = tmp_path / "other"
    with pytest.raises(FileNotFoundError, match=r"No such file .*other"), atomic_path(path):
        other.read_text()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
