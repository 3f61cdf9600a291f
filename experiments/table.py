"""The paper's tables from the result rows, as markdown, LaTeX or CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from experiments import compare, protocol, summary

TITLES = {
    "picp": "PICP, coverage at 95 %",
    "niw": "NIW, mean width over the range of the test targets",
    "quantile_loss": "Quantile loss",
    "nciw": "NCIW, width after calibration to 95 % of the test rows",
    "interval_score": "AISL, mean interval score",
}
FORMATS = {"markdown": "md", "latex": "tex", "csv": "csv"}


class Table(NamedTuple):
    """A table of text cells, with the ranks 1 and 2 of the cells to mark."""

    name: str
    title: str
    header: list[str]
    cells: list[list[str]]
    marks: Mapping[tuple[int, int], int] = MappingProxyType({})
    notes: tuple[str, ...] = ()


def tables(
    rows: pd.DataFrame, variants: tuple[str, ...], settings: tuple[str, ...]
) -> Iterator[Table]:
    """Yield all tables for which there are rows."""
    for variant in variants:
        for setting in settings:
            chosen = summary.select(rows, variant, setting)
            if chosen.empty:
                continue
            where = f"variant ({variant}), {setting}"
            stem = f"{variant}-{setting}"
            for metric, title in TITLES.items():
                yield metric_table(chosen, metric, f"{title}: {where}", f"{stem}-{metric}")
            yield averages(
                chosen, setting, f"Increase over CLEAR in %: {where}", f"{stem}-increase"
            )
            yield plain(
                summary.factors(chosen, setting), f"lambda and gamma1: {where}", f"{stem}-factors"
            )
            if variant == "deep":
                yield networks_table(chosen, f"Improvement of CLEAR in %: {where}", f"{stem}-gain")
            elif setting == "standard" and "PCS-EPISTEMIC" in set(chosen["method"]):
                found = summary.runtime(chosen)
                yield plain(found, f"CPU seconds: {where}", f"{stem}-runtime", "{:.1f}".format)
                if "UACQR-S" in set(chosen["method"]):
                    found = summary.improvement_over_uacqr(chosen)
                    title = f"Improvement of CLEAR over UACQR in %: {where}"
                    yield plain(found, title, f"{stem}-uacqr", str)


def tables_across(rows: pd.DataFrame, settings: tuple[str, ...]) -> Iterator[Table]:
    """Yield tables with variants beside each other."""
    if "standard" in settings and "a" in set(rows["variant"]):
        found = summary.against_variant_a(rows)
        found = pd.concat([found, found.agg(["mean", "median"])])
        title = "Quantile loss of CLEAR against variant (a) on the same seeds, %"
        yield plain(found, title, "variants", "{:+.1f}".format)
    for setting in settings:
        found = summary.mean_coverage(rows, setting)
        if not found.empty:
            title = f"Mean coverage over the sets: {setting}"
            yield plain(found, title, f"coverage-{setting}", "{:.4f}".format, "variant")


def metric_table(rows: pd.DataFrame, metric: str, title: str, name: str) -> Table:
    """Return mean ± standard deviation over seeds, with the two smallest marked except coverage."""
    means, deviations = summary.per_set(rows, metric), summary.per_set(rows, metric, "std")
    cells, marks = [], {}
    for i, (dataset, values) in enumerate(means.iterrows()):
        spreads = deviations.loc[dataset]
        cells.append(
            [str(dataset)] + [cell(values[method], spreads[method]) for method in means.columns]
        )
        if metric != "picp":
            shown = [round_to(value) for value in values]
            distinct = sorted({value for value in shown if math.isfinite(value)})[:2]
            marks |= {
                (i, j + 1): distinct.index(value) + 1
                for j, value in enumerate(shown)
                if value in distinct
            }
    return Table(name, title, ["dataset", *means.columns], cells, marks, seed_notes(rows))


def averages(rows: pd.DataFrame, setting: str, title: str, name: str) -> Table:
    lines = [
        [metric, method, f"{percent:+.1f}", which]
        for metric in ("quantile_loss", "nciw", "niw")
        for method, percent, which in summary.average_increases(rows, metric, setting)
    ]
    return Table(name, title, ["metric", "method", "mean increase", "over"], lines)


def networks_table(rows: pd.DataFrame, title: str, name: str) -> Table:
    """Return our averages beside those of the paper's printed tables over the same data sets."""
    metrics = ("picp", "niw", "nciw", "quantile_loss")
    printed = compare.printed_means("deep", "standard")
    rows = rows[rows["method"].isin(printed["picp"].columns)]
    ours = {metric: summary.per_set(rows, metric) for metric in metrics}
    theirs = {
        metric: printed[metric].loc[table.index, table.columns] for metric, table in ours.items()
    }
    found, expected = map(summary.improvement_over_networks, (ours, theirs))
    cells = [
        [metric, *(f"{found.at[metric, m]:+.1f} ({expected.at[metric, m]:+.1f})" for m in found)]
        for metric in metrics
    ]
    sets = ", ".join(ours["picp"].index)
    notes = (*seed_notes(rows), f"In brackets the paper's tables, over the same sets: {sets}.")
    return Table(name, title, ["metric", *found.columns], cells, notes=notes)


