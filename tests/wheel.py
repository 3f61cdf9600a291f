"""A test of the wheel in an empty environment: `python tests/wheel.py`, outside of the clone."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import clearbands
from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles

home = Path(clearbands.__file__).resolve()
assert home.is_relative_to(Path(sys.prefix).resolve()), f"{home} is not the wheel's"
for extra in ("pandas", "polars", "typer", "matplotlib", "fastapi", "xgboost", "torch"):
    assert find_spec(extra) is None, f"{extra} is installed: this environment is not empty"
for name in clearbands.__all__:
    getattr(clearbands, name)

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
y = X[:, 0] + rng.normal(size=200) * np.exp(X[:, 1])
lines = LinearQuantiles()
parts = PCSEnsemble({"lines": lines}, n_bootstraps=5), ResidualQuantiles(lines, 5)
model = ClearRegressor(*parts, calibration="joint", random_state=0).fit(X, y)
point, intervals = model.predict_interval(X)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.clear"
    clearbands.save(model, path)
    np.testing.assert_array_equal(clearbands.load(path).predict_interval(X)[1], intervals)

command = Path(sys.executable).with_name("clearbands")
said = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
assert said.returncode == 2, said
assert "cli" in said.stderr, said.stderr  # the extra that the command needs
assert "Traceback" not in said.stderr, said.stderr
