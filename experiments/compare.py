"""Our rows against the paper's printed tables and, where published, its values per seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import protocol, published, summary

PRINTED = Path(__file__).parent / "paper" / "tables.csv"
NAMES = {
    "quantileloss": "quantile_loss",
    "nciw": "nciw",
    "picp": "picp",
    "niw": "niw",
    "intervalscoreloss": "interval_score",
}
KEY = ["metric", "dataset", "method"]
OUTLIER = 10.0  # percent

REASONS = {
    ("computer", "PCS-EPISTEMIC", "nciw"): "the paper counts a point off a side of zero width as "
    "covered, we do not",
    ("computer", "PCS-EPISTEMIC", None): "members agree to the last digit on many rows, so that a "
    "few huge factors decide",
    (None, "gamma1=1", None): "the paper's lambda may be negative, ours is at least 0",
    (None, "UACQR-P", None): "order statistics of few members; infinite on some seeds",
}
"""By dataset, method and metric; None is any."""


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per cell that both have: ours, paper's, percent, and which seeds both saw.

    In the standard setting the paper's values per seed are exact, and only seeds that we have too
    are averaged; elsewhere there is only the printed mean of ten seeds.
    """
    rows = rows[rows["error"] == ""].rename(columns={v: k for k, v in NAMES.items()})
    ours = rows.melt(
        ["variant", "setting", "dataset", "method", "seed"],
        list(NAMES),
        var_name="metric",
        value_name="ours",
    )
    key = ["setting", "variant", *KEY]
    exact = with_exact_values(ours)
    pairs = exact.groupby(key)[["ours", "paper"]].mean()
    pairs["seeds"] = exact.groupby(key)["seed"].nunique()
    table = printed().set_index(key)["mean"].rename("paper")
    means = ours.groupby(key)["ours"].agg(["mean", "count"])
    means = means.rename(columns={"mean": "ours", "count": "seeds"}).join(table, how="inner")
    found = pd.concat([pairs, means[~means.index.isin(pairs.index)]])
    with np.errstate(invalid="ignore", divide="ignore"):
        found["percent"] = 100 * (found["ours"] / found["paper"] - 1)
    return found.dropna(subset=["paper"]).reset_index()


def printed() -> pd.DataFrame:
    """The paper's tables by our names of settings and variants; some lines are printed twice."""
    table = pd.read_csv(PRINTED).dropna(subset=["dataset"])
    names = {"setting": {"de_sqr": "standard"}, "variant": {"de_sqr": "deep"}}
    return table.replace(names).drop_duplicates(["setting", "variant", *KEY])


def printed_means(variant: str, setting: str) -> dict[str, pd.DataFrame]:
    """By our names of metrics, tables of datasets (rows) and methods (columns)."""
    table = printed()
    table = table[(table["variant"] == variant) & (table["setting"] == setting)]
    return {
        NAMES[metric]: part.pivot(index="dataset", columns="method", values="mean")
        for metric, part in table.groupby("metric")
    }


def with_exact_values(ours: pd.DataFrame) -> pd.DataFrame:
    """Our standard rows beside the paper's of the same seed."""
    theirs = pd.read_parquet(published.PER_SEED).rename(columns={"value": "paper"})
    theirs["seed"] = theirs["seed_index"] + protocol.FIRST_SEED
    standard = ours[ours["setting"] == "standard"]
    return standard.merge(
        theirs.drop(columns="seed_index"), on=["variant", "dataset", "method", "metric", "seed"]
    )


def report(rows: pd.DataFrame) -> Iterator[str]:
    """Markdown: per table the differences by dataset and method, a summary line, the outliers."""
    found = differences(rows)
    if found.empty:
        yield "No row of ours has a counterpart in the paper."
        return
    found["place"] = found["metric"].map(list(NAMES).index)
    found = found.sort_values(["setting", "variant", "place"], ascending=[False, True, True])
    groups = found.groupby(["setting", "variant", "metric"], sort=False)
    for (setting, variant, metric), part in groups:
        exact = setting == "standard" and variant != "deep"
        source = "values per seed" if exact else "printed table"
        yield f"### {metric}, variant ({variant}), {setting}: ours over the paper's {source}, %\n"
        yield as_markdown(part)
        yield ""
        yield summary_line(part)
        yield from outliers(part)
        yield ""
    yield "### Does the paper's order hold?\n"
    yield from order(rows)


def as_markdown(part: pd.DataFrame) -> str:
    wide = part.pivot(index="dataset", columns="method", values="percent")
    methods = [name for name in summary.ORDER if name in wide]
    seeds = part.groupby("dataset")["seeds"].min()
    lines = [f"| dataset | seeds | {' | '.join(methods)} |", f"|---|---:|{'---:|' * len(methods)}"]
    for dataset, values in wide[methods].iterrows():
        cells = ["" if pd.isna(v) else f"{v:+.1f}" for v in values]
        lines.append(f"| {dataset} | {seeds[dataset]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def summary_line(part: pd.DataFrame) -> str:
    """Mean absolute and mean signed difference over the sets, CLEAR first."""
    texts = []
    for method in [name for name in summary.ORDER if name in set(part["method"])]:
        percent = part.loc[part["method"] == method, "percent"]
        finite = percent[np.isfinite(percent)]
        texts.append(f"{method} {finite.abs().mean():.1f} ({finite.mean():+.1f})")
    n = part["dataset"].nunique()
    return f"Mean absolute (signed) difference over {n} sets, %: {', '.join(texts)}."


def outliers(part: pd.DataFrame) -> Iterator[str]:
    """The cells that are far off, with the reason where it is known."""
    far = part[~(part["percent"].abs() <= OUTLIER)]
    for line in far.itertuples():
        reason = known_reason(line.dataset, line.method, line.metric)
        said = f": {reason}" if reason else ""
        yield (
            f"- {line.dataset}, {line.method}: {line.ours:.4g} against {line.paper:.4g} "
            f"({line.percent:+.0f} %){said}"
        )


def known_reason(dataset: str, method: str, metric: str) -> str:
    for (d, m, q), reason in REASONS.items():
        if d in (None, dataset) and m in (None, method) and q in (None, metric):
            return reason
    return ""


def order(rows: pd.DataFrame) -> Iterator[str]:
    """Whether CLEAR is below its parts on average over the sets, in both measures."""
    for setting, rivals in summary.RIVALS.items():
        for variant in sorted(set(rows["variant"])):
            chosen = summary.select(rows, variant, setting)
            if chosen.empty:
                continue
            for metric in ("quantile_loss", "nciw"):
                for method, percent, which in summary.average_increases(chosen, metric, setting):
                    if method in rivals:
                        verdict = "holds" if percent > 0 else "DOES NOT HOLD"
                        yield (
                            f"- variant ({variant}), {setting}, {metric}: {method} "
                            f"{percent:+.1f} % against CLEAR over {which}: {verdict}"
                        )
