"""Figures over seeds: the distance of every run to the paper's, and the methods' mean ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import studentized_range

from experiments import compare, summary
from experiments.figure import COLORS, pyplot, save

RANKED = ("CLEAR", "lambda=1", "gamma1=1", "ALEATORIC-R", "ALEATORIC", "PCS-EPISTEMIC", "Naive")
EDGE = 15.0  # differences of more percent are drawn at this edge as arrows


def draw_agreement(rows: pd.DataFrame, variants: tuple[str, ...], path: Path) -> None:
    """Draw a dot for each run: CLEAR's quantile loss over the paper's of the same run."""
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(11, 4.5), layout="constrained")
    names = sorted(set(rows["dataset"]))
    for k, variant in enumerate(variants):
        percent = per_run(rows, variant)
        place = percent.index.map(names.index).to_numpy() + 0.22 * (k - (len(variants) - 1) / 2)
        inside = np.abs(percent.to_numpy()) <= EDGE
        axis.plot(place[inside], percent[inside], "o", ms=3, alpha=0.6, color=COLORS[k])
        for sign, marker in ((1, "^"), (-1, "v")):
            beyond = ~inside & (np.sign(percent.to_numpy()) == sign)
            axis.plot(place[beyond], np.full(beyond.sum(), sign * EDGE), marker, color=COLORS[k])
        means = percent.groupby(level=0).mean()
        middle = means.index.map(names.index) + 0.22 * (k - (len(variants) - 1) / 2)
        axis.hlines(means, middle - 0.09, middle + 0.09, color=COLORS[k], label=f"({variant})")
    axis.axhline(0, color="black", linewidth=0.6)
    axis.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axis.set_ylabel("quantile loss over the paper's, %")
    axis.set_title("CLEAR, run by run: dots are seeds, lines their means")
    axis.legend(ncols=len(variants), fontsize="small")
    save(figure, path)


def per_run(rows: pd.DataFrame, variant: str) -> pd.Series:
    """Return the differences in percent by data set, with a value for each seed."""
    ours = summary.select(rows, variant, "standard")
    pairs = ours[ours["method"] == "CLEAR"].merge(
        compare.paper_rows(variant), on=["dataset", "method", "seed"], suffixes=("", "_paper")
    )
    ratio = pairs["quantile_loss"] / pairs["quantile_loss_paper"]
    return 100 * (ratio - 1).set_axis(pairs["dataset"])


def draw_ranks(rows: pd.DataFrame, variants: tuple[str, ...], path: Path) -> None:
    """Draw a critical-difference diagram of each variant; bars join methods that do not differ."""
    plt = pyplot()
    figure, axes = plt.subplots(
        len(variants), 1, figsize=(9, 2.1 * len(variants)), layout="constrained", squeeze=False
    )
    for axis, variant in zip(axes[:, 0], variants, strict=True):
        ranks, least = mean_ranks(summary.select(rows, variant, "standard"))
        draw_diagram(axis, ranks, least)
        title = (
            f"variant ({variant}): mean rank of the quantile loss; a bar spans at most {least:.1f}"
        )
        axis.set_title(title, fontsize=9)
    save(figure, path)


def mean_ranks(rows: pd.DataFrame, level: float = 0.05) -> tuple[pd.Series, float]:
    """Return mean ranks over the data sets, and the critical difference of Nemenyi's test."""
    losses = summary.per_set(rows, "quantile_loss")
    losses = losses[[name for name in RANKED if name in losses]]
    ranks = losses.rank(axis=1).mean().sort_values()
    n_methods, n_sets = losses.shape[1], len(losses)
    quantile = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return ranks, float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def groups(ranks: pd.Series, least: float) -> list[tuple[float, float]]:
    """Return the ends of the longest runs of ranks that lie within the least difference."""
    values = ranks.to_numpy()
    last = np.searchsorted(values, values + least, side="right") - 1
    longest = [(i, j) for i, j in enumerate(last) if j > i and (i == 0 or last[i - 1] < j)]
    return [(values[i], values[j]) for i, j in longest]


def draw_diagram(axis, ranks: pd.Series, least: float) -> None:
    axis.set(xlim=(0.7, len(ranks) + 0.3), ylim=(-len(ranks) * 0.5 - 0.6, 1.2), yticks=[])
    axis.spines[["left", "right", "bottom"]].set_visible(False)
    axis.xaxis.tick_top()
    half = (len(ranks) + 1) // 2
    for i, (name, rank) in enumerate(ranks.items()):
        is_left = i < half
        level = -0.9 - (i if is_left else len(ranks) - 1 - i)
        edge = 0.75 if is_left else len(ranks) + 0.25
        axis.plot([rank, rank, edge], [1.2, level, level], color="black", linewidth=0.8)
        text = f"{name} {rank:.1f}"
        axis.text(edge, level + 0.1, text, ha="left" if is_left else "right", fontsize=7)
    for k, (start, stop) in enumerate(groups(ranks, least)):
        height = 0.75 - 0.45 * k
        axis.plot([start - 0.04, stop + 0.04], [height, height], color=COLORS[0], linewidth=3)


def draw_time(rows: pd.DataFrame, path: Path) -> None:
    """Draw loss against CPU time with a dot for each method, over the splits that all have."""
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(10, 5.5), layout="constrained")
    points = loss_and_time(rows)
    for k, (name, (percent, seconds)) in enumerate(points.iterrows()):
        is_peer = not name.startswith(("default", "("))
        axis.plot(seconds, percent, "o", color=COLORS[1] if is_peer else COLORS[0])
        axis.annotate(
            name,
            (seconds, percent),
            xytext=(5, -9 if k % 2 else 3),
            textcoords="offset points",
            size=7,
        )
    axis.set_xscale("log")
    axis.margins(x=0.15)
    axis.set_xlabel("CPU seconds of one split, geometric mean over the sets")
    axis.set_ylabel("quantile loss over the default's, %")
    axis.set_title("Loss against time: the paper's variants, the default and its peers")
    save(figure, path)


def loss_and_time(rows: pd.DataFrame) -> pd.DataFrame:
    """Return by method the quantile loss over the default's, in percent, and CPU seconds."""
    rows = rows.query("setting == 'standard'")
    is_peer = (rows["variant"] == "default") & (rows["method"] != "CLEAR")
    rows = rows[is_peer | (rows["method"] == "CLEAR")]
    variant = rows["variant"].map(lambda name: name if name == "default" else f"({name})")
    rows = rows.assign(name=rows["method"].where(is_peer, variant))
    cells = rows.pivot(index=["dataset", "seed"], columns="name")[["quantile_loss", "fit_seconds"]]
    by_set = np.log(cells.dropna()).groupby("dataset").mean().mean()
    loss = by_set["quantile_loss"]
    percent = 100 * (np.exp(loss - loss["default"]) - 1)
    seconds = np.exp(by_set["fit_seconds"])
    return pd.DataFrame({"percent": percent, "seconds": seconds}).sort_values("percent")
