"""What calibration and validation chose, and what they chose it from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.plots.style import (
    EPISTEMIC,
    GRID,
    INK,
    MUTED,
    NOISE_LINE,
    dress,
    new_axes,
    percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.lambda_loss import LambdaPath


def lambda_path(path: LambdaPath, *, ax: Axes | None = None) -> Axes:
    """The quantile loss over all lambda from 0 to infinity, with the chosen and the fixed ones.

    The axis is the epistemic share of the mean width, on which both ends have a place.
    """
    ax = new_axes() if ax is None else ax
    drawn = np.isfinite(path.losses)
    if not drawn.any():
        raise ValueError("No lambda gives a finite loss; there is nothing to draw.")
    ax.plot(path.shares[drawn], path.losses[drawn], color=INK, lw=1.6)
    look: dict[str, Any] = {"zorder": 3, "ls": "", "mec": "white", "ms": 9}
    fixed = [("λ = 1", path.ratio_one, "s", NOISE_LINE)]
    if path.gamma_one is not None:
        fixed.append(("γ₁ = 1", path.gamma_one, "^", EPISTEMIC))
    for label, point, marker, colour in fixed:
        if math.isfinite(point.loss):
            change = point.loss / path.chosen.loss - 1 if path.chosen.loss else 0.0
            ax.plot(
                point.share, point.loss, marker, color=colour, label=f"{label} ({change:+.1%})",
                **look,
            )  # fmt: skip
    chosen = path.chosen
    ax.plot(chosen.share, chosen.loss, "o", color=INK, label=f"λ = {chosen.lambda_:.3g}", **look)
    title = f"The chosen λ makes {percent(round(chosen.share, 2))} of the mean width epistemic"
    dress(ax, title, "λ, by the epistemic share of the mean width", "Quantile loss")
    ax.set_xticks(*zip(*path.ticks(), strict=True))
    ax.set_xlim(-0.02, 1.02)
    return ax


def model_comparison(leaderboard: Sequence[Mapping[str, Any]], *, ax: Axes | None = None) -> Axes:
    """Validation errors of the models that competed: `PCSEnsemble.leaderboard_`, best on top."""
    if not leaderboard or any(entry["rmse"] is None for entry in leaderboard):
        raise ValueError("No models competed, so there are no validation errors to compare.")
    ax = new_axes() if ax is None else ax
    places = np.arange(len(leaderboard))[::-1]
    errors = np.array([entry["rmse"] for entry in leaderboard])
    kept = np.array([entry["selected"] for entry in leaderboard])
    ax.hlines(places, 0, errors, color=GRID, lw=3, zorder=2)
    for of, colour, label in ((kept, INK, "Kept"), (~kept, MUTED, "Not kept")):
        if of.any():
            ax.scatter(errors[of], places[of], 80, color=colour, label=label, zorder=3)
    for place, entry in zip(places, leaderboard, strict=True):
        score = "" if entry["r2"] is None else f"  R² {entry['r2']:.3f}"
        ax.annotate(
            f"{entry['rmse']:.4g}{score}", (entry["rmse"], place), (9, 0),
            textcoords="offset points", va="center", color=INK, fontsize=9,
        )  # fmt: skip
    dress(
        ax,
        f"{_name(leaderboard[0])} predicts best",
        "Root mean squared error on validation rows",
        "",
        grid="x",
    )
    ax.set_yticks(places, [_name(entry) for entry in leaderboard], color=INK)
    ax.set_xlim(0, 1.25 * errors.max() or 1.0)
    ax.set_ylim(-0.7, len(leaderboard) - 0.3)
    return ax


def _name(entry: Mapping[str, Any]) -> str:
    return " after ".join(name for name in (entry["model"], entry["preprocessing"]) if name)
