"""Which features drive noise, and which ignorance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clearbands.plots.style import ALEATORIC, EPISTEMIC, dress, new_axes
from clearbands.prediction import glossary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.diagnostics.importance import Importance


def importance(found: Sequence[Importance], *, most: int = 8, ax: Axes | None = None) -> Axes:
    """What shuffling each feature does to the two parts of the width, the largest on top.

    `found` comes from `clearbands.diagnostics.feature_importance`. A long blue bar: the noise
    depends on this feature. A long orange one: what the model does not know depends on it.

    Examples
    --------
    >>> from clearbands import plots
    >>> from clearbands.diagnostics import Importance
    >>> found = [Importance("age", 0.5, 0.1, 80, aleatoric=0.1, epistemic=0.02),
    ...          Importance("size", 0.4, 0.2, 80, aleatoric=0.05, epistemic=0.2)]
    >>> plots.importance(found).get_title(loc="left")
    'size drives the width most'
    """
    if not found:
        raise ValueError("found is empty: there is no feature to draw.")
    shown = sorted(found, key=lambda each: each.width)[-most:]
    ax = new_axes() if ax is None else ax
    for part, colour, shift in (
        (glossary.ALEATORIC, ALEATORIC, 0.2),
        (glossary.EPISTEMIC, EPISTEMIC, -0.2),
    ):
        changes = [100 * getattr(each, part.name) for each in shown]
        places = [row + shift for row in range(len(shown))]
        ax.barh(places, changes, height=0.38, color=colour, label=part.label)
    ax.set_yticks(range(len(shown)), labels=[each.name for each in shown])
    words = "Mean change when shuffled, % of the mean width"
    dress(ax, f"{shown[-1].name} drives the width most", words, "", grid="x")
    return ax
