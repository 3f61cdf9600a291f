"""The allowed words of settings that take one of a few, for parameters, commands and messages."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Calibration: TypeAlias = Literal["cross", "joint", "conformal"]
"""How rows are used to calibrate: see `ClearRegressor`."""

EngineName: TypeAlias = Literal["threads", "processes", "dask"]
"""The engine that runs the tasks of a fit on a table in files."""

PresetName: TypeAlias = Literal["default", "fast", "thorough", "a", "b", "c", "deep"]
"""The keys of `clearbands.presets.PRESETS`."""

Residuals: TypeAlias = Literal["in-sample", "out-of-bag", "target"]
"""What an aleatoric part learns from: residuals of one of two centers, or the target."""

ScaleName: TypeAlias = Literal["log", "log1p", "sqrt"]
"""The keys of `clearbands.rows.target_transform.NAMED`."""

Side: TypeAlias = Literal["both", "lower", "upper"]
"""Which bounds of an interval are finite."""

SIDES: tuple[Side, ...] = get_args(Side)

Split: TypeAlias = Literal["random", "time"]
"""Whether rows are held out at random or in the order of time."""

Task: TypeAlias = Literal["regression", "classification"]
"""Whether the target holds numbers or classes."""

UnknownGroups: TypeAlias = Literal["refuse", "pool"]
"""Whether groups that were not in the fit are refused, or calibrated as all rows together are."""
