"""The command `networks`: the gain of two constants for deep ensembles of 5, 10 and 50 members.

This is the case of the paper on classes: networks of several shapes, in turn or chosen greedily by
the likelihood of the calibration rows, which also choose the constants. In "all rows" 60 % of a
table train, in "100 rows" only a hundred. In "moved" the digits of half of the calibration and test
rows are moved by one or two pixels, unlike any training row. In "noise and moved" only the digits 5
to 9 are moved, and the digits 0 to 4 of all rows are mislabelled in three of ten cases, so that
noise and ignorance occur in one table on different rows. A row for each case and method is appended
as it is computed: `dataset, setting, seed, members, chosen, method, nll, ...`. Existing cases are
not run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import class_data, class_methods
from experiments.class_data import SETS
from experiments.class_methods import Table
from experiments.classes import METRICS, append, scores
from experiments.protocol import SEEDS

RESULTS = Path(__file__).parent / "results" / "class_networks.csv"
CASE = ("dataset", "setting", "seed")
FIELDS = (*CASE, "members", "chosen", "method", *METRICS, "c1", "c2")
SETTINGS = ("all rows", "100 rows", "moved", "noise and moved")
SHAPES = ((8,), (16,), (32,), (64,), (32, 32))
DROPOUTS = (0.0, 0.0, 0.1, 0.3, 0.1)
QUICK = {"learning_rate": 3e-3, "max_epochs": 80, "patience": 10}
MEMBERS = (5, 10, 50)
SIDE = 8  # the height and width of a digit in pixels


def add_commands(commands) -> None:
    help_ = "two constants for ensembles of 5, 10 and 50 networks, against one temperature"
    parser = commands.add_parser("networks", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), choices=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the tables, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args.datasets, args.settings, args.seeds, args.results)
    rows = pd.read_csv(args.results)
    print(f"{table(rows)}\n\n{changes(rows)}")
    return 0


def run_missing(names: list[str], settings: list[str], seeds: list[int], path: Path) -> None:
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[list(CASE)].itertuples(index=False, name=None))
    for seed in seeds:
        for name in names:
            for setting in settings:
                if (name, setting, seed) not in done and (
                    name == "digits" or "moved" not in setting
                ):
                    append(path, list(run_case(name, setting, seed)), FIELDS)


def run_case(name: str, setting: str, seed: int) -> Iterator[dict]:
    """Yield the rows of one case."""
    X, y = class_data.load(name)
    rows = class_data.split_rows(len(y), seed)
    if setting == "100 rows":
        rows = (rows[0][:100], *rows[1:])
    rows_ = class_methods.encode(X, y, rows)
    if setting == "moved":
        rows_ = with_moved_digits(rows_, seed, range(10))
    if setting == "noise and moved":
        rows_ = with_moved_digits(with_wrong_labels(rows_, seed), seed, range(5, 10))
    held_out = slice(rows_.n_train, rows_.n_known)
    logits = member_logits(rows_, seed)
    y_cal, y_test = rows_.y[held_out], rows_.y[rows_.n_known :]
    known, new = logits[: len(y_cal)], logits[len(y_cal) :]
    orders = {"in turn": np.arange(known.shape[1]), "greedily": greedy(y_cal, known, max(MEMBERS))}
    for chosen, order in orders.items():
        for n in MEMBERS:
            for method, calibrate in class_methods.ON_LOGITS.items():
                answer = calibrate(y_cal, known[:, order[:n]], new[:, order[:n]])
                yield {
                    "dataset": name,
                    "setting": setting,
                    "seed": seed,
                    "members": n,
                    "chosen": chosen,
                    "method": method,
                    **scores(y_test, answer),
                }


def member_logits(rows: Table, seed: int) -> np.ndarray:
    """Return the logits (calibration and test rows, members, classes), with shapes in turn."""
    from clearbands import NetworkClassifier

    n = max(MEMBERS) // len(SHAPES)
    X, y = rows.X[: rows.n_train], rows.y[: rows.n_train]
    said = []
    for i, (hidden, dropout) in enumerate(zip(SHAPES, DROPOUTS, strict=True)):
        model = NetworkClassifier(hidden, dropout=dropout, random_state=100 * seed + i, **QUICK)
        bag = model.fit_class_bag(X, y, rows.n_classes, np.ones((n, len(y)), np.uint8))
        said.append(bag.predict_logits(rows.X[rows.n_train :]))
    return np.stack(said, axis=2).reshape(len(said[0]), -1, rows.n_classes)


def with_wrong_labels(rows: Table, seed: int) -> Table:
    """Give three of ten rows of the digits 0 to 4 another label among these."""
    rng = np.random.default_rng([seed, 1])
    y = rows.y.copy()
    wrong = (y < 5) & (rng.random(len(y)) < 0.3)
    y[wrong] = (y[wrong] + rng.integers(1, 5, size=wrong.sum())) % 5
    return Table(rows.X, y, rows.n_train, rows.n_known, rows.n_classes)


def with_moved_digits(rows: Table, seed: int, digits: range) -> Table:
    """Move half of the rows that do not train by one or two pixels in one direction."""
    rng = np.random.default_rng(seed)
    X = rows.X.copy()
    for row in range(rows.n_train, len(X)):
        if rng.random() < 0.5 and rows.y[row] in digits:
            step, axis = rng.choice([-2, -1, 1, 2]), rng.integers(2)
            X[row] = np.roll(X[row].reshape(SIDE, SIDE), step, axis).ravel()
    return Table(X, rows.y, rows.n_train, rows.n_known, rows.n_classes)


def greedy(y: np.ndarray, logits: np.ndarray, n: int) -> np.ndarray:
    """Return members (n,), each the one that makes the rows most likely with those before it."""
    own = class_methods.softmax(logits)[np.arange(len(y)), :, y]
    total, chosen = np.zeros(len(y)), []
    for _ in range(n):
        losses = -np.log(np.maximum(total[:, None] + own, 1e-12)).mean(axis=0)
        chosen.append(int(np.argmin(losses)))
        total += own[:, chosen[-1]]
    return np.array(chosen)


def table(rows: pd.DataFrame) -> str:
    """Write a table for each setting and way of choosing: means over data sets of seed means."""
    parts = []
    for (setting, chosen), own in rows.groupby(["setting", "chosen"], sort=False):
        names = list(dict.fromkeys(own["dataset"]))
        cells = own.groupby(["method", "members", "dataset"])[["nll", "set_size"]].mean()
        means = cells.groupby(["method", "members"]).mean()
        n_seeds = own.groupby("dataset")["seed"].nunique()
        head = [f"NLL, {n} members" for n in MEMBERS] + [f"set size, {n}" for n in MEMBERS]
        lines = [
            f"Members chosen {chosen}, {setting} ({', '.join(names)}; {n_seeds.min()} seeds):\n",
            f"| method | {' | '.join(head)} |",
            f"|---|{'---:|' * len(head)}",
        ]
        for method in dict.fromkeys(own["method"]):
            shown = [
                f"{means.loc[(method, n), metric]:.3f}"
                for metric in ("nll", "set_size")
                for n in MEMBERS
            ]
            lines.append(f"| {method} | {' | '.join(shown)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def changes(rows: pd.DataFrame) -> str:
    """Write the mean and range of the change of NLL by two constants instead of one temperature."""
    index = [*CASE, "chosen", "members"]
    losses = rows.pivot_table(index=index, columns="method", values="nll", sort=False)
    change = 100 * (losses["c1 and c2"] / losses["pool, then temperature"] - 1)
    lines = [
        f"| setting | chosen | cases | {' | '.join(f'{n} members' for n in MEMBERS)} |",
        f"|---|---|---:|{'---:|' * len(MEMBERS)}",
    ]
    for (setting, chosen), own in change.groupby(["setting", "chosen"], sort=False):
        of = [own.xs(n, level="members") for n in MEMBERS]
        cells = [f"{v.mean():+.1f} ({v.min():+.1f} to {v.max():+.1f})" for v in of]
        lines.append(f"| {setting} | {chosen} | {len(of[0])} | {' | '.join(cells)} |")
    return "\n".join(lines)
