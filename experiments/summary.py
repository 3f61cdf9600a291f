"""The numbers that tables, figures and the comparison with the paper show, from result rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

BASELINES = {"standard": "CLEAR", "conformalized": "CLEAR-c"}
RIVALS = {
    "standard": (
        "PCS-EPISTEMIC",
        "ALEATORIC",
        "ALEATORIC-R",
        "DE",
        "SQR",
        "DE-conformal",
        "SQR-conformal",
    ),
    "conformalized": ("PCS-EPISTEMIC-c", "ALEATORIC-R-c"),
}
ORDER = (
    "CLEAR-c",
    "CLEAR",
    "ALEATORIC",
    "ALEATORIC-R",
    "ALEATORIC-R-c",
    "PCS-EPISTEMIC",
    "PCS-EPISTEMIC-c",
    "Naive",
    "gamma1=1",
    "lambda=1",
    "UACQR-P",
    "UACQR-S",
    "DE",
    "SQR",
    "DE-conformal",
    "SQR-conformal",
    "CLEAR-quantiles",
    "DE-quantiles",
    "DE-quantiles-conformal",
)
LEFT_OUT = {
    ("a", "quantile_loss", "PCS-EPISTEMIC"): "computer",
    ("a", "nciw", "ALEATORIC"): "energy_efficiency",
}
"""The data sets that the paper's averages leave out. Here averages are given with and without."""


def select(rows: pd.DataFrame, variant: str, setting: str) -> pd.DataFrame:
    """Return the rows of one variant and setting that have no error."""
    chosen = (rows["variant"] == variant) & (rows["setting"] == setting) & (rows["error"] == "")
    return rows[chosen]


def per_set(rows: pd.DataFrame, metric: str, how: str = "mean") -> pd.DataFrame:
    """Return a statistic over the seeds, by dataset (rows) and method (columns)."""
    values = rows.set_index(["dataset", "method", "seed"])[metric]
    there = set(rows["method"])
    order = [name for name in ORDER if name in there] + sorted(there - set(ORDER))
    with np.errstate(invalid="ignore"):  # infinite values have no spread
        table = values.groupby(["dataset", "method"]).agg(how).unstack("method")
    return table[order].sort_index()


def relative_increase(rows: pd.DataFrame, metric: str, setting: str) -> pd.DataFrame:
    """Return the percent by which each method's mean exceeds CLEAR's, by dataset and method."""
    means = per_set(rows, metric)
    baseline = BASELINES[setting]
    others = means.drop(columns=baseline)
    return 100 * (others.div(means[baseline], axis=0) - 1)


def average_increases(
    rows: pd.DataFrame, metric: str, setting: str
) -> list[tuple[str, float, str]]:
    """Return the method, the mean percent over data sets, and the words for these data sets.

    If the paper left a data set out, or a loss is infinite, there are means with and without it.
    """
    increases = relative_increase(rows, metric, setting)
    found = []
    for method in increases:
        values = increases[method].dropna()
        found.append((method, mean(values), f"all {len(values)} sets"))
        left_out = LEFT_OUT.get((rows["variant"].iloc[0], metric, method))
        if left_out in values.index:
            rest = values.drop(left_out)
            found.append((method, mean(rest), f"{len(rest)} sets, without {left_out} as the paper"))
        infinite = values[np.isinf(values)]
        if len(infinite):
            rest = values[np.isfinite(values)]
            found.append(
                (method, mean(rest), f"{len(rest)} sets, infinite on {', '.join(infinite.index)}")
            )
    return found


def mean(values: pd.Series) -> float:
    return float(values.mean()) if len(values) else float("nan")


def factors(rows: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Return the median, smallest and largest lambda and gamma1 of CLEAR over the seeds."""
    rows = rows[rows["method"] == BASELINES[setting]]
    table = rows.groupby("dataset")[["lambda", "gamma1"]].agg(["median", "min", "max"])
    table.columns = [f"{name}_{how}" for name, how in table.columns]
    return table


def runtime(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU seconds of the parts as means over the seeds; the last line is the sum."""
    seconds = per_set(rows, "fit_seconds")
    table = pd.DataFrame(
        {
            "pcs": seconds["PCS-EPISTEMIC"],
            "aleatoric_r": (seconds["ALEATORIC-R"] - seconds["PCS-EPISTEMIC"]).clip(lower=0),
            "calibration": (seconds["CLEAR"] - seconds["ALEATORIC-R"]).clip(lower=0),
            "total": seconds["CLEAR"],
        }
    )
    table.loc["Total"] = table.sum()
    return table


def improvement_over_uacqr(rows: pd.DataFrame) -> pd.DataFrame:
    """Return by how many percent CLEAR's mean is below UACQR's, on seeds with finite widths."""
    columns = {}
    for rival in ("UACQR-S", "UACQR-P"):
        for metric, name in (("nciw", "nciw"), ("interval_score", "aisl"), ("niw", "width")):
            wide = rows.pivot(index=["dataset", "seed"], columns="method", values=metric)
            finite = wide[np.isfinite(wide[rival])].groupby("dataset").mean()
            n_infinite = (~np.isfinite(wide[rival])).groupby("dataset").sum()
            gain = 100 * (1 - finite["CLEAR"] / finite[rival])
            columns[f"{rival} {name}"] = [
                f"{gain[d]:+.1f}" + (f" (infinite on {n} seeds)" if n else "")
                if d in gain
                else "infinite"
                for d, n in n_infinite.items()
            ]
            index = n_infinite.index
    return pd.DataFrame(columns, index=index)


def improvement_over_networks(means: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return by how many percent CLEAR is below its networks, averaged over the data sets.

    `means` holds by metric a table of datasets (rows) and methods (columns). The sign of coverage
    is reversed, because CLEAR is better if its coverage is above.
    """
    lines = {}
    for metric, table in means.items():
        gain = 100 * (1 - table[["CLEAR"]].to_numpy() / table.drop(columns="CLEAR"))
        lines[metric] = (-gain if metric == "picp" else gain).mean()
    return pd.DataFrame(lines).T


def against_variant_a(rows: pd.DataFrame) -> pd.DataFrame:
    """Return by how many percent CLEAR's loss exceeds variant (a)'s, on seeds that both have."""
    rows = rows[(rows["error"] == "") & (rows["setting"] == "standard")]
    losses = rows[rows["method"] == "CLEAR"].pivot_table(
        index=["dataset", "seed"], columns="variant", values="quantile_loss"
    )
    columns = {}
    for variant in losses.columns.drop("a"):
        means = losses[["a", variant]].dropna().groupby("dataset").mean()
        columns[variant] = 100 * (means[variant] / means["a"] - 1)
    return pd.DataFrame(columns)


def mean_coverage(rows: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Return the coverage by variant and method: means over data sets of the means over seeds."""
    rows = rows[(rows["error"] == "") & (rows["setting"] == setting)]
    by_set = rows.groupby(["variant", "method", "dataset"])["picp"].mean()
    return by_set.groupby(["variant", "method"]).mean().unstack()


def seeds_per_set(rows: pd.DataFrame) -> pd.Series:
    return rows.groupby("dataset")["seed"].nunique()
