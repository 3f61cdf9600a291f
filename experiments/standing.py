"""Where the plain default stands: against the paper's variants, and against every peer.

`python -m experiments standing` prints two tables of RESULTS from the packed rows, and `summary`
writes them there.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from experiments import published, results
from experiments.defaults import KEPT_APART, TUNED_ON

PACKED = results.BENCHMARK.with_suffix(".parquet")
CHOSEN_ON = (*TUNED_ON, "computer", "elevator", "kin8nm", "sulfur")
"""The sets that the rules of the default were chosen on; the others had no part in that."""

assert not set(CHOSEN_ON) & set(KEPT_APART)


def add_commands(commands) -> None:
    help_ = "the default against the paper's variants and against the best peer, set by set"
    parser = commands.add_parser("standing", help=help_, description=help_)
    parser.set_defaults(command=show)


def show(args: argparse.Namespace) -> int:
    rows = pd.read_parquet(PACKED).query("setting == 'standard' and error == ''")
    print(as_markdown(standing(rows)))
    print()
    print(against_each(rows))
    return 0


def standing(rows: pd.DataFrame) -> pd.DataFrame:
    """By set: seeds, change of the quantile loss, coverage; means over seeds.

    The best peer is that of splits on which all have been run: of few it would be a worse one.
    """
    own = _losses(rows, "default", "CLEAR")
    paper = _losses(rows, "a", "CLEAR")
    peers = rows.query("variant == 'default' and method != 'CLEAR'")
    by_split = peers.groupby(["dataset", "seed"])
    all_there = by_split["method"].nunique() == peers["method"].nunique()
    best = by_split["quantile_loss"].min()[all_there]
    found = pd.DataFrame(
        {
            "against (a), %": _change(own, paper),
            "against the best peer, %": _change(own, best),
            "coverage": rows.query("variant == 'default' and method == 'CLEAR'").set_index(
                ["dataset", "seed"]
            )["picp"],
        }
    )
    found = found[found["coverage"].notna()]
    by_set = found.groupby("dataset").mean()
    by_set.insert(1, "against the best published, %", _against_published(own))
    by_set.insert(0, "seeds", found.groupby("dataset").size())
    by_set.insert(1, "with peers", found.groupby("dataset")["against the best peer, %"].count())
    by_set.insert(2, "chosen on it", np.where(by_set.index.isin(CHOSEN_ON), "yes", "no"))
    return by_set


def as_markdown(by_set: pd.DataFrame) -> str:
    about, columns = list(by_set.columns[:3]), list(by_set.columns[3:])
    lines = [
        f"| dataset | {' | '.join([*about, *columns])} |",
        "|---|---:|---:|---|---:|---:|---:|---:|",
    ]
    for name, row in by_set.iterrows():
        lines.append(f"| {name} | {' | '.join(map(str, row[about]))} | {_cells(row)} |")
    for label, part in (
        ("mean of those", by_set[by_set["chosen on it"] == "yes"]),
        ("mean of the others", by_set[by_set["chosen on it"] == "no"]),
        ("mean of all", by_set),
    ):
        lines.append(f"| **{label}** | | | | {_cells(part[columns].mean())} |")
    return "\n".join(lines)


def against_each(rows: pd.DataFrame) -> str:
    """For every peer: the default's loss, width and width at equal coverage beside its own."""
    own = rows.query("variant == 'default' and method == 'CLEAR'").set_index(["dataset", "seed"])
    lines = [
        "| peer | default's quantile loss, % | default's mean width, % | at equal coverage, % "
        "| peer's coverage | runs |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, peer in rows.query("variant == 'default' and method != 'CLEAR'").groupby("method"):
        theirs = peer.set_index(["dataset", "seed"])
        both = own.merge(theirs, left_index=True, right_index=True, suffixes=("", "_peer"))
        changes = [
            f"{_percent(both[metric] / both[f'{metric}_peer']):+.1f}"
            for metric in ("quantile_loss", "niw", "nciw")
        ]
        coverage = both["picp_peer"].groupby("dataset").mean().mean()
        lines.append(f"| {name} | {' | '.join(changes)} | {coverage:.3f} | {len(both)} |")
    return "\n".join(lines)


def _against_published(own: pd.Series) -> pd.Series:
    """By set: against the published variant, (a) to deep, whose mean loss is the smallest there."""
    printed = pd.read_parquet(published.PER_SEED).query(
        "method == 'CLEAR' and metric == 'quantileloss'"
    )
    best = printed.groupby(["dataset", "variant"])["value"].mean().groupby("dataset").min()
    return _change(own.groupby("dataset").mean(), best)


def _percent(ratio: pd.Series) -> float:
    """The mean over the sets of the mean over seeds."""
    return float(100 * (ratio.groupby("dataset").mean() - 1).mean())


def _losses(rows: pd.DataFrame, variant: str, method: str) -> pd.Series:
    chosen = rows.query("variant == @variant and method == @method")
    return chosen.set_index(["dataset", "seed"])["quantile_loss"]


def _change(own: pd.Series, other: pd.Series) -> pd.Series:
    return 100 * (own / other - 1)


def _cells(row: pd.Series) -> str:
    *changes, coverage = row.iloc[-4:]
    shown = ["" if np.isnan(change) else f"{change:+.1f}" for change in changes]
    return " | ".join([*shown, f"{coverage:.3f}"])
