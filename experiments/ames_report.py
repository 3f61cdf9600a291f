"""The rows of the Ames case study beside the paper's two tables, and a picture of the ratios."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from experiments import figure
from experiments.ames import CALIBRATORS, SCENARIOS

PAPER = Path(__file__).parent / "paper"
SCORES = {
    "nciw": ("NCIW", "nciw", "{:.3f}"),
    "quantile_loss": ("quantile loss", "quantile_loss", "{:,.0f}"),
    "width": ("width, $", "average_width_usd", "{:,.0f}"),
    "coverage": ("coverage", "coverage", "{:.2f}"),
}
FACTORS = {
    "lambda": ("lambda", "lambda", "{:.3g}"),
    "gamma1": ("gamma1", "gamma1", "{:.2f}"),
    "ratio": ("epistemic / aleatoric", "epistemic_aleatoric_ratio", "{:.3g}"),
}


def scores(rows: pd.DataFrame) -> str:
    """Write a line for each scenario and method, with each score as ours / the paper's."""
    paper = pd.read_csv(PAPER / "ames.csv").set_index(["scenario", "method"])
    ours = rows.set_index(["scenario", "method"])
    keys = [(s, m) for s in SCENARIOS for m in CALIBRATORS if (s, m) in ours.index]
    return markdown(["scenario", "method"], SCORES, ours, paper, keys)


def factors(rows: pd.DataFrame) -> str:
    """Write the factors that CLEAR chose in each scenario, as ours / the paper's."""
    paper = pd.read_csv(PAPER / "ames_parameters.csv").set_index("scenario")
    ours = rows[rows["method"] == "CLEAR"].set_index("scenario")
    return markdown(["scenario"], FACTORS, ours, paper, [s for s in SCENARIOS if s in ours.index])


def markdown(
    labels: list[str],
    shown: dict[str, tuple[str, str, str]],
    ours: pd.DataFrame,
    paper: pd.DataFrame,
    keys: list,
) -> str:
    header = [*labels, *(f"{title}, ours / paper" for title, _, _ in shown.values())]
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(labels)}{'---:|' * len(shown)}"]
    for key in keys:
        cells = [key] if isinstance(key, str) else list(key)
        for column, (_, theirs, form) in shown.items():
            pair = (ours.loc[key, column], paper.loc[key, theirs])
            cells.append(" / ".join(form.format(value) for value in pair))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw_ratios(rows: pd.DataFrame, path: Path) -> None:
    """Draw epistemic over aleatoric width by scenario, ours and the paper's, on a log axis."""
    plt = figure.pyplot()
    paper = pd.read_csv(PAPER / "ames_parameters.csv").set_index("scenario")
    ours = rows[rows["method"] == "CLEAR"].set_index("scenario")["ratio"]
    names = [name for name in SCENARIOS if name in ours.index]
    found = {
        "this package": [ours[name] for name in names],
        "the paper": [paper.loc[name, "epistemic_aleatoric_ratio"] for name in names],
    }
    top = 3 * max(v for values in found.values() for v in values if math.isfinite(v))
    sheet, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for color, marker, (label, values) in zip(figure.COLORS, "os", found.items(), strict=False):
        height = [min(value, top) for value in values]
        axis.plot(height, marker=marker, color=color, linewidth=1.2, label=label)
        for place, value in enumerate(values):
            text = f"{value:.2g}" if value < 100 else f"{value:.0f}"
            axis.annotate(
                "no aleatoric part" if math.isinf(value) else text,
                (place, height[place]),
                xytext=(-4, 7),
                ha="right",
                textcoords="offset points",
                fontsize="small",
                color=color,
            )
    axis.axhline(1, color="black", linestyle="--", linewidth=0.8)
    axis.set_yscale("log")
    axis.set_ylabel("epistemic / aleatoric width")
    axis.set_xticks(range(len(names)), names)
    axis.margins(x=0.1, y=0.15)
    axis.legend(loc="upper left", fontsize="small")
    figure.save(sheet, path, dpi=110)
