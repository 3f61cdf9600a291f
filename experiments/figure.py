"""The paper's figures: dots relative to CLEAR, and a box plot over the data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments import summary

PANELS = (("quantile_loss", "Quantile loss"), ("nciw", "NCIW"))
COLORS = (  # one color for each of the default's fourteen peers
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#000000", "#8c564b", "#999999", "#bcbd22", "#7f3c8d", "#11a579"),
    *("#80ba5a", "#f97b72"),
)
CLIP = 5.0  # values of more than so many times CLEAR's are drawn at the edge as arrows


def draw_variant(rows: pd.DataFrame, variant: str, setting: str, path: Path) -> None:
    """Draw every rival, or every peer of the default, relative to CLEAR on every data set."""
    chosen = summary.select(rows, variant, setting)
    baseline = summary.BASELINES[setting]
    extra = ("UACQR-P", "UACQR-S") if setting == "conformalized" else ()
    there = sorted(set(chosen["method"]) - {baseline})
    names = [n for n in (*summary.RIVALS[setting], *extra) if n in there] or there
    groups = {name: chosen[chosen["method"] == name] for name in names}
    title = f"variant ({variant}), {setting}: relative to {baseline}"
    draw(groups, chosen[chosen["method"] == baseline], title, path)


def draw_comparison(rows: pd.DataFrame, path: Path, reference: str = "a") -> None:
    """Draw CLEAR of every variant relative to that of one variant."""
    clear = rows[
        (rows["method"] == "CLEAR") & (rows["setting"] == "standard") & (rows["error"] == "")
    ]
    others = [v for v in sorted(set(clear["variant"])) if v != reference]
    groups = {f"CLEAR ({v})": clear[clear["variant"] == v] for v in others}
    title = f"CLEAR: variants relative to ({reference})"
    draw(groups, clear[clear["variant"] == reference], title, path)


def relative(rows: pd.DataFrame, baseline: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return mean and deviation over seeds, relative to the mean of the baseline, by data set."""
    reference = baseline.groupby("dataset")[metric].mean()
    ratios = rows.set_index("dataset")[metric] / rows["dataset"].map(reference).to_numpy()
    with np.errstate(invalid="ignore"):
        return ratios.groupby("dataset").agg(["mean", "std"])


def draw(groups: dict[str, pd.DataFrame], baseline: pd.DataFrame, title: str, path: Path) -> None:
    plt = pyplot()
    names = sorted(set(baseline["dataset"]))
    figure, axes = plt.subplots(2, 1, figsize=(11, 8), sharex=True, layout="constrained")
    apart = min(0.18, 0.85 / len(groups))  # the dots of a data set stay nearer to it than others
    for axis, (metric, label) in zip(axes, PANELS, strict=True):
        increases = {}
        for k, (group, rows) in enumerate(groups.items()):
            values = relative(rows, baseline, metric).reindex(names)
            increases[group] = 100 * (values["mean"].to_numpy() - 1)
            place = np.arange(len(names)) + apart * (k - (len(groups) - 1) / 2)
            draw_dots(axis, place, values, COLORS[k % len(COLORS)], group)
        axis.hlines(1, -0.6, len(names) - 0.4, color="black", linewidth=0.8)
        axis.set_ylabel(f"{label}, relative")
        axis.set_ylim(bottom=max(axis.get_ylim()[0], 0.3), top=min(axis.get_ylim()[1], 1.05 * CLIP))
        axis.set_xlim(-0.6, 1.33 * len(names) - 0.4)  # room for the inset at the right
        axis.grid(axis="x", linewidth=0.3)
        draw_inset(axis, increases)
    axes[1].set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes[0].legend(loc="upper left", fontsize="small")
    figure.suptitle(title)
    save(figure, path)


def pyplot():
    """Return pyplot with the backend that draws into files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save(figure, path: Path, dpi: int = 150) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi, metadata={"Software": None} if path.suffix == ".png" else None)
    pyplot().close(figure)


def draw_dots(axis, place: np.ndarray, values: pd.DataFrame, color: str, label: str) -> None:
    mean = values["mean"].to_numpy()
    inside = mean <= CLIP
    axis.errorbar(
        place[inside],
        mean[inside],
        yerr=values["std"].fillna(0).to_numpy()[inside],
        fmt="o",
        markersize=4,
        elinewidth=0.8,
        color=color,
        label=label,
    )
    axis.plot(place[mean > CLIP], np.full(np.sum(mean > CLIP), CLIP), "^", color=color)


def draw_inset(axis, increases: dict[str, np.ndarray]) -> None:
    """Draw box plots of the percents over the data sets; the numbers are means of drawn dots."""
    inset = axis.inset_axes((0.81, 0.14, 0.18, 0.72))
    drawn = [values[values <= 100 * (CLIP - 1)] for values in increases.values()]
    boxes = inset.boxplot(
        drawn, showmeans=True, widths=0.6, patch_artist=True, flierprops={"markersize": 2}
    )
    for box, color in zip(boxes["boxes"], COLORS, strict=False):
        box.set(facecolor=color, alpha=0.4)
    means = [f"{np.mean(values):+.1f}" if len(values) else "" for values in drawn]
    upright = 90 if len(drawn) > 5 else 0
    inset.set_xticks(range(1, len(drawn) + 1), means, fontsize=7, rotation=upright)
    inset.axhline(0, color="black", linewidth=0.6)
    inset.tick_params(axis="y", labelsize=6)
    inset.set_title("increase, %, over the sets", fontsize=7)
