"""The command `overlapping`: calibration by groups that overlap and by functions of rows.

`ConditionalCalibrator` is compared with the authors' package `conditionalconformal` and MAPIE's
`ConditionalSplitConformalRegressor`, which computes the same, on the same simulated rows at 90 %:
the CPU time, and the differences of the cutoffs of scores from ours. The scores are |y|. Rows are
in each of ten groups with a probability of 30 %, or have five normal columns.

Then the law of coverage is tested with one new row of each of many runs with calibration rows of
their own. Rows are in three groups with probabilities of 50, 30 and 10 %; covered rows are counted
among all and in each group. Rows of results are appended as they are computed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

from clearbands import ConditionalCalibrator, FixedRatioCalibrator
from clearbands.rows.bands import covered
from experiments import pages, rows

LEVEL = 0.9
RESULTS = Path(__file__).parent / "results" / "overlapping.csv"
LAW_RESULTS = Path(__file__).parent / "results" / "overlapping_law.csv"
FIELDS = ("kind", "n", "method", "new_rows", "fit_seconds", "ms_per_row", "difference")
LAW_FIELDS = ("calibration_rows", "cutoffs", "group", "new_rows", "covered")
OURS = "clearbands"
KINDS, SIZES, COMPARED = ("ten groups", "five functions"), (1_000, 10_000), 20
CHANCES = (0.5, 0.3, 0.1)
RUNS, LAW_ROWS = 2_000, (50, 200)

Cutoffs = Callable[[np.ndarray], np.ndarray]
"""A function from new rows (m, columns) to the cutoffs (m,) of their scores."""


def draw(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw columns (n, p) and y (n,), whose spread depends on the columns."""
    if kind == "ten groups":
        X = (rng.random((n, 10)) < 0.3).astype(float)
        return X, rng.normal(size=n) * (1 + X @ np.linspace(0, 1, 10))
    X = rng.normal(size=(n, 5))
    return X, rng.normal(size=n) * (1 + np.abs(X[:, 0]))


def ours(X: np.ndarray, y: np.ndarray) -> Cutoffs:
    ones = np.ones((len(y), 2))
    calibrator = ConditionalCalibrator(FixedRatioCalibrator(ratio=0.0), confidence_level=LEVEL)
    calibrator.fit(y, 0 * y, ones, 0 * ones, calibration_groups=X)

    def cutoffs(new: np.ndarray) -> np.ndarray:
        ones = np.ones((len(new), 2))
        return calibrator.scale(ones, 0 * ones, calibration_groups=new)[0][:, 1, 0]

    return cutoffs


def with_constant(X: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(X)), X])


def by_authors(X: np.ndarray, y: np.ndarray) -> Cutoffs:
    from conditionalconformal import CondConf

    problem = CondConf(lambda X, y: np.abs(y), with_constant)
    problem.setup_problem(X, y)

    def cutoffs(new: np.ndarray) -> np.ndarray:
        return np.array(
            [
                float(np.squeeze(problem.predict(LEVEL, row[None], lambda cutoff, x: cutoff)))
                for row in new
            ]
        )

    return cutoffs


def by_mapie(X: np.ndarray, y: np.ndarray) -> Cutoffs:
    from mapie.conditional_conformal_prediction import ConditionalSplitConformalRegressor
    from sklearn.dummy import DummyRegressor

    zero = DummyRegressor(strategy="constant", constant=0.0).fit(X, y)
    model = ConditionalSplitConformalRegressor(
        with_constant, zero, confidence_level=LEVEL, prefit=True
    )
    model.conformalize(X, y)
    return lambda new: model.predict_interval(new)[1][:, 1, 0]


METHODS = {
    OURS: (ours, "clearbands"),
    "conditionalconformal": (by_authors, "conditionalconformal cvxpy"),
    "MAPIE": (by_mapie, "mapie cvxpy"),
}
"""The methods by name, with the libraries that each needs."""


