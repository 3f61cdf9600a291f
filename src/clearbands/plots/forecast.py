"""What more rows would do to the intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clearbands.plots.style import ALEATORIC, EPISTEMIC, INK, dress, new_axes
from clearbands.prediction.glossary import ALEATORIC as NOISE
from clearbands.prediction.glossary import EPISTEMIC as IGNORANCE
from clearbands.rows.display import level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.prediction.forecast import Forecast


def forecast(found: Forecast, *, ax: Axes | None = None) -> Axes:
    """The mean width over the number of rows, with its range, above the noise that stays.

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
    middle, low, high = found.width * found.factors.T
    rows, noise = found.rows[:-1], middle[-1]
    ax.fill_between(rows, 0, noise, color=ALEATORIC, lw=0, label=NOISE.label)
    ax.fill_between(rows, noise, middle[:-1], color=EPISTEMIC, lw=0, label=IGNORANCE.label)
    errors = np.stack([middle - low, high - middle])[:, :-1]
    ax.errorbar(rows, middle[:-1], errors, color=INK, lw=1.6, capsize=4, label="80 % range")
    ax.set_xscale("log")
    ax.set_ylim(0)
    dress(ax, "What more rows would buy", "Rows", f"Mean width at {level(found.confidence_level)}")
    ax.set_xticks(rows, [f"{each:,.0f}" for each in rows])
    ax.minorticks_off()
    return ax
