"""The authors' networks run here, beside their published results on the same splits, and ours.

The rows are those of `python -m benchmarks.authors_networks` (way "authors") and of
`python -m experiments.patient_networks` (way "patient").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from experiments import compare, protocol, results

KEY = ["way", "dataset", "seed", "draw", "method"]
METRICS = ["picp", "niw", "nciw", "quantile_loss"]
COLUMNS = [*KEY, *METRICS, "cpu_seconds"]
ROWS = results.Schema("network", results.FOLDER / "networks.csv", KEY, COLUMNS, packed=COLUMNS)
METHODS = ("SQR", "DE", "CLEAR")
SIDES = {
    "published": "published",
    "authors": "their program here",
    "ours": "ours",
    "patient": "ours, patience 500",
}


def read() -> pd.DataFrame:
    return results.read(ROWS.path, ROWS)


def each_split(names: Sequence[str], seeds: Sequence[int], metric: str) -> Iterator[str]:
    """Yield all known values of one metric on some splits."""
    table = beside(read(), results.read(results.newest())).xs(metric, level="metric")
    table = table.loc[(list(names), list(seeds)), :].dropna(axis=1, how="all")
    yield f"| dataset | seed | method | {' | '.join(table.columns)} |"
    yield "|---|---:|---|" + "---:|" * table.shape[1]
    for (dataset, seed, method), values in zip(table.index, table.to_numpy(), strict=True):
        yield f"| {dataset} | {seed} | {method} | {' | '.join(shown(values, '{:.3g}'))} |"


def by_set(rows: pd.DataFrame, benchmark: pd.DataFrame, metric: str) -> Iterator[str]:
    """Yield by how many percent their program and ours differ from the paper on the first split."""
    table = beside(rows, benchmark).xs(metric, level="metric").xs(protocol.FIRST_SEED, level="seed")
    percent = 100 * table.div(table["published"], axis=0) - 100
    columns = [(SIDES[side], method) for method in METHODS for side in ("authors", "ours")]
    yield f"| dataset | {' | '.join(f'{method}: {side}' for side, method in columns)} |"
    yield "|---|" + "---:|" * len(columns)
    wide = percent.unstack("method").reindex(columns=pd.MultiIndex.from_tuples(columns))
    for dataset, values in zip(wide.index, wide.to_numpy(), strict=True):
        yield f"| {dataset} | {' | '.join(shown(values, '{:+.1f}'))} |"
    typical = " | ".join(shown(wide.abs().median(), "{:.1f}"))
    yield f"| **median, without signs** | {typical} |"


def beside(rows: pd.DataFrame, benchmark: pd.DataFrame) -> pd.DataFrame:
    """Return values by data set, seed, method and metric, with a column for each of SIDES.

    Several trainings on one split are averaged.
    """
    split = ["dataset", "seed", "method"]
    deep = benchmark[(benchmark["variant"] == "deep") & (benchmark["setting"] == "standard")]
    sources = {"published": compare.paper_rows("deep"), "ours": deep}
    sources |= {str(way): found for way, found in rows.groupby("way")}
    found = {
        side: source.melt(split, METRICS, "metric").groupby([*split, "metric"])["value"].mean()
        for side, source in sources.items()
    }
    run = rows.melt(split, METRICS, "metric").set_index([*split, "metric"]).index
    table = pd.DataFrame(found).rename(columns=SIDES).reindex(columns=[*SIDES.values()])
    return table[table.index.isin(run)].sort_index()


def shown(values: Sequence[float], form: str) -> list[str]:
    return ["" if pd.isna(value) else form.format(value) for value in values]
