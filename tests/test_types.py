"""Type checks of users' code, and of the presets: they have the parameters of the model."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import clearbands
from clearbands import ClearClassifier, ClearRegressor, presets
from tests import toys

CODE = Path(__file__).parent / "user_code"


@pytest.mark.slow
def test_mypy_accepts_what_is_right_and_refuses_what_is_wrong(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    source = Path(clearbands.__file__).parents[1]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", os.devnull),
            *("--ignore-missing-imports", "--follow-imports", "silent"),
            *("--cache-dir", str(tmp_path / "cache")),
            *(str(CODE / "right.py"), str(CODE / "wrong.py")),
        ],
        capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"MYPYPATH": str(source)},
    )  # fmt: skip
    refused = set(re.findall(r"(right|wrong)\.py:(\d+): error", done.stdout))
    assert refused == _lines_marked_wrong(), done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_accepts_what_is_right_and_refuses_what_is_wrong(tmp_path):
    pytest.importorskip("pyright", reason="pyright is not installed")
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    config = {
        "include": [os.path.relpath(CODE, tmp_path)],
        "extraPaths": [str(Path(clearbands.__file__).parents[1])],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pyright", "--outputjson"),
            *("--project", str(tmp_path), "--pythonpath", sys.executable),
        ],
        capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )  # fmt: skip
    refused = {
        (Path(error["file"]).stem, str(error["range"]["start"]["line"] + 1))
        for error in json.loads(done.stdout)["generalDiagnostics"]
        if error["severity"] == "error"
    }
    assert refused == _lines_marked_wrong(), done.stdout + done.stderr


def _lines_marked_wrong():
    lines = (CODE / "wrong.py").read_text("utf-8").splitlines()
    return {("wrong", str(i)) for i, line in enumerate(lines, 1) if line.endswith("# wrong")}


def test_presets_take_the_parameters_of_the_model():
    """A new parameter of ClearRegressor needs a line in `clearbands.presets.Parameters`."""
    model = get_type_hints(ClearRegressor.__init__)
    del model["return"]
    assert get_type_hints(presets.Parameters) == model
    names = list(inspect.signature(ClearRegressor).parameters)
    assert list(inspect.signature(presets.fast).parameters) == names
    assert list(inspect.signature(presets.variant_a).parameters) == ["stock", *names]


def test_a_file_of_another_class_is_refused(tmp_path):
    calibrator = clearbands.FixedRatioCalibrator(0.5).fit(*toys.calibration_set())
    clearbands.save(calibrator, tmp_path / "model.clear")
    loaded = clearbands.load(tmp_path / "model.clear", clearbands.FixedRatioCalibrator)
    assert loaded.gamma1_ == calibrator.gamma1_
    with pytest.raises(clearbands.ModelFileError, match=r"holds a FixedRatioCal.*, not a ClearCla"):
        clearbands.load(tmp_path / "model.clear", ClearClassifier)