def plain(
    frame: pd.DataFrame,
    title: str,
    name: str,
    show: Callable[..., str] | None = None,
    index: str = "dataset",
) -> Table:
    show = show or number
    cells = [
        [str(label), *("" if pd.isna(value) else show(value) for value in line)]
        for label, *line in frame.itertuples()
    ]
    return Table(name, title, [index, *map(str, frame.columns)], cells)


def seed_notes(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return a note on the data sets with fewer seeds than the protocol asks for."""
    fewer = summary.seeds_per_set(rows)
    fewer = fewer[fewer < len(protocol.SEEDS)]
    if fewer.empty:
        return ()
    listed = ", ".join(f"{dataset} {n}" for dataset, n in fewer.items())
    return (f"Fewer than {len(protocol.SEEDS)} seeds: {listed}.",)


# Writing numbers and tables as text


def number(value: float) -> str:
    """Write a number with three digits; large and small ones use powers of ten."""
    if not math.isfinite(value):
        return "inf" if value > 0 else "nan"
    if value == 0:
        return "0"
    if 0.01 <= abs(value) < 1000:
        return (
            f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"
            if abs(value) < 100
            else f"{value:.0f}"
        )
    return f"{value:.2e}"


def round_to(value: float) -> float:
    return float(number(value)) if math.isfinite(value) else value


def cell(mean: float, deviation: float) -> str:
    if pd.isna(mean):
        return ""
    return f"{number(mean)} ± {number(deviation)}" if math.isfinite(deviation) else number(mean)


def as_markdown(table: Table) -> str:
    wrap = {1: "**{}**", 2: "_{}_"}
    lines = [
        f"### {table.title}",
        "",
        f"| {' | '.join(table.header)} |",
        f"|---|{'---:|' * (len(table.header) - 1)}",
    ]
    lines += [f"| {' | '.join(line)} |" for line in marked(table, wrap)]
    lines += ["", *table.notes] if table.notes else []
    return "\n".join(lines) + "\n"


def as_latex(table: Table) -> str:
    wrap = {1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    lines = [
        r"\begin{table}",
        rf"\caption{{{escape(' '.join([table.title + '.', *table.notes]))}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        " & ".join(map(escape, table.header)) + r" \\",
        r"\midrule",
    ]
    escaped = table._replace(cells=[[escape(text) for text in line] for line in table.cells])
    lines += [" & ".join(line) + r" \\" for line in marked(escaped, wrap)]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def as_csv(table: Table) -> str:
    return pd.DataFrame(table.cells, columns=table.header).to_csv(index=False)


def marked(table: Table, wrap: dict[int, str]) -> list[list[str]]:
    return [
        [
            wrap[table.marks[i, j]].format(text) if (i, j) in table.marks else text
            for j, text in enumerate(line)
        ]
        for i, line in enumerate(table.cells)
    ]


def escape(text: str) -> str:
    if text == "inf":
        return r"$\infty$"
    return text.replace("%", r"\%").replace("_", r"\_").replace("±", r"$\pm$")


WRITERS = {"markdown": as_markdown, "latex": as_latex, "csv": as_csv}


def write(found: Iterator[Table], format_: str, folder: Path | None) -> None:
    """Write tables to the screen, or each to a file of its own."""
    for table in found:
        text = WRITERS[format_](table)
        if folder is None:
            print(text)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{table.name}.{FORMATS[format_]}").write_text(text)
