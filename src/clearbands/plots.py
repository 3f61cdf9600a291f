"""Pictures of intervals: numbers in, Axes out; nothing is fitted here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.bands import check_vector, covered, make_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.uncertainty import Uncertainty

# Told apart with any colour vision: blue from orange by hue, and in grey by lightness.
ALEATORIC = "#B5D7EF"
EPISTEMIC = "#DB8F00"
OUTSIDE = "#B3261E"
INK = "#1F2933"
MUTED = "#5B6670"
GRID = "#E3E6E8"


def band_by_rank(parts: Uncertainty, y: Any, *, ax: Axes | None = None) -> Axes:
    """The rows ordered by center, each a bar from bound to bound, with the true values on top.

    Next to the center lies the aleatoric part, beyond it the epistemic one. `y` (n,) are the
    true values. Without `ax` the Axes are those of a new figure, `.figure`, to save or to show.
    """
    y = check_vector(y, "y", len(parts.center))
    ax = _new_axes() if ax is None else ax
    inner = make_interval(parts.center, parts.aleatoric)
    outer = make_interval(parts.center, parts.aleatoric + parts.epistemic)
    if not np.isfinite(outer).all():
        raise ValueError("Some intervals are infinite and cannot be drawn; leave those rows out.")
    inside = covered(y, outer)
    order = np.argsort(parts.center, kind="stable")
    rank = np.empty(len(y))
    rank[order] = np.arange(1, len(y) + 1)

    for bounds, colour, name in (
        (outer, EPISTEMIC, "Epistemic (too few data)"),
        (inner, ALEATORIC, "Aleatoric (noise)"),
    ):
        height = bounds[:, 1] - bounds[:, 0]
        ax.bar(rank, height, 0.84, bounds[:, 0], color=colour, lw=0, label=name)
    ax.step(rank[order], parts.center[order], where="mid", color=INK, lw=1.4, label="Prediction")
    dots: dict[str, Any] = {"zorder": 3, "edgecolor": "white", "linewidth": 0.6}
    ax.scatter(rank[inside], y[inside], 22, color=INK, label="True value", **dots)
    ax.scatter(
        rank[~inside], y[~inside], 44, marker="D", color=OUTSIDE, label="True value outside", **dots
    )
    _dress(
        ax,
        f"{parts.confidence_level:.0%} intervals hold {inside.sum()} of {len(y)} true values "
        f"({inside.mean():.0%})",
    )
    return ax


def _dress(ax: Axes, title: str) -> None:
    """Words around the bars, and no more lines than they need."""
    ax.set_title(title, loc="left", fontsize=15, fontweight="bold", color=INK, pad=30)
    ax.set_xlabel("Rows, ordered by prediction", color=MUTED, labelpad=8)
    ax.set_ylabel("Target", color=MUTED)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(-0.012, 0.99),
        ncols=5,
        frameon=False,
        fontsize=9,
        handlelength=1.2,
        handletextpad=0.5,
        columnspacing=1.4,
        labelcolor=INK,
    )
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(MUTED)
    ax.tick_params(colors=MUTED, length=0)
    ax.set_xticks([])  # ranks mean nothing by themselves
    ax.grid(axis="y", color=GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.use_sticky_edges = False  # room below the lowest bar
    ax.margins(x=0.01, y=0.03)


def _new_axes() -> Axes:
    try:
        from matplotlib.figure import (
            Figure,
        )  # and not pyplot, which keeps figures and opens windows
    except ImportError as error:
        raise ImportError('Pictures need matplotlib: pip install "clearbands[cli]".') from error
    return Figure(figsize=(9, 5), layout="constrained").subplots()
