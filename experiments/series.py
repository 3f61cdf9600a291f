"""The command `time`: intervals of series beside those of other libraries.

A row for each series, seed and method is appended as it is computed: `series, seed, method,
coverage, width, quantile_loss, worst_month`. Existing rows are not run again.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import pandas as pd

from clearbands import metrics
from experiments.protocol import FIRST_SEED
from experiments.series_data import SERIES

RESULTS = Path(__file__).parent / "results" / "time.csv"
SEEDS = tuple(range(FIRST_SEED, FIRST_SEED + 3))
METRICS = ("coverage", "width", "quantile_loss", "worst_month")
FIELDS = ("series", "seed", "method", *METRICS)


def add_commands(commands) -> None:
    help_ = "intervals of series, updated as time goes on, against MAPIE and LightGBM"
    parser = commands.add_parser("time", help=help_, description=help_)
    parser.add_argument("--series", nargs="+", default=list(SERIES), choices=SERIES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), choices=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args.series, args.seeds, args.results)
    print(table(pd.read_csv(args.results)))
    return 0


def run_missing(names: list[str], seeds: list[int], path: Path) -> None:
    from experiments import series_data, series_methods

    done = set()
    if path.exists():
        done = set(
            pd.read_csv(path)[["series", "seed", "method"]].itertuples(index=False, name=None)
        )
    for seed in seeds:
        for name in names:
            missing = [
                methods
                for methods in series_methods.METHODS
                if not {(name, seed, method) for method in methods} <= done
            ]
            series = series_data.load(name) if missing else None
            for methods in missing:
                y = series.y[series.n_train :]
                found = series_methods.answers(methods, series, seed)
                rows = [
                    {"series": name, "seed": seed, "method": method}
                    | scores(y, bounds, series_methods.LEVEL, series.month)
                    for method, bounds in found.items()
                ]
                append(path, rows)


def scores(y: np.ndarray, bounds: np.ndarray, level: float, month: int) -> dict[str, float]:
    """Return the scores of bounds (n, 2); a month has `month` rows."""
    inside = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
    return {
        "coverage": float(inside.mean()),
        "width": float(np.mean(bounds[:, 1] - bounds[:, 0])),
        "quantile_loss": metrics.quantile_loss(y, bounds, level),
        "worst_month": float(np.convolve(inside, np.ones(month), "valid").min() / month),
    }


def append(path: Path, rows: list[dict]) -> None:
    """Append all rows of a model at once, so that a killed run leaves nothing half done."""
    path.parent.mkdir(exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(
            {k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


def table(rows: pd.DataFrame) -> str:
    """Write a table of means over seeds."""
    lines = [
        "| series | method | coverage | worst month | width | quantile loss |",
        "|---|---|---:|---:|---:|---:|",
    ]
    means = rows.groupby(["series", "method"], sort=False)[list(METRICS)].mean()
    for (name, method), found in means.iterrows():
        lines.append(
            f"| {name} | {method} | {found['coverage']:.3f} | {found['worst_month']:.3f} "
            f"| {found['width']:.3g} | {found['quantile_loss']:.4g} |"
        )
    return "\n".join(lines)
