"""States of models that files of earlier versions hold in another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def with_one_pair(state: dict[str, Any], pair: Callable[[Any, Any, str], Any]) -> dict[str, Any]:
    """A fitted `ClearRegressor` from when its two parts were not yet one."""
    if "epistemic_" not in state:
        return state
    gone = ("epistemic_", "aleatoric_", "shows_center_")
    shown = "center" if state["shows_center_"] else "nothing"
    return {
        **{name: value for name, value in state.items() if name not in gone},
        "parts_": pair(state["epistemic_"], state["aleatoric_"], shown),
        "calibration_": state["calibration"],
        "leaderboard_": (),
        "centers_": (),
    }
