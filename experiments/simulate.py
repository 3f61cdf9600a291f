"""Run the simulations: fit once per noise, dimension and seed, then score every method.

Conditional coverage at a point comes from the known law of the noise, not from drawn targets.
Rows are written as they exist. A run that was killed goes on where it stopped.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone

from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    ExpectileGAM,
    FixedRatioCalibrator,
    ForestQuantiles,
)
from clearbands.pools import boosted_quantiles
from experiments import results
from experiments.methods import both, ones_and_epistemic, residuals_and_ones
from experiments.parts import CenterAndNoise, Fitted, choose, fit_center_and_noise
from experiments.protocol import Split
from experiments.run import in_one_line, progress
from experiments.simulation_data import (
    N_ROWS,
    RADII,
    SCALES,
    TRAIN_SHARE,
    World,
    from_wider_normal,
    on_sphere,
)

LEVEL = 0.9
BOOTSTRAPS = 50
SEEDS = tuple(range(100))
MULTIVARIATE = (2, 3, 20)


class Cell(NamedTuple):
    """What is fitted together."""

    noise: str
    d: int
    seed: int


class Probe(NamedTuple):
    """Where the intervals are scored: a group of points per value, a row per group and method."""

    values: tuple[float, ...]
    points: Callable[[float, int, np.random.Generator], np.ndarray]
    schema: results.Schema


PROBES = {
    "radius": Probe(RADII, on_sphere, results.SPHERE_ROWS),
    "scale": Probe(SCALES, from_wider_normal, results.SHIFT_ROWS),
}


class Method(NamedTuple):
    calibrator: Any
    widths: Callable[[Fitted], tuple[np.ndarray, ...]]

    def intervals(self, calibration: Fitted, test: Fitted) -> np.ndarray:
        fitted = clone(self.calibrator).fit(calibration.y, *self.widths(calibration))
        return fitted.predict_interval(*self.widths(test))


METHODS = {
    "CLEAR": Method(ClearCalibrator(LEVEL), both),
    "PCS": Method(FixedRatioCalibrator(LEVEL, ratio=math.inf), both),
    "ALEATORIC-R": Method(AdditiveCalibrator(LEVEL), residuals_and_ones),
    "Naive": Method(FixedRatioCalibrator(LEVEL, ratio=0), ones_and_epistemic),
}
"""As named in the paper's figures; all share the center and the widths of one fit."""


class Options(NamedTuple):
    """What all cells of a run share."""

    paths: Mapping[str, Path]  # by probe
    n_rows: int = N_ROWS
    n_bootstraps: int = BOOTSTRAPS


class Missing(NamedTuple):
    """The rows of one method at one probe that are not there yet."""

    probe: str
    method: str
    values: frozenset[float]


