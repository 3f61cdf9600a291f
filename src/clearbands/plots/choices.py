"""Pictures of the chosen lambda, of the models that competed, and of the gain from more rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.plots.style import (
    ALEATORIC,
    ALEATORIC_LINE,
    EPISTEMIC,
    GRID,
    INK,
    MUTED,
    label_axes,
    new_axes,
    percent,
)
from clearbands.prediction.glossary import ALEATORIC as NOISE
from clearbands.prediction.glossary import EPISTEMIC as IGNORANCE
from clearbands.rows.checks import check_count
from clearbands.rows.display import change, level
from clearbands.selection.leaderboard import board_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.calibration.lambda_path import LambdaPath
    from clearbands.prediction.forecast import Forecast
    from clearbands.selection.centers import CenterScore
    from clearbands.selection.judging import LeaderboardRow


def lambda_path(path: LambdaPath, *, ax: Axes | None = None) -> Axes:
    """The quantile loss over all lambda from 0 to infinity, with the chosen and the fixed ones.

    The axis is the epistemic share of the mean width, so that infinity has a place on it.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import lambda_path, plots
    >>> y, one = np.arange(1.0, 9.0), np.ones((8, 2))
    >>> path = lambda_path(y, np.zeros(8), one, one * y[:, None], 0.5, lambda_=1.0)
    >>> plots.lambda_path(path).get_ylabel()
    'Quantile loss'
    """
    ax = new_axes() if ax is None else ax
    drawn = np.isfinite(path.losses)
    if not drawn.any():
        raise ValueError("No lambda gives a finite loss; there is nothing to draw.")
    ax.plot(path.shares[drawn], path.losses[drawn], color=INK, lw=1.6)
    look: dict[str, Any] = {"zorder": 3, "ls": "", "mec": "white", "ms": 9}
    fixed = [("λ = 1", path.ratio_one, "s", ALEATORIC_LINE)]
    if path.gamma_one is not None:
        fixed.append(("γ₁ = 1", path.gamma_one, "^", EPISTEMIC))
    for label, point, marker, colour in fixed:
        if math.isfinite(point.loss):
            off = change(point.loss / path.chosen.loss - 1 if path.chosen.loss else 0.0)
            words = f"{label} ({off})"
            ax.plot(point.share, point.loss, marker, color=colour, label=words, **look)
    chosen = path.chosen
    ax.plot(chosen.share, chosen.loss, "o", color=INK, label=f"λ = {chosen.lambda_:.3g}", **look)
    title = f"The chosen λ makes {percent(round(chosen.share, 2))} of the mean width epistemic"
    label_axes(ax, title, "λ, by the epistemic share of the mean width", "Quantile loss")
    ax.set_xticks(*zip(*path.ticks(), strict=True))
    ax.set_xlim(-0.02, 1.02)
    return ax


def model_comparison(
    leaderboard: Sequence[LeaderboardRow | CenterScore | Mapping[str, Any]],
    *,
    most: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """The best `most` of the models that competed, the best on top.

    `leaderboard` is `ClearRegressor.leaderboard_` (pairs of a prediction and its noise),
    `ClearRegressor.centers_` or `PCSEnsemble.leaderboard_`. All numbers come from rows that the
    judged models did not see.

    Examples
    --------
    >>> from clearbands import plots
    >>> gam = dict(model="gam", preprocessing="", rmse=1.0, r2=0.9, selected=True)
    >>> plots.model_comparison([gam]).get_title(loc="left")
    'Best: gam'
    """
    board = board_of(leaderboard)
    check_count(most, "most")
    entries = board.entries[:most]
    ax = new_axes() if ax is None else ax
    places = np.arange(len(entries))[::-1]
    values = np.array([entry.value for entry in entries])
    selected = np.array([entry.selected for entry in entries])
    ax.hlines(places, 0, values, color=GRID, lw=3, zorder=2)
    for of, colour, label in ((selected, INK, "Kept"), (~selected, MUTED, "Not selected")):
        if of.any():
            ax.scatter(values[of], places[of], 80, color=colour, label=label, zorder=3)
    for place, entry in zip(places, entries, strict=True):
        second = "" if entry.also is None else f"  {board.also} {entry.also:.3g}"
        ax.annotate(
            f"{entry.value:.4g}{second}", (entry.value, place), (9, 0),
            textcoords="offset points", va="center", color=INK, fontsize=9,
        )  # fmt: skip
    label_axes(ax, f"Best: {entries[0].name}", f"{board.value} on unseen rows", "", grid="x")
    ax.set_yticks(places, [entry.name for entry in entries], color=INK)
    ax.set_xlim(0, 1.35 * values.max() or 1.0)
    ax.set_ylim(-0.7, len(entries) - 0.3)
    return ax


def forecast(outlook: Forecast, *, ax: Axes | None = None) -> Axes:
    """The mean width for growing numbers of rows, with its range, above the noise that remains.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import plots
    >>> from clearbands.prediction.forecast import Forecast
    >>> factors = np.array([[1, 1, 1], [0.8, 0.7, 0.9], [0.5, 0.2, 0.7]])
    >>> known = Forecast(np.array([100, 1000, np.inf]), factors, 20.0, 6.0, 0.8, 0.9)
    >>> plots.forecast(known).get_xlabel()
    'Rows'
    """
    ax = new_axes() if ax is None else ax
    middle, low, high = outlook.width * outlook.factors.T
    rows, noise = outlook.rows[:-1], middle[-1]
    ax.fill_between(rows, 0, noise, color=ALEATORIC, lw=0, label=NOISE.label)
    ax.fill_between(rows, noise, middle[:-1], color=EPISTEMIC, lw=0, label=IGNORANCE.label)
    errors = np.stack([middle - low, high - middle])[:, :-1]
    ax.errorbar(rows, middle[:-1], errors, color=INK, lw=1.6, capsize=4, label="80 % range")
    ax.set_xscale("log")
    ax.set_ylim(0)
    label_axes(
        ax, "What more rows would buy", "Rows", f"Mean width at {level(outlook.confidence_level)}"
    )
    ax.set_xticks(rows, [f"{each:,.0f}" for each in rows])
    ax.minorticks_off()
    return ax
