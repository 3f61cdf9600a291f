"""The command `summary`: it writes summary.json and the tables and numbers of RESULTS.md.

Both come from the packed rows alone. In RESULTS.md, the function under NAME writes the text between
`<!-- rows: NAME -->` and `<!-- end of rows: NAME -->`; the rest is written by hand.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments import (
    causes,
    compare,
    pages,
    protocol,
    results,
    standing,
    summary,
    table,
    their_networks,
)

PACKED = results.BENCHMARK.with_suffix(".parquet")
PAGE = Path(__file__).parent / "RESULTS.md"
SUMMARY = results.FOLDER / "summary.json"
RUNTIME = Path(__file__).parent / "paper" / "runtime_seconds.csv"


def add_commands(commands) -> None:
    help_ = "write summary.json and the numbers of RESULTS.md from the packed rows"
    parser = commands.add_parser("summary", help=help_, description=help_)
    parser.set_defaults(command=write)


def write(args: argparse.Namespace) -> int:
    found = Found.of(results.read(PACKED))
    SUMMARY.write_text(as_json(found))
    PAGE.write_text(fill(PAGE.read_text(), found))
    print("\n".join(headline(found)))
    return 0


class Found(NamedTuple):
    """The rows, and their differences from the paper's."""

    rows: pd.DataFrame  # the rows without errors
    differences: pd.DataFrame
    known: list[causes.Cause]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Found:
        rows = rows[rows["error"] == ""]
        return cls(rows, compare.differences(rows), causes.load())

    def of_metric(self, variant: str, metric: str) -> pd.DataFrame:
        """Return the differences of one metric in the standard setting."""
        found = self.differences
        chosen = (found["variant"] == variant) & (found["setting"] == "standard")
        return found[chosen & (found["metric"] == metric)]


def as_json(found: Found) -> str:
    return json.dumps(summarise(found), indent=1) + "\n"


# Numbers for programs


def summarise(found: Found) -> dict[str, Any]:
    """Return by variant and setting the sets, seeds, coverage, and differences from the paper."""
    variants: dict[str, Any] = {}
    all_ = found.differences
    for (variant, setting), part in found.rows.groupby(["variant", "setting"]):
        paper = all_[(all_["variant"] == variant) & (all_["setting"] == setting)]
        variants.setdefault(variant, {})[setting] = {
            "sets": part["dataset"].nunique(),
            "seeds": {name: int(n) for name, n in summary.seeds_per_set(part).items()},
            "methods": {
                method: of_method(lines, paper[paper["method"] == method])
                for method, lines in part.groupby("method")
            },
        }
    return {"differences": cells_by_cause(found), "variants": variants}


def of_method(lines: pd.DataFrame, paper: pd.DataFrame) -> dict[str, Any]:
    coverage = lines.groupby("dataset")["picp"].mean().mean()
    found: dict[str, Any] = {"coverage": round(float(coverage), 4)}
    for metric in ("quantileloss", "nciw"):
        percent = paper.loc[paper["metric"] == metric, "percent"]
        percent = percent[np.isfinite(percent)]
        if len(percent):
            found[compare.NAMES[metric]] = {
                "sets": len(percent),
                "mean_absolute_difference_percent": round(float(percent.abs().mean()), 2),
                "mean_difference_percent": round(float(percent.mean()), 2),
            }
    return found


def cells_by_cause(found: Found) -> dict[str, Any]:
    counts = Counter(cell.cause for cell in compare.far_off(found.differences, found.known))
    return {
        "cells_of_all_tables": len(found.differences),
        "above_5_percent": sum(counts.values()),
        "without_a_known_cause": counts[compare.UNKNOWN],
        "by_cause": dict(sorted(counts.items())),
    }


# Numbers for readers


def fill(text: str, numbers: Found) -> str:
    """Return the text of RESULTS.md with new numbers."""
    found = set(re.findall(r"<!-- rows: (\w+) -->", text))
    if found != set(BLOCKS):
        raise results.RowsError(f"RESULTS has blocks {sorted(found)}, known are {sorted(BLOCKS)}.")
    for name, make in BLOCKS.items():
        text = pages.replaced(text, f"rows: {name}", make(numbers))
    return text


def headline(found: Found) -> Iterator[str]:
    """Yield a line for each variant: CLEAR's difference from the paper, and its coverage."""
    variants = summarise(found)["variants"]
    for variant in protocol.PUBLISHED:
        of = variants[variant]["standard"]
        clear, n_seeds = of["methods"]["CLEAR"], of["seeds"]
        loss = clear["quantile_loss"]
        yield (
            f"- variant ({variant}): {of['sets']} sets, {sum(n_seeds.values())} of "
            f"{of['sets'] * len(protocol.SEEDS)} runs. CLEAR's quantile loss is "
            f"{loss['mean_absolute_difference_percent']:.1f} % from the paper's values of the same "
            f"seeds on average over the sets ({loss['mean_difference_percent']:+.1f} % signed), "
            f"and it covers {clear['coverage']:.3f}."
        )


def seeds(found: Found) -> Iterator[str]:
    """Yield the numbers of seeds in the standard setting, by data set and variant."""
    rows = found.rows
    clear = rows[(rows["setting"] == "standard") & (rows["method"] == "CLEAR")]
    counts = clear.groupby(["dataset", "variant"])["seed"].nunique().unstack(fill_value=0)
    yield from markdown(counts[list(protocol.VARIANTS)], "dataset")