def paper_cells(noises: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """One dimension; without heteroskedasticity also several, dealt out to the seeds in turn."""
    return [
        Cell(noise, d, seed)
        for seed in seeds
        for noise in noises
        for d in ((1, MULTIVARIATE[seed % len(MULTIVARIATE)]) if noise == "homo" else (1,))
    ]


def run(cells: Sequence[Cell], options: Options, *, n_jobs: int = 1, retry: bool = False) -> None:
    """Fill the files at `options.paths` with the rows that are not there yet."""
    done = {}
    for name, path in options.paths.items():
        results.prepare(path, PROBES[name].schema)
        done[name] = results.known(path, with_errors=not retry, schema=PROBES[name].schema)
    todo = {cell: left for cell in cells if (left := missing(cell, done))}
    print(f"{len(cells) - len(todo)} of {len(cells)} runs are there; {len(todo)} to go.")
    tasks = (joblib.delayed(run_cell)(cell, left, options) for cell, left in todo.items())
    finished = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for line in progress(finished, {cell: cost(cell) for cell in todo}):
        print(line, flush=True)


def missing(cell: Cell, done: Mapping[str, set]) -> list[Missing]:
    found = [
        Missing(
            probe,
            method,
            frozenset(v for v in PROBES[probe].values if (*cell, method, v) not in done[probe]),
        )
        for probe in done
        for method in METHODS
    ]
    return [left for left in found if left.values]


def cost(cell: Cell) -> float:
    """In about seconds of one core: a sphere in one dimension has two points only."""
    return 2.0 if cell.d == 1 else 10.0 + 0.8 * cell.d


def run_cell(cell: Cell, wanted: list[Missing], options: Options) -> tuple[Cell, int]:
    """Fit, then write the wanted rows; how many methods failed."""
    n_failed = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few rows show in the widths
        try:
            trial = make_trial(cell, options)
        except Exception as error:  # noqa: BLE001 - any failure becomes rows that tell of it
            for left in wanted:
                write(cell, left, options, error=in_one_line(error))
            return cell, len(wanted)
        for left in wanted:
            try:
                scores = trial.score(left.probe, METHODS[left.method])
            except Exception as error:  # noqa: BLE001 - a failing method gives rows as well
                write(cell, left, options, error=in_one_line(error))
                n_failed += 1
            else:
                write(cell, left, options, scores)
    return cell, n_failed


class Trial(NamedTuple):
    """One simulated data set with its fitted parts, and the points to score."""

    world: World
    calibration: Fitted
    points: Mapping[str, list[np.ndarray]]  # by probe, a group per value
    parts: Mapping[str, Fitted]  # by probe, of all its points

    def score(self, probe: str, method: Method) -> dict[float, tuple[float, float]]:
        """Mean conditional coverage and mean width, by the probe's values."""
        intervals = method.intervals(self.calibration, self.parts[probe])
        ends = np.cumsum([len(group) for group in self.points[probe]])[:-1]
        return {
            value: (
                float(np.mean(self.world.coverage(group, bounds))),
                float(np.mean(bounds[:, 1] - bounds[:, 0])),
            )
            for value, group, bounds in zip(
                PROBES[probe].values,
                self.points[probe],
                np.split(intervals, ends),
                strict=True,
            )
        }


def make_trial(cell: Cell, options: Options) -> Trial:
    data_rng, test_rng = np.random.default_rng(cell.seed).spawn(2)
    world = World.draw(cell.noise, cell.d, data_rng)
    X, y = world.sample(options.n_rows, data_rng)
    n_train = round(TRAIN_SHARE * len(y))
    train, held_out = np.arange(n_train), np.arange(n_train, len(y))
    fit = fit_winner(X, y, train, held_out, cell.seed, options.n_bootstraps)
    points = {
        name: [PROBES[name].points(value, cell.d, test_rng) for value in PROBES[name].values]
        for name in PROBES  # all of them, so that which are scored changes no draw
    }
    return Trial(
        world,
        Fitted(y[held_out], *fit.predict(X[held_out])),
        points,
        {name: predict_parts(world, fit, np.concatenate(points[name])) for name in options.paths},
    )


def fit_winner(
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    held_out: np.ndarray,
    seed: int,
    n_bootstraps: int,
) -> CenterAndNoise:
    """The best of the pool on the held-out rows; the aleatoric part is boosting, whatever won."""
    models = pool()
    split = Split(train, held_out, held_out, held_out[:0])
    chosen, _ = choose(models, X, y, train, {"standard": split})
    return fit_center_and_noise(
        models[chosen["standard"]],
        boosted_quantiles(),
        X[train],
        y[train],
        seed,
        n_bootstraps,
        LEVEL,
    )


def pool() -> dict[str, Any]:
    """Quantile forest, quantile boosting, and a GAM of the mean with 10 splines and penalty 1.

    ExpectileGAM weighs squared errors by one half at its level 0.5, hence half the penalty.
    """
    return {
        "forest": ForestQuantiles(),
        "boosting": boosted_quantiles(),
        "gam": ExpectileGAM(n_splines=10, smoothing=0.5),
    }


def predict_parts(world: World, fit: CenterAndNoise, X: np.ndarray) -> Fitted:
    """Of points without a drawn target: their mean stands in its place and scores nothing."""
    return Fitted(world.mean(X), *fit.predict(X))


def write(
    cell: Cell,
    left: Missing,
    options: Options,
    scores: Mapping[float, tuple[float, float]] | None = None,
    error: str = "",
) -> None:
    schema = PROBES[left.probe].schema
    rows = []
    for value in sorted(left.values):
        coverage, width = ("", "") if scores is None else scores[value]
        rows.append(
            dict(
                zip(
                    schema.columns, (*cell, left.method, value, coverage, width, error), strict=True
                )
            )
        )
    results.append(options.paths[left.probe], *rows, schema=schema)
