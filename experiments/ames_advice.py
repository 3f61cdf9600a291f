"""A test of the advice by ignorance and noise: the plain ClearRegressor on the Ames data.

Where ignorance dominates, more rows should help; where noise does, more features should. Every
combination of few and many rows and features is fitted, which shows what each step gains.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from clearbands import ClearRegressor, metrics
from experiments import ames_data, results
from experiments.ames import LEVEL, SCENARIOS, Scenario

TWO = SCENARIOS["2 features"].features
GROUPS = (
    ("neighborhood", "year_built"),
    ("total_bsmt_sf", "garage_cars", "lot_area", "full_bath"),
    ("kitchen_qual", "overall_cond"),
)
FEATURES = {
    "2 features": TWO,
    "and place, age": (*TWO, *GROUPS[0]),
    "and sizes": (*TWO, *GROUPS[0], *GROUPS[1]),
    "and quality": (*TWO, *GROUPS[0], *GROUPS[1], *GROUPS[2]),
    "all features": None,
}
"""The sets of features, each with one more group of columns than the one before."""

SEEDS = {0.2: (0, 1, 2), 1.0: (0,)}
"""The seeds for each share of the training rows; fewer rows are other rows with each seed."""

KEY = ["features", "share", "seed"]
COLUMNS = [*KEY, "aleatoric", "epistemic", "low", "high", "quantile_loss", "coverage"]
ROWS = results.Schema("advice", results.FOLDER / "ames_advice.csv", KEY, COLUMNS, packed=COLUMNS)


def run(path: Path, *, n_jobs: int = 1) -> None:
    """Compute the rows that are missing, and append them to the file."""
    results.prepare(path, ROWS)
    done = results.known(path, schema=ROWS)
    keys = ((*key, seed) for key in product(FEATURES, SEEDS) for seed in SEEDS[key[1]])
    todo = [key for key in keys if key not in done]
    print(f"{len(todo)} fits to go.")
    houses = ames_data.load() if todo else None
    tasks = (joblib.delayed(run_one)(houses, *key) for key in todo)
    for row in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks):
        results.append(path, row, schema=ROWS)


def run_one(houses: ames_data.Houses, features: str, share: float, seed: int) -> dict[str, Any]:
    """Return the mean calibrated parts of the test houses' intervals, in dollars, and scores."""
    train = Scenario(FEATURES[features], share).training_rows(houses.train, seed)
    known = tuple(train.X.columns[train.X.notna().any()])  # for example, no house may have a pool
    train, held_out, test = (
        Scenario(known).columns(rows) for rows in (train, houses.validation, houses.test)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the drawn rows may lack some categories
        model = ClearRegressor(confidence_level=LEVEL, random_state=seed)
        model.fit(train.X, train.y, X_cal=held_out.X, y_cal=held_out.y)
        parts = model.predict_uncertainty(test.X)
    return {
        "features": features,
        "share": share,
        "seed": seed,
        "aleatoric": float(parts.aleatoric.sum(axis=1).mean()),
        "epistemic": float(parts.epistemic.sum(axis=1).mean()),
        "low": parts.share_low,
        "high": parts.share_high,
        "quantile_loss": metrics.quantile_loss(test.y, parts.interval, LEVEL),
        "coverage": metrics.picp(test.y, parts.interval),
    }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means over the seeds, ordered by the number of features and then of rows."""
    names = ["aleatoric", "epistemic", "low", "high", "quantile_loss", "coverage"]
    ignorance = rows["epistemic"] / (rows["aleatoric"] + rows["epistemic"])
    groups = rows.assign(ignorance=ignorance).groupby(["features", "share"])
    means = groups[[*names, "ignorance"]].mean()
    return means.reindex([key for key in product(FEATURES, SEEDS) if key in means.index])


def table(rows: pd.DataFrame) -> str:
    """Write a Markdown table with a line for each combination."""
    header = (
        "features | rows | noise, $ | ignorance, $ | share of ignorance (range) "
        "| quantile loss | coverage"
    )
    lines = [f"| {header} |", f"|---|{6 * '---:|'}"]
    for (features, share), row in summary(rows).iterrows():
        lines.append(
            f"| {features} | {count(share)} | {row['aleatoric']:,.0f} | {row['epistemic']:,.0f} "
            f"| {row['ignorance']:.2f} ({row['low']:.2f} to {row['high']:.2f}) "
            f"| {row['quantile_loss']:,.0f} | {row['coverage']:.2f} |"
        )
    return "\n".join(lines)


def count(share: float) -> str:
    return f"{round(share * ames_data.SIZES['train']):,}"


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Draw a bar for each combination: noise, ignorance on top of it, and its share above."""
    from clearbands.plots import style
    from experiments import figure

    means = summary(rows)
    sheet, axes = figure.pyplot().subplots(
        1, len(FEATURES), figsize=(11, 4.2), sharey=True, layout="constrained"
    )
    for axis, features in zip(axes, FEATURES, strict=True):
        here = means.loc[features]
        noise, ignorance = here["aleatoric"] / 1000, here["epistemic"] / 1000
        labels = [count(share) for share in here.index]
        axis.bar(labels, noise, 0.6, color=style.ALEATORIC, label="Noise")
        axis.bar(labels, ignorance, 0.6, noise, color=style.EPISTEMIC, label="Ignorance")
        for place, (_, row) in enumerate(here.iterrows()):
            axis.annotate(
                f"{row['ignorance']:.2f}",
                (place, (row["aleatoric"] + row["epistemic"]) / 1000),
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                color=style.INK,
            )
        axis.set_title(features, loc="left", fontweight="bold", color=style.INK)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(colors=style.MUTED, length=0)
        axis.grid(axis="y", color=style.GRID, lw=0.8)
        axis.set_axisbelow(True)
        axis.margins(y=0.12)
    words = "training rows; above the bars the share of ignorance"
    axes[len(axes) // 2].set_xlabel(words, color=style.MUTED)
    axes[0].set_ylabel("mean width of 90 % intervals, thousand dollars", color=style.MUTED)
    axes[-1].legend(frameon=False, fontsize=9, loc="upper right", labelcolor=style.INK)
    figure.save(sheet, path, dpi=110)
