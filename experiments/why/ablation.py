"""The effect of ignorance on intervals: lambda = 0, 1, infinite or free, CQR, and the new split.

All ways calibrate the same fit of the default, on errors of rows that its members did not see. With
"new split" lambda weighs noise and ignorance as the learning curve tells them apart, instead of the
two parts. `far` is the fifth of the test rows that lie farthest from the training rows.

usage: python -m experiments why lambda [--only airfoil concrete] [--seeds 777]
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    ClearRegressor,
    FixedRatioCalibrator,
    metrics,
)
from clearbands.calibration.calibration_set import scale
from clearbands.rows.bands import Components
from clearbands.selection.outlook import make_outlook
from experiments import results
from experiments.protocol import FIRST_SEED, LEVEL
from experiments.why.tables import load

RESULTS = results.FOLDER / "why_lambda.csv"
COLUMNS = [
    "table",
    "seed",
    "way",
    "lambda",
    "loss",
    "coverage",
    "width",
    "far_loss",
    "far_coverage",
]
TABLES = ["airfoil", "concrete", "energy_efficiency", "insurance", "kin8nm"]
TRAIN_ROWS, TEST_ROWS = 2_000, 2_000
WAYS: dict[str, Any] = {
    "free": ClearCalibrator(LEVEL),
    "lambda 0": FixedRatioCalibrator(LEVEL, ratio=0.0),
    "lambda 1": FixedRatioCalibrator(LEVEL, ratio=1.0),
    "lambda infinite": FixedRatioCalibrator(LEVEL, ratio=np.inf),
    "CQR": AdditiveCalibrator(LEVEL),
    "new split, free": ClearCalibrator(LEVEL),
}


def compare(name: str, seed: int) -> Iterator[dict[str, Any]]:
    table = load(name)
    order = np.random.RandomState(seed).permutation(len(table.y))
    n_test = min(TEST_ROWS, len(order) // 5)
    test, train = (table.take(rows) for rows in (order[:n_test], order[n_test:][:TRAIN_ROWS]))
    model = ClearRegressor(confidence_level=LEVEL, n_jobs=1, random_state=seed)
    with mock.patch("clearbands.regressor.make_outlook", wraps=make_outlook) as asked:
        model.fit(train.X, train.y)
    learned, calibrator = asked.call_args.args[:2]
    center, unit = train.X.mean(axis=0), train.X.std(axis=0) + 1e-12
    near = NearestNeighbors(n_neighbors=5).fit((train.X - center) / unit)
    distance = near.kneighbors((test.X - center) / unit)[0][:, -1]
    far = distance >= np.quantile(distance, 0.8)
    judged, new = learned.calibration_set, model.components(test.X)
    for way, fresh in WAYS.items():
        of_judged, of_new = judged.components, new
        if way.startswith("new split"):
            of_judged, of_new = (_split(model, calibrator, each) for each in (of_judged, of_new))
        arrays = [_first_level(each) for each in (of_judged, of_new)]
        fitted = fresh.fit(learned.targets.center(judged.y), *arrays[0])
        bounds = fitted.predict_interval(*arrays[1])
        yield {
            "way": way,
            "lambda": float(getattr(fitted, "lambda_", np.nan)),
            "loss": metrics.quantile_loss(test.y, bounds, LEVEL),
            "coverage": metrics.picp(test.y, bounds),
            "width": float((bounds[:, 1] - bounds[:, 0]).mean()),
            "far_loss": metrics.quantile_loss(test.y[far], bounds[far], LEVEL),
            "far_coverage": metrics.picp(test.y[far], bounds[far]),
        }


def _split(model: ClearRegressor, calibrator: Any, components: Components) -> Components:
    """Return components with noise and ignorance as parts, whose sum is the calibrated width."""
    assert model.outlook_ is not None
    noise = model.outlook_.splits[0](components)[:, None, None]
    center, aleatoric, epistemic = scale(calibrator, components)
    return Components(center, *(part * (aleatoric + epistemic) for part in (noise, 1 - noise)))


def _first_level(components: Components) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return components.center, components.aleatoric[:, :, 0], components.epistemic[:, :, 0]


def add_command(commands: Any) -> None:
    help_ = "what ignorance does in the interval: lambda 0, 1, infinite, free, and CQR"
    parser = commands.add_parser("lambda", help=help_, description=help_)
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="*", default=TABLES, help="names of tables")
    parser.add_argument("--seeds", type=int, nargs="*", default=[FIRST_SEED])
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    warnings.filterwarnings("ignore")
    known = set()
    if args.file.exists():
        there = pd.read_csv(args.file)
        known = set(zip(there["table"], there["seed"], strict=True))
    with args.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
        for seed in args.seeds:
            for name in args.only:
                if (name, seed) not in known:
                    for row in compare(name, seed):
                        writer.writerow({"table": name, "seed": seed} | row)
                    file.flush()
    print(table_of(pd.read_csv(args.file)))
    return 0


def table_of(rows: pd.DataFrame) -> str:
    """Return losses against "free" in percent, then their mean over the tables, and coverage."""
    index = ["table", "seed"]
    free = rows[rows["way"] == "free"].set_index(index)
    lines = []
    for way in WAYS:
        own = rows[rows["way"] == way].set_index(index)
        change, far = (100 * (own[name] / free[name] - 1) for name in ("loss", "far_loss"))
        each = " | ".join(f"{value:+.1f}" for value in change)
        lines.append(
            f"| {way} | {each} | {change.mean():+.1f} | {far.mean():+.1f} | "
            f"{own['coverage'].mean():.3f} | {own['far_coverage'].mean():.3f} |"
        )
    names = " | ".join(name for name, _ in free.index)
    head = f"| way | {names} | mean | mean, far | coverage | coverage, far |"
    return "\n".join([head, "|---|" + "---:|" * (head.count("|") - 2), *lines])
