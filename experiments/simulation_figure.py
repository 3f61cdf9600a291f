"""The paper's figures of the simulations: mean coverage and width over runs by distance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

from experiments import figure
from experiments.simulation_data import LEVEL, NOISES
from experiments.simulation_summary import means, title


def draw(rows: pd.DataFrame, case: str, path: Path) -> None:
    """Draw conditional coverage on the left; on the right, width beside that of true quantiles."""
    from matplotlib.ticker import LogLocator

    plt = figure.pyplot()
    sheet, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    panels = ((left, means(rows, "radius", "coverage")), (right, means(rows, "radius", "width")))
    for axis, values in panels:
        for color, method in zip(figure.COLORS, values, strict=False):
            axis.plot(values.index, values[method], color=color, label=method, linewidth=1.8)
        axis.set_xlabel("distance from the origin")
    left.axhline(LEVEL, color="black", linestyle="--", linewidth=0.8)
    left.set_ylim(top=1.01)
    left.set_ylabel("conditional coverage")
    distances = panels[1][1].index.to_numpy()
    right.plot(
        distances, true_width(case, distances), "--", color="black", linewidth=0.8, label="true"
    )
    right.set_yscale("log", subs=())
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.yaxis.set_major_formatter("{x:g}")
    right.set_ylabel("mean width")
    right.legend(fontsize="small")
    sheet.suptitle(title(case, rows), fontsize="medium")
    figure.save(sheet, path, dpi=100)


def true_width(case: str, distances: np.ndarray) -> np.ndarray:
    """Return the distance between the two true conditional quantiles."""
    sigma = NOISES["homo" if case == "multivariate" else case](distances)
    return 2 * ndtri((1 + LEVEL) / 2) * sigma
