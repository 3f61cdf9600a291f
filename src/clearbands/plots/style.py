"""What all pictures share: colours, the words around the marks, a figure to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart with any colour vision: blue from orange by hue, and in grey by lightness.
ALEATORIC = "#B5D7EF"
EPISTEMIC = "#DB8F00"
OUTSIDE = "#B3261E"
INK = "#1F2933"
MUTED = "#5B6670"
GRID = "#E3E6E8"
NOISE_LINE = "#2F7DB8"  # the aleatoric blue where a line must carry it

LINES = (INK, EPISTEMIC, NOISE_LINE, OUTSIDE, MUTED)
MARKERS = ("o", "s", "^", "D", "v")

DOTS: dict[str, Any] = {"zorder": 3, "edgecolor": "white", "linewidth": 0.6}


def dress(ax: Axes, title: str, x: str, y: str, *, grid: Literal["both", "x", "y"] = "y") -> None:
    """Words around the marks, and no more lines than they need."""
    named = bool(ax.get_legend_handles_labels()[0])
    ax.set_title(
        title, loc="left", fontsize=15, fontweight="bold", color=INK, pad=30 if named else 12
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


def new_axes(columns: int = 1) -> Any:
    """The Axes of a new figure, or a row of them."""
    try:
        # and not pyplot, which keeps figures and opens windows
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('Pictures need matplotlib: pip install "clearbands[report]".') from error
    figure = Figure(figsize=(9 if columns == 1 else 5.6 * columns, 5), layout="constrained")
    return figure.subplots(1, columns)


def percent(share: float) -> str:
    """92 %, 99.5 %."""
    return f"{100 * share:.3g} %"
