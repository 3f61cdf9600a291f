"""Settings that are one word of a few: parameters, commands and messages read them here."""

from __future__ import annotations

from typing import Literal, TypeAlias

Calibration: TypeAlias = Literal["cross", "joint", "conformal"]
"""How rows calibrate: see `ClearRegressor`."""

EngineName: TypeAlias = Literal["threads", "processes", "dask"]
"""Who works on a table in files."""

PresetName: TypeAlias = Literal["default", "fast", "thorough", "a", "b", "c", "deep"]
"""The keys of `clearbands.presets.PRESETS`."""

Residuals: TypeAlias = Literal["in-sample", "out-of-bag", "target"]
"""Which center an aleatoric part learns from."""

ScaleName: TypeAlias = Literal["log", "log1p", "sqrt"]
"""The keys of `clearbands.rows.target_transform.NAMED`."""

Side: TypeAlias = Literal["both", "lower", "upper"]
"""Which bounds of an interval are finite."""

Split: TypeAlias = Literal["random", "time"]
"""How rows are held out."""

Task: TypeAlias = Literal["regression", "classification"]
"""What the target holds: numbers or classes."""

UnknownGroups: TypeAlias = Literal["refuse", "pool"]
"""Whether calibration groups that were not there in the fit are refused, or calibrated like all."""
