"""Colours, titles and axes of all pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from clearbands._compat import require
from clearbands.prediction import glossary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Pictures are drawn on white, so they take the light colours.
ALEATORIC, ALEATORIC_LINE = glossary.ALEATORIC.fill.light, glossary.ALEATORIC.line.light
EPISTEMIC, EPISTEMIC_LINE = glossary.EPISTEMIC.fill.light, glossary.EPISTEMIC.line.light
INK, MUTED, GRID, OUTSIDE = (
    glossary.COLOURS[name].light for name in ("ink", "muted", "grid", "outside")
)

LINES = (INK, EPISTEMIC_LINE, ALEATORIC_LINE, OUTSIDE, MUTED)
LONG_TITLE = 60  # titles with more letters get a smaller font
MARKERS = ("o", "s", "^", "D", "v")

DOTS: dict[str, Any] = {"zorder": 3, "edgecolor": "white", "linewidth": 0.6}


def label_axes(
    ax: Axes, title: str, x: str, y: str, *, grid: Literal["both", "x", "y"] = "y"
) -> None:
    """Add title, labels and legend to a picture, and remove lines that it does not need."""
    named = bool(ax.get_legend_handles_labels()[0])
    size = 15 if len(title) <= LONG_TITLE else 13  # so that long ones stay in the picture
    ax.set_title(
        title, loc="left", fontsize=size, fontweight="bold", color=INK, pad=30 if named else 12
    )
    ax.set_xlabel(x, color=MUTED, labelpad=8)
    ax.set_ylabel(y, color=MUTED)
    if named:
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
    ax.grid(axis=grid, color=GRID, lw=0.8)
    ax.set_axisbelow(True)


def new_axes() -> Axes:
    """Return the Axes of a new figure, which a notebook shows."""
    require("matplotlib", what="A picture", extra="report")
    from clearbands.plots.notebook import make_axes

    (axes,) = make_axes(1)
    return axes


def new_pair() -> tuple[Axes, Axes]:
    """Return two Axes of a new figure, beside each other, which a notebook shows."""
    require("matplotlib", what="A picture", extra="report")
    from clearbands.plots.notebook import AxesPair, make_axes

    return AxesPair(*make_axes(2))


def percent(share: float) -> str:
    """Write a share in percent, such as 92 % or 99.5 %."""
    return f"{100 * share:.3g} %"
