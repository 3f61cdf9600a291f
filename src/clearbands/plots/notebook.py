"""Axes that a notebook shows at the end of a cell.

A figure of pyplot would be kept until it is closed, and could open a window. These figures belong
to the caller alone, so no backend knows that they should be shown.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class NotebookAxes(Axes):
    """Axes of matplotlib that a notebook shows."""

    def _repr_png_(self) -> bytes:
        return figure_as_png(self.figure)


class AxesPair(NamedTuple):
    """Two Axes of one figure, which is shown once."""

    left: Axes
    right: Axes

    def _repr_png_(self) -> bytes:
        return figure_as_png(self.left.figure)


def make_axes(columns: int) -> list[Axes]:
    """Return the Axes of a new figure, from left to right."""
    figure = Figure(figsize=(9 if columns == 1 else 5.6 * columns, 5), layout="constrained")
    return [figure.add_subplot(1, columns, j + 1, axes_class=NotebookAxes) for j in range(columns)]


def figure_as_png(figure: Any) -> bytes:
    """Return the figure as a PNG."""
    written = BytesIO()
    figure.savefig(written, format="png", dpi=100)
    return written.getvalue()
