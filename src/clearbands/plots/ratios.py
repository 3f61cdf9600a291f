"""Where in the data ignorance outweighs noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.plots.style import ALEATORIC_LINE, EPISTEMIC, MUTED, dress, new_axes, percent
from clearbands.rows.checks import check_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.prediction.uncertainty import Uncertainty

MOST = 8  # ratios beyond 1:8 and 8:1 take the colours of the ends


def ratio_map(
    first: Any,
    second: Any,
    parts: Uncertainty,
    *,
    names: tuple[str, str] = ("First feature", "Second feature"),
    ax: Axes | None = None,
) -> Axes:
    """The rows in the plane of two features, coloured by epistemic over aleatoric width.

    Orange: more rows like these would help most. Blue: noise, which more rows do not reduce.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty, plots
    >>> one = np.ones((2, 2))
    >>> parts = Uncertainty(np.zeros(2), one, one * [[3.0], [0.5]], 0.9)
    >>> plots.ratio_map([1, 2], [3, 4], parts).get_title(loc="left")
    'Ignorance outweighs noise in 50 % of rows'
    """
    first = check_vector(first, "first", len(parts.center))
    second = check_vector(second, "second", len(parts.center))
    ax = new_axes() if ax is None else ax
    from matplotlib.colors import LinearSegmentedColormap

    with np.errstate(divide="ignore"):
        ratio = np.clip(np.log2(parts.ratio), -np.log2(MOST), np.log2(MOST))
    order = np.argsort(np.abs(ratio), kind="stable")  # the clear cases on top
    dots = ax.scatter(
        first[order],
        second[order],
        26,
        c=ratio[order],
        cmap=LinearSegmentedColormap.from_list("ratio", [ALEATORIC_LINE, "#E8E4DC", EPISTEMIC]),
        vmin=-np.log2(MOST),
        vmax=np.log2(MOST),
        edgecolor=MUTED,
        linewidth=0.3,
    )
    figure: Any = ax.figure
    bar = figure.colorbar(dots, ax=ax, extend="both", label="Epistemic : aleatoric width")
    bar.set_ticks(
        [-3, -2, -1, 0, 1, 2, 3], labels=["1:8", "1:4", "1:2", "1:1", "2:1", "4:1", "8:1"]
    )
    bar.outline.set_visible(False)
    share = float(np.mean(parts.ratio > 1))
    dress(ax, f"Ignorance outweighs noise in {percent(round(share, 2))} of rows", *names)
    return ax