def score(kind: str, n: int, method: str) -> dict[str, float | str]:
    """Measure one method; ours gets as many new rows as calibration rows, the others few."""
    rng = np.random.default_rng(n)
    (X, y), (new, _) = draw(kind, n, rng), draw(kind, n, rng)
    new = new if method == OURS else new[:COMPARED]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        cutoffs = METHODS[method][0](X, y)
        first = cutoffs(new[:1])  # some methods prepare themselves at the first row
        fitted = time.process_time()
        each = cutoffs(new)
        done = time.process_time()
        known = first if method == OURS else ours(X, y)(new)
    difference = 0.0 if method == OURS else float(np.max(np.abs(each / known - 1)))
    return {
        "kind": kind,
        "n": n,
        "method": method,
        "new_rows": len(new),
        "fit_seconds": fitted - started,
        "ms_per_row": 1e3 * (done - fitted) / len(new),
        "difference": difference,
    }


def law(n: int, cutoffs: str) -> Iterator[dict[str, float | str]]:
    """Yield how many new rows are covered, one row of each run, among all and in each group."""
    rng = np.random.default_rng(n)
    inside, members = np.zeros(RUNS, bool), np.ones((RUNS, 1 + len(CHANCES)), bool)
    for run in range(RUNS):
        X = rng.random((n + 1, len(CHANCES))) < CHANCES
        y = rng.normal(size=n + 1) * np.prod(np.where(X, (3.0, 0.4, 2.0), 1.0), axis=1)
        ones = np.ones((n + 1, 2))
        calibrator = ConditionalCalibrator(
            FixedRatioCalibrator(ratio=0.0),
            confidence_level=LEVEL,
            randomized=cutoffs == "randomised",
            random_state=run,
        )
        parts = (0 * y, ones, 0 * ones)
        calibrator.fit(y[1:], *(part[1:] for part in parts), calibration_groups=X[1:])
        bounds = calibrator.predict_interval(
            *(part[:1] for part in parts), calibration_groups=X[:1]
        )
        inside[run], members[run, 1:] = covered(y[:1], bounds)[0], X[0]
    for group, own in zip(("all", *map(str, CHANCES)), members.T, strict=True):
        counts = {"new_rows": int(own.sum()), "covered": int(inside[own].sum())}
        yield {"calibration_rows": n, "cutoffs": cutoffs, "group": group, **counts}


def table(found: pd.DataFrame, laws: pd.DataFrame) -> Iterator[str]:
    yield "| columns | calibration rows | method | new rows | fit, CPU s | a row, ms | difference |"
    yield "|---|---:|---|---:|---:|---:|---:|"
    for row in found.sort_values(["kind", "n"], ascending=[False, True]).itertuples():
        difference = "" if row.method == OURS else f"{row.difference:.1e}"
        yield (
            f"| {row.kind} | {row.n:,} | {row.method} | {row.new_rows:,} | {row.fit_seconds:.2f} | "
            f"{row.ms_per_row:.2g} | {difference} |"
        )
    yield ""
    yield f"Covered of so many new rows at {LEVEL:.0%}, and the p-value of exactly that chance:"
    yield ""
    yield "| calibration rows | cutoffs | group | new rows | covered | p-value |"
    yield "|---:|---|---|---:|---:|---:|"
    for row in laws.itertuples():
        p = stats.binomtest(row.covered, row.new_rows, LEVEL).pvalue
        named = row.group if row.group == "all" else f"{float(row.group):.0%} of the rows"
        share = row.covered / row.new_rows
        yield (
            f"| {row.calibration_rows} | {row.cutoffs} | {named} | {row.new_rows:,} | {share:.3f} "
            f"| {p:.2g} |"
        )


def add_commands(commands) -> None:
    help_ = "groups that overlap: time and cutoffs beside two other packages, and the exact law"
    parser = commands.add_parser("overlapping", help=help_, description=help_)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--law", type=Path, default=LAW_RESULTS, help="the rows of the law")
    parser.add_argument("--write", type=Path, help="a page whose table is to be replaced")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    known = rows.known(args.results, FIELDS[:3])
    for kind in KINDS:
        for n in SIZES:
            for method, (_, libraries) in METHODS.items():
                if (kind, n, method) not in known and all(map(find_spec, libraries.split())):
                    rows.append(args.results, FIELDS, [score(kind, n, method)])
    known = rows.known(args.law, LAW_FIELDS[:2])
    for n in LAW_ROWS:
        for cutoffs in ("randomised", "plain"):
            if (n, cutoffs) not in known:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # groups of few rows give warnings
                    rows.append(args.law, LAW_FIELDS, list(law(n, cutoffs)))
    found, laws = pd.read_csv(args.results), pd.read_csv(args.law, dtype={"group": str})
    pages.show(table(found, laws), "overlapping", args.write)
    return 0