def differences_of(variant: str) -> Callable[[Found], Iterator[str]]:
    def block(found: Found) -> Iterator[str]:
        part = found.of_metric(variant, "quantileloss")
        yield compare.as_markdown(part)
        yield ""
        yield compare.summary_line(part)
        far = [f"- {cell.text}" for cell in compare.far_off(part, found.known)]
        yield from (["", *far] if far else [])

    return block


def nciw(found: Found) -> Iterator[str]:
    for variant in protocol.PUBLISHED:
        yield f"- variant ({variant}): {compare.summary_line(found.of_metric(variant, 'nciw'))}"


def order(found: Found) -> Iterator[str]:
    """Yield the mean increases over CLEAR, ours and the paper's, on the same sets and seeds."""
    yield "| variant | metric | method | ours, % | paper, % | over | order |"
    yield "|---|---|---|---:|---:|---|---|"
    for variant in protocol.PUBLISHED:
        chosen = summary.select(found.rows, variant, "standard")
        theirs = of_the_same_splits(compare.paper_rows(variant), chosen)
        for metric in ("quantile_loss", "nciw"):
            expected = {
                (method, which.split(",")[-1]): percent
                for method, percent, which in summary.average_increases(theirs, metric, "standard")
            }
            for method, percent, which in summary.average_increases(chosen, metric, "standard"):
                if method in summary.RIVALS["standard"]:
                    paper = expected.get((method, which.split(",")[-1]))
                    shown = "" if paper is None else f"{paper:+.1f}"
                    holds = "holds" if percent > 0 else "DOES NOT HOLD"
                    yield (
                        f"| {variant} | {metric} | {method} | {percent:+.1f} | {shown} | {which} "
                        f"| {holds} |"
                    )


def of_the_same_splits(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    return theirs.merge(ours[["dataset", "seed"]].drop_duplicates(), on=["dataset", "seed"])


def coverage(found: Found) -> Iterator[str]:
    means = summary.mean_coverage(found.rows, "conformalized").loc[list(protocol.PUBLISHED)]
    columns = ["CLEAR-c", "ALEATORIC-R-c", "PCS-EPISTEMIC-c"]
    yield from markdown(means[columns].map("{:.4f}".format), "variant")


def runtime(found: Found) -> Iterator[str]:
    """Yield our CPU seconds on one core, and the paper's wall time with 20 and more threads."""
    theirs = pd.read_csv(RUNTIME).set_index(["variant", "dataset"])["total"]
    columns = {}
    for variant in protocol.PUBLISHED:
        ours = summary.runtime(summary.select(found.rows, variant, "standard"))["total"].drop(
            "Total"
        )
        columns[f"({variant}) ours"] = ours
        columns[f"({variant}) paper"] = theirs[variant].reindex(ours.index)
    frame = pd.DataFrame(columns)
    frame.loc["all"] = frame[frame.notna().all(axis=1)].sum()
    yield from markdown(frame.map(lambda v: "" if pd.isna(v) else f"{v:.1f}"), "dataset")


def networks_gain(found: Found) -> Iterator[str]:
    gain = table.networks_table(summary.select(found.rows, "deep", "standard"), "", "")
    yield from table.as_markdown(gain).splitlines()[2:]


def networks_widths(found: Found) -> Iterator[str]:
    """Yield losses with the ensemble's widths by deviations and, as "-quantiles", by quantiles."""
    rows = summary.select(found.rows, "deep", "standard")
    above = summary.relative_increase(rows, "quantile_loss", "standard").mean()
    covered = summary.mean_coverage(rows, "standard").loc["deep"]
    methods = ["CLEAR", "CLEAR-quantiles", "DE", "DE-quantiles"]
    columns = {
        "quantile loss above CLEAR's, %": above.reindex(methods).fillna(0).map("{:+.1f}".format),
        "coverage": covered[methods].map("{:.3f}".format),
    }
    yield from markdown(pd.DataFrame(columns), "method")


def of_their_networks(metric: str) -> Callable[[Found], Iterator[str]]:
    return lambda found: their_networks.by_set(their_networks.read(), found.rows, metric)


def the_causes(found: Found) -> Iterator[str]:
    yield from list(compare.the_causes(found.differences, found.known))[1:]


def default_by_set(found: Found) -> Iterator[str]:
    yield standing.as_markdown(standing.standing(found.rows[found.rows["setting"] == "standard"]))


def default_by_peer(found: Found) -> Iterator[str]:
    yield standing.against_each(found.rows[found.rows["setting"] == "standard"])


def fixed_ratios(found: Found) -> Iterator[str]:
    yield standing.fixed_ratios(found.rows[found.rows["setting"] == "standard"])


BLOCKS: dict[str, Callable[[Found], Iterator[str]]] = {
    "headline": headline,
    "seeds": seeds,
    "a": differences_of("a"),
    "b": differences_of("b"),
    "c": differences_of("c"),
    "nciw": nciw,
    "causes": the_causes,
    "order": order,
    "coverage": coverage,
    "runtime": runtime,
    "networks": differences_of("deep"),
    "their_networks": of_their_networks("quantile_loss"),
    "their_networks_nciw": of_their_networks("nciw"),
    "networks_gain": networks_gain,
    "networks_widths": networks_widths,
    "standing": default_by_set,
    "peers": default_by_peer,
    "ratios": fixed_ratios,
}


def markdown(frame: pd.DataFrame, index: str) -> Iterator[str]:
    yield f"| {' | '.join([index, *map(str, frame.columns)])} |"
    yield f"|---|{'---:|' * frame.shape[1]}"
    for label, values in zip(frame.index, frame.to_numpy(), strict=True):
        yield f"| {' | '.join([str(label), *map(str, values)])} |"
