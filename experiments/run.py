"""Run the benchmark: fit once for each data set, variant and seed, then score every method.

Rows are written as they are computed. A run that was killed goes on where it stopped.
"""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np

from clearbands import metrics
from clearbands.scaling.engines import Engine
from experiments import datasets, methods, peers, protocol, results
from experiments.fitted import Fitted, Parts
from experiments.parts import fit_parts


class Cell(NamedTuple):
    """One data set, variant and seed, whose parts are fitted together."""

    dataset: str
    variant: str
    seed: int


Wanted = dict[Cell, list[tuple[str, str]]]
"""The rows to compute, as (setting, method), by cell."""


class Options(NamedTuple):
    """The options that all cells of a run share."""

    path: Path
    settings: tuple[str, ...] = protocol.SETTINGS
    stock: bool = False
    n_bootstraps: int = protocol.BOOTSTRAPS
    methods_from: tuple[str, ...] = ()
    only: tuple[str, ...] = ()  # the names of methods to run; empty for all


def run(
    names: Sequence[str],
    variants: Sequence[str],
    seeds: Sequence[int],
    options: Options,
    *,
    n_jobs: int = 1,
    retry: bool = False,
    engine: Engine | None = None,
) -> None:
    """Compute the rows that are missing, and append them to the file at `options.path`.

    An `engine` runs the cells instead of `n_jobs` processes; its workers must see the file and the
    data sets.
    """
    names = in_order_of_cost(names)
    for extra in options.methods_from:
        methods.load_file(extra)
    check_methods(options.only)
    results.prepare(options.path)
    done = results.known(options.path, with_errors=not retry)
    cells = [Cell(name, v, seed) for seed in seeds for name in names for v in variants]
    todo = {cell: left for cell in cells if (left := missing(cell, options, done))}
    n_rows = sum(map(len, todo.values()))
    print(f"{len(cells) - len(todo)} of {len(cells)} cells are there; {n_rows} rows to go.")
    groups = by_split(todo)
    if engine is None:
        tasks = (joblib.delayed(run_cells)(group, options) for group in groups)
        finished = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    else:
        finished = engine.run([GroupTask(group, options) for group in groups])
    costs = {cell: cost(cell.dataset) for cell in todo}
    for line in progress(chain.from_iterable(finished), costs):
        print(line, flush=True)


class GroupTask(NamedTuple):
    """Cells that are run together, as a task for engines, which may tell it to stop."""

    group: Wanted
    options: Options

    def __call__(self, stop: Any = None) -> list[tuple[Cell, int]]:
        return run_cells(self.group, self.options)


def by_split(todo: Wanted) -> list[Wanted]:
    """Group the cells by data set and seed, so that variants can share their fits."""
    groups: dict[tuple[str, int], Wanted] = {}
    for cell, left in todo.items():
        groups.setdefault((cell.dataset, cell.seed), {})[cell] = left
    return list(groups.values())


def check_methods(names: Iterable[str]) -> None:
    """Raise for unknown methods before the long work begins."""
    known = {name for found in methods.METHODS.values() for name in found}
    if unknown := [name for name in names if name not in known]:
        missing_libraries = ", ".join(n for n in peers.NEEDS if n not in known) or "none"
        raise datasets.DatasetError(
            f"There is no method {', '.join(map(repr, unknown))}; there are: "
            f"{', '.join(sorted(known))}. Peers whose libraries are not installed: "
            f"{missing_libraries}."
        )


def missing(cell: Cell, options: Options, done: set) -> list[tuple[str, str]]:
    """Return the rows that this cell still lacks, as (setting, method)."""
    return [
        (setting, name)
        for setting in options.settings
        for name in methods.of(cell.variant, setting)
        if (not options.only or name in options.only)
        and (cell.dataset, cell.variant, setting, cell.seed, name) not in done
    ]


def run_cells(group: Wanted, options: Options) -> list[tuple[Cell, int]]:
    """Run the cells of one data set and seed."""
    for extra in options.methods_from:  # workers start without the files that the parent loaded
        methods.load_file(extra)
    fitted: dict[tuple[str, str], Parts] = {}
    return [(cell, run_cell(cell, wanted, options, fitted)) for cell, wanted in group.items()]


