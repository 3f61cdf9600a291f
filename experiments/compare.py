"""Our rows against the paper's printed tables and, if they are published, its values per seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments import causes, protocol, published, summary

PRINTED = Path(__file__).parent / "paper" / "tables.csv"
NAMES = {
    "quantileloss": "quantile_loss",
    "nciw": "nciw",
    "picp": "picp",
    "niw": "niw",
    "intervalscoreloss": "interval_score",
}
KEY = ["metric", "dataset", "method"]
FAR = 5.0  # a larger difference, in percent, needs a cause
DRAWS = 2.0  # a difference of so many standard errors may come from the draws of bootstraps


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Return for each common cell our value, the paper's, the percent, the seeds and the chance.

    In the standard setting the paper's values per seed are exact, and only seeds that both have
    are averaged. Elsewhere there is only the printed mean of ten seeds. `chance` is the difference
    in percent that draws alone may cause: `chance_of_draws`, or the sum of `chance_of_print` and
    `chance_of_same_fits`.
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
    with np.errstate(invalid="ignore"):  # infinite values have no spread
        spread = (exact["ours"] - exact["paper"]).groupby([exact[name] for name in key]).std()
    pairs["chance"] = chance_of_draws(pairs, spread)
    table = printed().set_index(key).rename(columns={"mean": "paper"})
    means = ours.groupby(key)["ours"].agg(["mean", "count"])
    means = means.rename(columns={"mean": "ours", "count": "seeds"}).join(table, how="inner")
    means["chance"] = chance_of_print(means) + chance_of_same_fits(means, pairs)
    means = means[~means.index.isin(pairs.index)][pairs.columns]
    found = pd.concat([pairs, means])
    with np.errstate(invalid="ignore", divide="ignore"):
        found["percent"] = 100 * (found["ours"] / found["paper"] - 1)
    return found.dropna(subset=["paper"]).reset_index()


def chance_of_draws(pairs: pd.DataFrame, spread: pd.Series) -> pd.Series:
    """Return two standard errors of the mean difference over seeds, in percent of the paper's mean.

    With fewer than three seeds it is 0.
    """
    error = spread / np.sqrt(pairs["seeds"])
    return (100 * DRAWS * error / pairs["paper"].abs()).where(pairs["seeds"] >= 3, 0.0).fillna(0.0)


def chance_of_print(means: pd.DataFrame) -> pd.Series:
    """Return the effect of rounding and of the seeds that we lack on printed means, in percent.

    Rounding is half a unit of the last printed digit. The mean of k of ten values differs from that
    of all by their deviation times sqrt(1/k - 1/10); the printed deviation is rounded, too.
    """
    lacking = np.sqrt(np.clip(1 / means["seeds"] - 1 / len(protocol.SEEDS), 0, None))
    return 100 * (means["rounded"] + DRAWS * means["sd"] * lacking) / means["paper"].abs()


def chance_of_same_fits(means: pd.DataFrame, pairs: pd.DataFrame) -> np.ndarray:
    """Return the chance of draws in the standard setting, which calibrates the same fits."""
    same = [("standard", *cell[1:-1], cell[-1].removesuffix("-c")) for cell in means.index]
    return pairs["chance"].reindex(same).fillna(0.0).to_numpy()


def printed() -> pd.DataFrame:
    """Read the paper's tables with our names of settings and variants, without repeated lines.

    `rounded` is half a unit of the last digit of the mean. `sd` is the largest deviation that is
    printed as the one in the table.
    """
    table = pd.read_csv(PRINTED, dtype={"mean": str, "sd": str}).dropna(subset=["dataset"])
    table["rounded"] = table["mean"].map(half_a_unit)
    table["sd"] = table["sd"].astype(float) + table["sd"].map(half_a_unit)
    table["mean"] = table["mean"].astype(float)
    names = {"setting": {"de_sqr": "standard"}, "variant": {"de_sqr": "deep"}}
    return table.replace(names).drop_duplicates(["setting", "variant", *KEY])


def half_a_unit(text: str) -> float:
    """Return half a unit of the last printed digit: 0.005 for "0.11", 50 for "2.8e+03"."""
    if not isinstance(text, str):
        return 0.0
    return 0.5 * 10.0 ** Decimal(text).as_tuple().exponent


def printed_means(variant: str, setting: str) -> dict[str, pd.DataFrame]:
    """Return tables of datasets (rows) and methods (columns) by our names of metrics."""
    table = printed()
    table = table[(table["variant"] == variant) & (table["setting"] == setting)]
    return {
        NAMES[metric]: part.pivot(index="dataset", columns="method", values="mean")
        for metric, part in table.groupby("metric")
    }


def paper_rows(variant: str) -> pd.DataFrame:
    """Return the paper's values per seed in the standard setting, as rows like ours."""
    table = pd.read_parquet(published.PER_SEED)
    table = table[(table["variant"] == variant) & table["metric"].isin(NAMES)]
    table["seed"] = table["seed_index"] + protocol.FIRST_SEED
    rows = table.pivot(
        index=["variant", "dataset", "seed", "method"], columns="metric", values="value"
    )
    return rows.rename(columns=NAMES).reset_index()


