"""The command `shifted`: the simulations with wider test X, calibrated with and without weights.

Training X is standard normal, and test X has 1.5, 2 or 3 times its deviation; the conditional law
of y is the same. There is a row for each world, scale, method and kind of weights: `noise, d, seed,
scale, method, weights, coverage, infinite, width, effective_size`. Weights are none, the known
ratio of the two densities (weighted conformal prediction, with the weights of the test points), or
those that `ShiftWeights` learns from the calibration and the test points. `coverage` is exact given
each point and counts infinite intervals as covering; `infinite` is their share, and `width` is the
mean of the others. If `ShiftWeights` refuses, because hardly any rows are like the new ones, these
values are empty.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from clearbands import ShiftWeights
from experiments import rows
from experiments.fitted import Fitted
from experiments.simulation_data import BOOTSTRAPS, N_ROWS, NOISES, World
from experiments.simulation_fit import METHODS, Cell, FittedWorld, Method, fit_world

RESULTS = Path(__file__).parent / "results" / "shifted.csv"
SCALES = (1.5, 2.0, 3.0)
WEIGHTS = ("none", "known", "learned")
KEY = ("noise", "d", "seed", "scale", "method", "weights")
FIELDS = (*KEY, "coverage", "infinite", "width", "effective_size")
POINTS = 500


class Weights(NamedTuple):
    """The weights of the calibration rows, and of the test points if they are known."""

    calibration: np.ndarray
    test: np.ndarray | None = None

    @property
    def effective_size(self) -> float:
        return float(self.calibration.sum() ** 2 / np.sum(self.calibration**2))


def density_ratio(X: np.ndarray, scale: float) -> np.ndarray:
    """Return how many times more often each x (n,) occurs among points `scale` times as wide."""
    squares = np.sum(X**2, axis=1)
    return np.exp(squares / 2 * (1 - scale**-2)) / scale ** X.shape[1]


def weigh(kind: str, X: np.ndarray, new: np.ndarray, scale: float, seed: int) -> Weights | None:
    """Return weights of a kind, or None; raise if hardly any rows are like the new ones."""
    if kind == "none":
        return None
    if kind == "known":
        return Weights(density_ratio(X, scale), density_ratio(new, scale))
    return Weights(ShiftWeights(random_state=seed).fit(X, new).weights_)


def score(
    world: World, method: Method, calibration: Fitted, test: Fitted, new: np.ndarray, weights: Any
) -> dict[str, float]:
    """Return the scores of intervals at the new points, by calibration rows with these weights."""
    given, asked = {}, {}
    if weights is not None:
        given = {"calibration_weight": weights.calibration}
        asked = {} if weights.test is None else {"weight": weights.test}
    fitted = clone(method.calibrator).fit(calibration.y, *method.widths(calibration), **given)
    intervals = fitted.predict_interval(*method.widths(test), **asked)
    width = intervals[:, 1] - intervals[:, 0]
    finite = np.isfinite(width)
    return {
        "coverage": float(world.coverage(new, intervals).mean()),
        "infinite": float(1 - finite.mean()),
        "width": float(width[finite].mean()) if finite.any() else math.inf,
        "effective_size": float(len(calibration.y)) if weights is None else weights.effective_size,
    }


def run_cell(cell: Cell, n_rows: int, n_bootstraps: int, done: set[Any], path: Path) -> None:
    """Fit once, then score the rows that are missing, and write them."""
    keys = [(*cell, s, m, w) for s in SCALES for w in WEIGHTS for m in METHODS]
    if all(key in done for key in keys):
        return
    model = fit_world(cell, n_rows, n_bootstraps)
    for scale in SCALES:
        rng = np.random.default_rng([cell.seed, round(10 * scale)])
        new = scale * rng.normal(size=(POINTS, cell.d))
        found = score_all(model, cell, scale, new)
        wanted = [row for row in found if tuple(row[name] for name in KEY) not in done]
        rows.append(path, FIELDS, wanted)


def score_all(
    model: FittedWorld, cell: Cell, scale: float, new: np.ndarray
) -> list[Mapping[str, Any]]:
    """Return one row for each method and kind of weights."""
    test, found = model.parts(new), []
    for kind in WEIGHTS:
        nothing: dict[str, Any] = dict.fromkeys(FIELDS[len(KEY) :], math.nan)
        try:
            weights, is_refused = weigh(kind, model.X, new, scale, cell.seed), False
        except ValueError:  # a user would get this error, too
            weights, is_refused = None, True
        for name, method in METHODS.items():
            said = nothing
            if not is_refused:
                said = score(model.world, method, model.calibration, test, new, weights)
            found.append(dict(zip(KEY, (*cell, scale, name, kind), strict=True)) | said)
    return found


def add_commands(commands) -> None:
    help_ = "the simulations' wider test X, calibrated with and without weights"
    parser = commands.add_parser("shifted", help=help_, description=help_)
    parser.add_argument("--noises", nargs="+", default=list(NOISES), choices=NOISES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--bootstraps", type=int, default=BOOTSTRAPS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the tables, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        done = rows.known(args.results, KEY)
        for seed in args.seeds:
            for noise in args.noises:
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # infinite bounds are counted
                    cell = Cell(noise, 1, seed)
                    run_cell(cell, args.rows, args.bootstraps, done, args.results)
    print(tables(pd.read_csv(args.results)))
    return 0


def tables(found: pd.DataFrame) -> str:
    """Write a table of means over the seeds for each noise."""
    texts = []
    for noise in (name for name in NOISES if name in set(found["noise"])):
        own = found[found["noise"] == noise]
        lines = [f"**{noise}**, {own['seed'].nunique()} seeds", ""]
        lines.append(f"| scale | weights | rows' worth | {' | '.join(METHODS)} |")
        lines.append(f"|---|---|---:|{'---:|' * len(METHODS)}")
        for scale in SCALES:
            for kind in WEIGHTS:
                part = own[(own["scale"] == scale) & (own["weights"] == kind)]
                cells = [_cell(part[part["method"] == name]) for name in METHODS]
                worth = part["effective_size"].mean()
                size = "none" if math.isnan(worth) else f"{worth:,.0f}"
                lines.append(f"| {scale:g} | {kind} | {size} | {' | '.join(cells)} |")
        texts.append("\n".join(lines))
    return "\n\n".join(texts)


def _cell(part: pd.DataFrame) -> str:
    """Write coverage and width, and the share of infinite intervals if there are any."""
    given = part.dropna(subset=["coverage"])
    if given.empty:
        return "refused"
    text = f"{given['coverage'].mean():.3f} ({given['width'].mean():.3g})"
    infinite = given["infinite"].mean()
    return text + (f" {infinite:.0%} inf" if infinite >= 0.005 else "")
