"""The command `classes`: calibrated classes and sets against the usual methods.

A row for each data set, seed and method is appended as it is computed: `dataset, seed, method, nll,
brier, ece, set_size, coverage, c1, c2`. Existing rows are not run again.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import pandas as pd

from clearbands.diagnostics.class_metrics import evaluate_classes, evaluate_sets
from experiments.class_data import SETS
from experiments.protocol import SEEDS

RESULTS = Path(__file__).parent / "results" / "classes.csv"
PEERS = ("LightGBM", "HistGradientBoosting", "CatBoost")
METHODS = ("plain ensemble", "ClearClassifier", *PEERS)
METRICS = ("nll", "brier", "ece", "set_size", "coverage")
FIELDS = ("dataset", "seed", "method", *METRICS, "c1", "c2")


def add_commands(commands) -> None:
    help_ = "calibrated classes and sets against temperature scaling, Platt, isotonic and MAPIE"
    parser = commands.add_parser("classes", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), choices=SEEDS)
    parser.add_argument(
        "--methods",
        nargs="+",
        default=list(METHODS),
        choices=METHODS,
        help="by the first name of what they give; all by default",
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args.datasets, args.seeds, args.methods, args.results)
    rows = pd.read_csv(args.results)
    is_peer = rows["method"].str.startswith(PEERS)
    of_members = rows[~is_peer]
    tables = [table(of_members), pairs(of_members)]
    tables += [table(beside(rows, peer)) for peer in PEERS if is_peer.any()]
    print("\n\n".join(tables))
    return 0


def run_missing(names: list[str], seeds: list[int], methods: list[str], path: Path) -> None:
    from experiments import class_data, class_methods

    done = set()
    if path.exists():
        done = set(
            pd.read_csv(path)[["dataset", "seed", "method"]].itertuples(index=False, name=None)
        )
    for seed in seeds:
        for name in names:
            missing = [m for m in methods if (name, seed, m) not in done]
            if not missing:
                continue
            X, y = class_data.load(name)
            rows = class_methods.encode(X, y, class_data.split_rows(len(y), seed))
            y_test = rows.y[rows.n_known :]
            for first in missing:
                found = class_methods.METHODS[first](rows, seed)
                append(
                    path,
                    [
                        {"dataset": name, "seed": seed, "method": method, **scores(y_test, answer)}
                        for method, answer in found.items()
                    ],
                )


def scores(y: np.ndarray, answer) -> dict[str, float]:
    found = dict.fromkeys(METRICS, np.nan)
    if answer.probabilities is not None:
        found |= evaluate_classes(y, answer.probabilities)
    if answer.sets is not None:
        found |= evaluate_sets(y, answer.sets)
    return {**{name: found[name] for name in METRICS}, "c1": answer.c1, "c2": answer.c2}


def append(path: Path, rows: list[dict], fields: tuple[str, ...] = FIELDS) -> None:
    """Append all rows of a case at once, so that a killed run leaves no case half done."""
    path.parent.mkdir(exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(
            {k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


def table(rows: pd.DataFrame) -> str:
    """Write means over seeds: the likelihood of each data set, and the other metrics over all."""
    methods = list(dict.fromkeys(rows["method"]))
    losses = rows.pivot_table(index="method", columns="dataset", values="nll", dropna=False)
    names = [name for name in SETS if name in losses.columns]
    means = rows.groupby(["method", "dataset"])[list(METRICS)].mean().groupby("method").mean()
    seeds = rows.groupby("dataset")["seed"].nunique()
    shown = [f"NLL {name} ({seeds[name]})" for name in names]
    lines = [
        f"| method | {' | '.join(shown)} | Brier | ECE | set size | coverage |",
        f"|---|{'---:|' * (len(names) + 4)}",
    ]
    for method in methods:
        cells = [losses.loc[method, name] for name in names]
        cells += [means.loc[method, name] for name in ("brier", "ece", "set_size", "coverage")]
        shown = ["" if np.isnan(value) else f"{value:.3f}" for value in cells]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    return "\n".join(lines)


def beside(rows: pd.DataFrame, peer: str) -> pd.DataFrame:
    """Return the rows of `ClearClassifier` and of a peer in the cases that both have."""
    ours = rows["method"] == "ClearClassifier"
    chosen = rows[ours | rows["method"].str.startswith(peer)]
    cases = chosen.groupby(["dataset", "seed"])["method"].transform("nunique")
    return chosen[cases == chosen["method"].nunique()]


def pairs(rows: pd.DataFrame) -> str:
    """Count the data sets and seeds in which one method has a lower NLL than another."""
    losses = rows.pivot_table(index=["dataset", "seed"], columns="method", values="nll")
    ours = [name for name in ("c1 and c2", "ClearClassifier") if name in losses.columns]
    lines = [
        f"| lower NLL, of {len(losses)} | {' | '.join(ours)} |",
        f"|---|{'---:|' * len(ours)}",
    ]
    for other in losses.columns:
        won = ["" if own == other else str((losses[own] < losses[other]).sum()) for own in ours]
        lines.append(f"| than {other} | {' | '.join(won)} |")
    return "\n".join(lines)