def with_exact_values(ours: pd.DataFrame) -> pd.DataFrame:
    """Join our rows of the standard setting to the paper's of the same seed."""
    theirs = pd.read_parquet(published.PER_SEED).rename(columns={"value": "paper"})
    theirs["seed"] = theirs["seed_index"] + protocol.FIRST_SEED
    standard = ours[ours["setting"] == "standard"]
    return standard.merge(
        theirs.drop(columns="seed_index"), on=["variant", "dataset", "method", "metric", "seed"]
    )


def report(rows: pd.DataFrame) -> Iterator[str]:
    """Yield Markdown: for each table the differences, a summary line, and the cells far off."""
    found = differences(rows)
    if found.empty:
        yield "No row of ours has a counterpart in the paper."
        return
    known = causes.load()
    found["place"] = found["metric"].map(list(NAMES).index)
    found = found.sort_values(["setting", "variant", "place"], ascending=[False, True, True])
    groups = found.groupby(["setting", "variant", "metric"], sort=False)
    for (setting, variant, metric), part in groups:
        source = "values per seed" if setting == "standard" else "printed table"
        yield f"### {metric}, variant ({variant}), {setting}: ours over the paper's {source}, %\n"
        yield as_markdown(part)
        yield ""
        yield summary_line(part)
        yield from (f"- {far.text}" for far in far_off(part, known))
        yield ""
    yield "### Does the paper's order hold?\n"
    yield from order(rows)
    yield ""
    yield from the_causes(found, known)


def the_causes(found: pd.DataFrame, known: list[causes.Cause]) -> Iterator[str]:
    """Yield a table of how many cells each cause explains, and the command that shows it."""
    far = list(far_off(found, known))
    counts = Counter(cell.cause for cell in far)
    yield f"### Causes of the {len(far)} differences above {FAR:.0f} %\n"
    yield "| cause | cells | why | shown by |"
    yield "|---|---:|---|---|"
    for cause in known:
        yield f"| {cause.name} | {counts[cause.name]} | {cause.why} | `{cause.command}` |"
    yield (
        f"| {CHANCE} | {counts[CHANCE]} | Two standard errors of the difference over the seeds, or "
        "of the seeds that we lack, and the rounding of printed means allow for it. | "
        "`python -m experiments compare` |"
    )
    yield f"| {UNKNOWN} | {counts[UNKNOWN]} | | |"


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
    """Write the mean absolute and mean signed difference over the sets, CLEAR first."""
    texts = []
    for method in [name for name in summary.ORDER if name in set(part["method"])]:
        percent = part.loc[part["method"] == method, "percent"]
        finite = percent[np.isfinite(percent)]
        texts.append(f"{method} {finite.abs().mean():.1f} ({finite.mean():+.1f})")
    n = part["dataset"].nunique()
    return f"Mean absolute (signed) difference over {n} sets, %: {', '.join(texts)}."


CHANCE, UNKNOWN = "chance", "NOT KNOWN"


class Far(NamedTuple):
    cause: str
    text: str


def far_off(part: pd.DataFrame, known: list[causes.Cause]) -> Iterator[Far]:
    """Yield the cells that are far off, each with its cause."""
    for cell in part[~(part["percent"].abs() <= FAR)].itertuples():
        cause = causes.find(known, cell)
        if cause is not None:
            name = cause.name
        else:
            name = CHANCE if abs(cell.percent) <= cell.chance else UNKNOWN
        allowed = f", within {cell.chance:.0f} %" if name == CHANCE else ""
        yield Far(
            name,
            f"{cell.dataset}, {cell.method}: {cell.ours:.4g} against {cell.paper:.4g} "
            f"({cell.percent:+.0f} %): {name}{allowed}",
        )


def order(rows: pd.DataFrame) -> Iterator[str]:
    """Yield whether CLEAR is below its parts on average over the sets, in both metrics."""
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
