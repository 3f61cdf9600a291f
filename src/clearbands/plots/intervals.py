"""Pictures of intervals row by row: bands by rank or along a column, and what makes them wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.diagnostics.coverage import chance_range
from clearbands.plots.style import (
    ALEATORIC,
    ALEATORIC_LINE,
    DOTS,
    EPISTEMIC,
    INK,
    MUTED,
    OUTSIDE,
    label_axes,
    new_axes,
    percent,
)
from clearbands.prediction.glossary import ALEATORIC as NOISE
from clearbands.prediction.glossary import EPISTEMIC as IGNORANCE
from clearbands.rows.bands import covered, make_interval
from clearbands.rows.checks import check_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.prediction.uncertainty import Uncertainty


def band_by_rank(
    parts: Uncertainty, y: ArrayLike, *, n_calibration: int | None = None, ax: Axes | None = None
) -> Axes:
    """The rows ordered by center, each a bar from bound to bound, with the true values on top.

    Next to the center lies the aleatoric part, beyond it the epistemic one. `y` (n,) are the
    true values. The title has the coverage and the range in which it lies by chance in 19 of 20
    cases. The chance is that of these rows and, if their number is given, of `n_calibration`
    calibration rows.
    Without `ax`, the Axes are those of a new figure, `.figure`, which can be saved or shown. A
    notebook shows them by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty, plots
    >>> one = np.ones((3, 2))
    >>> ax = plots.band_by_rank(Uncertainty(np.arange(3.0), one, one / 2, 0.9), [0.5, 9.0, 2.0])
    >>> ax.get_title(loc="left")
    '90 % intervals hold 2 of 3 true values: 66.7 %, by chance 33.3 to 100.0 %'
    >>> ax.figure.savefig("bands.png")  # doctest: +SKIP
    """
    y = check_vector(y, "y", len(parts.center))
    inner, outer = _layers(parts)
    ax = new_axes() if ax is None else ax
    inside = covered(y, outer)
    order = np.argsort(parts.center, kind="stable")
    rank = np.empty(len(y))
    rank[order] = np.arange(1, len(y) + 1)

    for bounds, colour, part in ((outer, EPISTEMIC, IGNORANCE), (inner, ALEATORIC, NOISE)):
        height = bounds[:, 1] - bounds[:, 0]
        ax.bar(rank, height, 0.84, bounds[:, 0], color=colour, lw=0, label=part.label)
    ax.step(rank[order], parts.center[order], where="mid", color=INK, lw=1.4, label="Prediction")
    ax.scatter(rank[inside], y[inside], 22, color=INK, label="True value", **DOTS)
    ax.scatter(
        rank[~inside], y[~inside], 44, marker="D", color=OUTSIDE, label="True value outside", **DOTS
    )
    chance = chance_range(len(y), parts.confidence_level, n_calibration)
    title = (
        f"{percent(parts.confidence_level)} intervals hold {inside.sum()} of {len(y)} true values: "
        f"{100 * inside.mean():.1f} %, by chance {100 * chance.low:.1f} to "
        f"{100 * chance.high:.1f} %"
    )
    label_axes(ax, title, "Rows, ordered by prediction", "Target")
    ax.set_xticks([])  # ranks mean nothing by themselves
    ax.use_sticky_edges = False  # room below the lowest bar
    ax.margins(x=0.01, y=0.03)
    return ax


def band_along(
    feature: Any,
    parts: Uncertainty,
    *,
    points: tuple[Any, Any] | None = None,
    name: str = "Feature",
    ax: Axes | None = None,
) -> Axes:
    """Center and both layers along one feature: the paper's first figure.

    `feature` (n,) are its values in the rows of `parts`, best a grid on which nothing else
    varies. `points`, a pair (values of the feature, targets), are rows to be drawn on top.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty, plots
    >>> one = np.ones((3, 2))
    >>> parts = Uncertainty(np.arange(3.0), one, one / 2, 0.9)
    >>> plots.band_along([10, 20, 30], parts, name="age").get_xlabel()
    'age'
    """
    x = check_vector(feature, "feature", len(parts.center))
    inner, outer = _layers(parts)
    ax = new_axes() if ax is None else ax
    order = np.argsort(x, kind="stable")
    lower, upper = np.stack([outer[order], inner[order]]).transpose(2, 0, 1)
    ax.fill_between(x[order], *inner[order].T, color=ALEATORIC, lw=0, label=NOISE.label)
    ax.fill_between(x[order], *upper, color=EPISTEMIC, lw=0, label=IGNORANCE.label)
    ax.fill_between(x[order], *lower, color=EPISTEMIC, lw=0)
    ax.plot(x[order], parts.center[order], color=INK, lw=1.6, label="Prediction")
    if points is not None:
        at = check_vector(points[0], "points[0]")
        values = check_vector(points[1], "points[1]", len(at))
        ax.scatter(at, values, 14, color=INK, alpha=0.7, label="Rows", **DOTS)
    label_axes(ax, f"{percent(parts.confidence_level)} interval along {name}", name, "Target")
    ax.margins(x=0)
    return ax


def _layers(parts: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of the aleatoric part and those of both parts; raise if any is infinite."""
    outer = parts.interval
    if not np.isfinite(outer).all():
        raise ValueError("Some intervals are infinite and cannot be drawn; leave those rows out.")
    return make_interval(parts.center, parts.aleatoric), outer


MOST = 8  # ratios beyond 1:8 and 8:1 get the colours of the ends


def ratio_map(
    first: Any,
    second: Any,
    parts: Uncertainty,
    *,
    names: tuple[str, str] = ("First feature", "Second feature"),
    ax: Axes | None = None,
) -> Axes:
    """The rows in the plane of two features, coloured by epistemic over aleatoric width.

    Orange rows are those where more rows like them would help most. Blue rows are dominated by
    noise, which more rows do not reduce. The title counts the rows in which `Uncertainty.dominant`
    is ignorance.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty, plots
    >>> one = np.ones((2, 2))
    >>> parts = Uncertainty(np.zeros(2), one, one * [[3.0], [0.2]], 0.9)
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
    share = float(np.mean(parts.dominant == IGNORANCE.plain))
    label_axes(ax, f"Ignorance outweighs noise in {percent(round(share, 2))} of rows", *names)
    return ax