def run_cell(
    cell: Cell,
    wanted: list[tuple[str, str]],
    options: Options,
    fitted: dict[tuple[str, str], Parts],
) -> int:
    """Fit a cell and write a row for each wanted method; return how many of them failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows show what the calibrators warn about
        X, y = datasets.load(cell.dataset)
        splits = {s: protocol.split_rows(len(y), cell.seed, s) for s in protocol.SETTINGS}
        try:
            parts = needed_parts(cell, wanted, X, y, splits, options, fitted)
        except Exception as error:  # noqa: BLE001 - any failure is recorded in rows
            for setting, name in wanted:
                results.append(options.path, failed(cell, setting, name, error))
            return len(wanted)
        n_failed = 0
        for setting, name in wanted:
            method = methods.of(cell.variant, setting)[name]
            rows_of = method.setting or setting
            case = make_case(X, y, splits[rows_of], parts[rows_of], cell.seed)
            row = score(cell, setting, name, method, case, parts[rows_of].seconds)
            results.append(options.path, row)
            n_failed += bool(row["error"])
    return n_failed


def needed_parts(
    cell: Cell,
    wanted: list[tuple[str, str]],
    X: np.ndarray,
    y: np.ndarray,
    splits: dict[str, protocol.Split],
    options: Options,
    fitted: dict[tuple[str, str], Parts],
) -> dict[str, Parts]:
    """Return the parts by setting; methods with their own models only get the targets."""
    if all(methods.of(cell.variant, setting)[name].alone for setting, name in wanted):
        rows = splits["standard"].held_out
        return dict.fromkeys(splits, Parts(rows, Fitted(y[rows]), {}))
    return fit_parts(
        cell.variant,
        X,
        y,
        splits,
        cell.seed,
        stock=options.stock,
        n_bootstraps=options.n_bootstraps,
        fitted=fitted,
    )


def make_case(
    X: np.ndarray, y: np.ndarray, split: protocol.Split, parts: Parts, seed: int
) -> methods.Case:
    return methods.Case(
        parts.of(split.validation),
        parts.of(split.calibration),
        parts.of(split.test),
        split.calibration is not split.validation,
        X,
        y,
        split,
        seed,
    )


def score(
    cell: Cell,
    setting: str,
    name: str,
    method: methods.Method,
    case: methods.Case,
    seconds: dict[str, float],
) -> dict[str, Any]:
    """Return the row of one method; widths are relative to the range of the test targets."""
    started = time.process_time()
    try:
        found = method.run(case)
        own = time.process_time() - started
        center = case.test.center if found.center is None else found.center
        scores = metrics.evaluate(case.test.y, center, found.intervals, protocol.LEVEL)
    except Exception as error:  # noqa: BLE001 - a failing method gives a row, not a missing one
        return failed(cell, setting, name, error)
    return {
        **key(cell, setting, name),
        **scores,
        "lambda": found.lambda_,
        "gamma1": found.gamma1,
        "fit_seconds": round(own + sum(seconds.get(part, 0.0) for part in method.parts), 3),
        "error": "",
    }


def failed(cell: Cell, setting: str, name: str, error: Exception) -> dict[str, Any]:
    empty = dict.fromkeys(results.COLUMNS, "")
    return {**empty, **key(cell, setting, name), "error": in_one_line(error)}


def in_one_line(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).strip().replace("\n", " ")


def key(cell: Cell, setting: str, name: str) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "variant": cell.variant,
        "setting": setting,
        "seed": cell.seed,
        "method": name,
    }


def in_order_of_cost(names: Sequence[str]) -> list[str]:
    """Return the data sets from small to large; raise if any is missing or wrong."""
    problems, sizes = [], {}
    for name in names:
        try:
            X, y = datasets.load(name)
            datasets.check(name, X, y)
            sizes[name] = X.size
        except datasets.DatasetError as error:
            problems.append(str(error))
    if problems:
        raise datasets.DatasetError("\n".join(problems))
    return sorted(sizes, key=sizes.__getitem__)


def progress(
    finished: Iterable[tuple[tuple[Any, ...], int]], costs: Mapping[tuple[Any, ...], float]
) -> Iterator[str]:
    """Yield a line for each finished cell, with the time left as estimated by costs."""
    total, done, started = sum(costs.values()), 0.0, time.monotonic()
    for i, (cell, n_failed) in enumerate(finished, start=1):
        done += costs[cell]
        left = (time.monotonic() - started) * (total - done) / done
        failures = f"  {n_failed} methods FAILED" if n_failed else ""
        name = " ".join(map(str, cell))
        yield f"{i}/{len(costs)}  {name}{failures}  about {duration(left)} left"


def cost(name: str) -> float:
    """Return the cost of a cell of a data set, which grows with the size of its table."""
    n, d = datasets.load(name)[0].shape
    return n * (d + 10.0) + 20_000


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
