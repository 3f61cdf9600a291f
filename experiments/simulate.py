"""Run the simulations: fit once for each noise, dimension and seed, then score every method.

Conditional coverage at a point comes from the known law of the noise, not from drawn targets. Rows
are written as they are computed. A run that was killed goes on where it stopped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np

from experiments import results
from experiments.fitted import Fitted
from experiments.run import in_one_line, progress
from experiments.simulation_data import (
    BOOTSTRAPS,
    MULTIVARIATE,
    N_ROWS,
    RADII,
    SCALES,
    World,
    from_wider_normal,
    on_sphere,
)
from experiments.simulation_fit import METHODS, Cell, Method, fit_world, generators


class Probe(NamedTuple):
    """The points at which intervals are scored, in groups by value; each group gives a row."""

    values: tuple[float, ...]
    points: Callable[[float, int, np.random.Generator], np.ndarray]
    schema: results.Schema


PROBES = {
    "radius": Probe(RADII, on_sphere, results.SPHERE_ROWS),
    "scale": Probe(SCALES, from_wider_normal, results.SHIFT_ROWS),
}


class Options(NamedTuple):
    """The options that all cells of a run share."""

    paths: Mapping[str, Path]  # files of rows by the name of the probe
    n_rows: int = N_ROWS
    n_bootstraps: int = BOOTSTRAPS


class Missing(NamedTuple):
    """The missing rows of one method at one probe."""

    probe: str
    method: str
    values: frozenset[float]


def paper_cells(noises: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """Return the paper's cells: one dimension, and for "homo" also more, by seed in turn."""
    return [
        Cell(noise, d, seed)
        for seed in seeds
        for noise in noises
        for d in ((1, MULTIVARIATE[seed % len(MULTIVARIATE)]) if noise == "homo" else (1,))
    ]


def run(cells: Sequence[Cell], options: Options, *, n_jobs: int = 1, retry: bool = False) -> None:
    """Compute the rows that are missing, and append them to the files at `options.paths`."""
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
    """Return about the CPU seconds of a cell; in one dimension a sphere has only two points."""
    return 2.0 if cell.d == 1 else 10.0 + 0.8 * cell.d


def run_cell(cell: Cell, wanted: list[Missing], options: Options) -> tuple[Cell, int]:
    """Fit a cell and write the wanted rows; return how many methods failed."""
    failed = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the widths show whether rows are too few
        try:
            trial = make_trial(cell, options)
        except Exception as error:  # noqa: BLE001 - any failure is recorded in rows
            for left in wanted:
                write(cell, left, options, error=in_one_line(error))
            return cell, len(METHODS)
        for left in wanted:
            try:
                scores = trial.score(left.probe, METHODS[left.method])
            except Exception as error:  # noqa: BLE001 - a failing method gives rows as well
                write(cell, left, options, error=in_one_line(error))
                failed.add(left.method)
            else:
                write(cell, left, options, scores)
    return cell, len(failed)


class Trial(NamedTuple):
    """One simulated data set with its fitted parts, and the points to score."""

    world: World
    calibration: Fitted
    points: Mapping[str, list[np.ndarray]]  # by probe, a group of points for each value
    parts: Mapping[str, Fitted]  # by probe, the fitted parts of all its points

    def score(self, probe: str, method: Method) -> dict[float, tuple[float, float]]:
        """Return the mean conditional coverage and mean width by the probe's values."""
        groups = self.points[probe]
        intervals = method.intervals(self.calibration, self.parts[probe])
        intervals = np.split(intervals, np.cumsum([len(group) for group in groups])[:-1])
        return {
            value: (
                float(np.mean(self.world.coverage(group, bounds))),
                float(np.mean(bounds[:, 1] - bounds[:, 0])),
            )
            for value, group, bounds in zip(PROBES[probe].values, groups, intervals, strict=True)
        }


def make_trial(cell: Cell, options: Options) -> Trial:
    model = fit_world(cell, options.n_rows, options.n_bootstraps)
    rng = generators(cell.seed)[1]
    points = {
        name: [probe.points(value, cell.d, rng) for value in probe.values]
        for name, probe in PROBES.items()  # all probes draw, so that draws do not depend on paths
    }
    parts = {name: model.parts(np.concatenate(points[name])) for name in options.paths}
    return Trial(model.world, model.calibration, points, parts)


def write(
    cell: Cell,
    left: Missing,
    options: Options,
    scores: Mapping[float, tuple[float, float]] | None = None,
    error: str = "",
) -> None:
    """Write the rows of one method at once; an error is written to each of them."""
    schema = PROBES[left.probe].schema
    rows = []
    for value in sorted(left.values):
        found = ("", "") if scores is None else scores[value]
        fields = (*cell, left.method, value, *found, error)
        rows.append(dict(zip(schema.columns, fields, strict=True)))
    results.append(options.paths[left.probe], *rows, schema=schema)
