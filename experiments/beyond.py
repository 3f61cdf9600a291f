"""Intervals far from the data: the gain of two rules of the default there, and the cost elsewhere.

The first rule keeps at least a share of the mean width epistemic. The second lets the epistemic
part grow beyond the training rows. Models are fitted once; each rule then calibrates and scores the
same rows. In the simulated worlds the coverage at a point is computed exactly.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clearbands import ClearCalibrator, ClearRegressor, metrics
from clearbands.regressor import EPISTEMIC_SHARES
from clearbands.rows.bands import Components
from experiments import pages
from experiments.least_epistemic import SETS, Recorder, Shares, calibrated, split_rows
from experiments.simulate import paper_cells
from experiments.simulation_data import LEVEL, NOISES, World, on_sphere
from experiments.simulation_fit import Cell, generators

RADII = (0.01, 1.01, 2.01, 3.01, 4.01, 5.01, 6.01)
POINTS = 200  # the number of points on each sphere


class Rule(NamedTuple):
    name: str
    shares: Shares
    grows: bool

    def intervals(self, model: ClearRegressor, X: np.ndarray) -> np.ndarray:
        calibrator = calibrated(model.calibrator_.rows_, self.shares)
        center, *widths = model.components(X)
        found = Components(center, *calibrator.scale(*widths))
        if self.grows:
            found = model.beyond_.widen(found, model.encode(X), [LEVEL])
        distances = np.add(found.aleatoric, found.epistemic)[:, :, 0]
        return center[:, None] + distances * [-1, 1]


RULES = (
    Rule("neither", {}, False),
    Rule("a share is epistemic", EPISTEMIC_SHARES, False),
    Rule("and it grows beyond the rows", EPISTEMIC_SHARES, True),
)


def fit(X: np.ndarray, y: np.ndarray, seed: int) -> ClearRegressor:
    return ClearRegressor(calibrator=Recorder(), confidence_level=LEVEL, random_state=seed).fit(
        X, y
    )


def world_coverage(cell: Cell, n_rows: int) -> np.ndarray:
    """Return the mean conditional coverage and the mean width (rules, radii, 2)."""
    of_data, of_points = generators(cell.seed)
    world = World.draw(cell.noise, cell.d, of_data)
    model = fit(*world.sample(n_rows, of_data), cell.seed)
    spheres = [on_sphere(radius, cell.d, of_points)[:POINTS] for radius in RADII]
    return np.array(
        [[_score(world, X, rule.intervals(model, X)) for X in spheres] for rule in RULES]
    )


def _score(world: World, X: np.ndarray, bounds: np.ndarray) -> tuple[float, float]:
    return float(world.coverage(X, bounds).mean()), float((bounds[:, 1] - bounds[:, 0]).mean())


class OnData(NamedTuple):
    """The effects of the rules on the test rows of data sets."""

    losses: np.ndarray  # (fits, rules)
    had_zero: float  # the share of the fits whose lambda is 0 without any rule
    touched: float  # the share of the test rows that lie beyond the training rows


def on_data(n_rows: int, seeds: range) -> OnData:
    losses, zeros, touched = [], [], []
    for seed in seeds:
        for name in SETS:
            (X, y), (X_test, y_test) = split_rows(name, n_rows, seed)
            model = fit(X, y, seed)
            bounds = [rule.intervals(model, X_test) for rule in RULES]
            losses.append([metrics.quantile_loss(y_test, b, LEVEL) for b in bounds])
            zeros.append(ClearCalibrator(LEVEL).fit(*model.calibrator_.rows_).lambda_ == 0)
            touched.append(np.mean(model.beyond_.deviations(model.encode(X_test)) > 0))
    return OnData(np.array(losses), float(np.mean(zeros)), float(np.mean(touched)))


def report(n_rows: int, seeds: range) -> Iterator[str]:
    cells = paper_cells(list(NOISES), list(seeds))
    found = {cell: world_coverage(cell, n_rows) for cell in cells}
    for several, what in ((False, "one column"), (True, "2, 3 or 20 columns")):
        scores = np.mean([s for cell, s in found.items() if (cell.d > 1) == several], axis=0)
        n_worlds = sum((cell.d > 1) == several for cell in cells)
        yield f"Coverage at {LEVEL:.0%} (and width) by distance from the origin,"
        yield f"in {n_worlds} worlds of {what} and {n_rows:,} rows:\n"
        yield "| rule | " + " | ".join(f"{radius:.0f}" for radius in RADII) + " |"
        yield "|---|" + "---:|" * len(RADII)
        for rule, row in zip(RULES, scores, strict=True):
            yield f"| {rule.name} | " + " | ".join(f"{c:.2f} ({w:.1f})" for c, w in row) + " |"
        yield ""
    data = on_data(500, seeds)
    change = 100 * (data.losses / data.losses[:, :1] - 1)
    yield f"{len(change)} fits to 500 rows of {len(SETS)} data sets; without the rules lambda is 0"
    yield f"in {data.had_zero:.0%} of them. {data.touched:.2%} of the test rows lie beyond:\n"
    yield "| rule | mean quantile loss | worst fit |\n|---|---:|---:|"
    for rule, column in zip(RULES, change.T, strict=True):
        yield f"| {rule.name} | {column.mean():+.2f} % | {column.max():+.2f} % |"


def add_commands(commands) -> None:
    help_ = "coverage far from the data, and what it costs"
    parser = commands.add_parser("beyond", help=help_, description=help_)
    parser.add_argument("--rows", type=int, default=1000, help="of each simulated world")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--write", type=Path, help="a page whose tables are to be replaced")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models warn that their rows are few
        pages.show(report(args.rows, range(args.seeds)), "beyond", args.write)
    return 0
