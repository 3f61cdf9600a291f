"""Axes that show themselves at the end of a cell of a notebook.

A figure of pyplot would be kept until it is closed and could open a window; these belong to
nobody but the caller, and so no backend knows that they should be shown.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class ShownAxes(Axes):
    """Axes of matplotlib, `.figure` and all."""

    def _repr_png_(self) -> bytes:
        return picture_of(self.figure)


class AxesPair(NamedTuple):
    """Two Axes of one figure, shown once."""

    left: Axes
    right: Axes

    def _repr_png_(self) -> bytes:
        return picture_of(self.left.figure)


def draw_on(columns: int) -> list[Axes]:
    """The Axes of a new figure, from left to right."""
    figure = Figure(figsize=(9 if columns == 1 else 5.6 * columns, 5), layout="constrained")
    return [figure.add_subplot(1, columns, j + 1, axes_class=ShownAxes) for j in range(columns)]


def picture_of(figure: Any) -> bytes:
    """The figure as a PNG."""
    written = BytesIO()
    figure.savefig(written, format="png", dpi=100)
    return written.getvalue()
