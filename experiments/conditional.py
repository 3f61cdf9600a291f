"""The command `conditional`: where coverage holds. Rows are appended as they are computed.

The rows are those of the benchmark: 80 % train and calibrate, and the rest judges, at 90 %. Each
method's intervals are judged by measures that show a coverage that depends on x:

- ERT in its L1 form: the mean of |coverage at x - level|, as far as a classifier can tell it;
- worst slab: the coverage between two planes that a search on the other half of the rows found;
- fifths: the mean of |coverage - level| over fifths of the rows by width, by the middle of the
  interval, and by the distance to the ten nearest training rows, of standardised columns.

"chance" are intervals that cover every row with a probability of 90 %, whatever its x. They show
the values of the measures if there is nothing to find.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from clearbands import diagnostics, fast, metrics, variant_a
from clearbands.rows.bands import covered
from experiments import datasets, default, pages, peers, protocol, rows
from experiments.case import Case, Result
from experiments.fitted import Fitted

LEVEL = 0.9
RESULTS = Path(__file__).parent / "results" / "conditional.csv"
SETS = (
    *("energy_efficiency", "concrete", "insurance", "airfoil"),
    *("parkinsons", "kin8nm", "powerplant", "sulfur"),
)
CHANCE = "chance"
FIELDS = (
    *("dataset", "seed", "level", "method", "picp", "quantile_loss", "ert", "ert_under", "slab"),
    *("by_width", "by_middle", "by_distance", "cpu_seconds"),
)
JUDGED = {"ert": False, "slab": True, "by_width": False, "by_middle": False, "by_distance": False}
"""The measures, and whether more is better."""
PEERS = (
    *("MAPIE CQR", "MAPIE cross-conformal, LightGBM", "crepes", "forest CQR", "LightGBM CQR"),
    *("CatBoost CQR", "linear CQR", "Gaussian process", "chimeraboost"),
)
N_NEAREST, N_FIFTHS = 10, 5

Ways = dict[str, Callable[[Case], np.ndarray]]


def ways() -> Ways:
    """Return the functions that make intervals (n, 2) of test rows, by name."""
    own: Ways = {
        "clearbands": lambda case: default.on_all_rows(case).intervals,
        "fast()": quick,
        "variant (a)": paper,
        CHANCE: by_chance,
    }
    found = peers.installed()
    return own | {name: _intervals_of(found[name].run) for name in PEERS if name in found}


def _intervals_of(run: Callable[[Case], Result]) -> Callable[[Case], np.ndarray]:
    return lambda case: run(case).intervals


def quick(case: Case) -> np.ndarray:
    model = fast(confidence_level=case.level, random_state=case.seed)
    known = np.union1d(case.split.train, case.split.validation)
    model.fit(case.X[known], case.y[known])
    return model.predict_interval(case.X[case.split.test])[1][:, :, 0]


def paper(case: Case) -> np.ndarray:
    train, held_out, test = case.split.train, case.split.validation, case.split.test
    model = variant_a(confidence_level=case.level, random_state=case.seed)
    model.fit(case.X[train], case.y[train], X_cal=case.X[held_out], y_cal=case.y[held_out])
    return model.predict_interval(case.X[test])[1][:, :, 0]


def by_chance(case: Case) -> np.ndarray:
    """Return intervals that cover each row by chance, so narrow that they lie near its target."""
    y, rng = case.y[case.split.test], np.random.default_rng(case.seed)
    width = rng.lognormal(0, 0.3, len(y)) * case.y.std() * 1e-6
    beside = np.where(rng.random(len(y)) < case.level, 0, 2) * width
    low = y + beside - rng.random(len(y)) * width
    return np.column_stack([low, low + width])


def score(name: str, seed: int, level: float, method: str) -> dict[str, float | str]:
    X, y = datasets.load(name)
    split = protocol.split_rows(len(y), seed)
    parts = [Fitted(y[of]) for of in (split.validation, split.calibration, split.test)]
    case = Case(*parts, False, X, y, split, seed, level)
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        intervals = ways()[method](case)
    seconds = time.process_time() - started
    return {
        "dataset": name,
        "seed": seed,
        "level": level,
        "method": method,
        **judged(y[split.test], intervals, X[split.test], distance_from(X, split), level),
        "cpu_seconds": seconds,
    }


def judged(
    y: np.ndarray, intervals: np.ndarray, X: np.ndarray, distance: np.ndarray, level: float
) -> dict[str, float]:
    """Return all measures of intervals (n, 2)."""
    risk = diagnostics.excess_risk(y, intervals, X, level)
    hit = covered(y, intervals)
    return {
        "picp": metrics.picp(y, intervals),
        "quantile_loss": metrics.quantile_loss(y, intervals, level),
        "ert": risk.total,
        "ert_under": risk.under,
        "slab": diagnostics.worst_slab(y, intervals, X).cell.coverage,
        "by_width": gap(hit, intervals[:, 1] - intervals[:, 0], level),
        "by_middle": gap(hit, intervals.mean(axis=1), level),
        "by_distance": gap(hit, distance, level),
    }


def gap(hit: np.ndarray, values: np.ndarray, level: float) -> float:
    """Return the mean of |coverage - level| over fifths of the rows by these values."""
    fifths = np.array_split(hit[np.argsort(values, kind="stable")], N_FIFTHS)
    return float(np.mean([abs(each.mean() - level) for each in fifths]))


def distance_from(X: np.ndarray, split: protocol.Split) -> np.ndarray:
    """Return the mean distance (n,) of each test row to the nearest training rows."""
    scaler = StandardScaler().fit(X[split.train])
    near = NearestNeighbors(n_neighbors=N_NEAREST).fit(scaler.transform(X[split.train]))
    return near.kneighbors(scaler.transform(X[split.test]))[0].mean(axis=1)


def table(found: pd.DataFrame) -> Iterator[str]:
    """Yield means over the sets, of splits that all methods have, and mean ranks of the methods."""
    n_methods = found["method"].nunique()
    splits = found.groupby(["dataset", "seed"])["method"].transform("nunique")
    found = found[splits == n_methods]
    means = found.groupby(["dataset", "method"])[[*FIELDS[4:]]].mean()
    sets = means.index.get_level_values("dataset").unique()
    n_splits = found.groupby("dataset")["seed"].nunique()
    named = ", ".join(f"{name} ({n_splits[name]})" for name in SETS if name in sets)
    yield f"Sets, with their splits: {named}. In brackets the mean rank without chance."
    yield ""
    fifths = "fifths by width | by middle | by distance"
    yield f"| method | ERT | of it too little | worst slab | {fifths} | coverage | loss | CPU s |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    real = means.drop(index=CHANCE, level="method")
    ranks = pd.DataFrame(
        {
            metric: real[metric].groupby("dataset").rank(ascending=not more_is_better)
            for metric, more_is_better in JUDGED.items()
        }
    )
    ranks = ranks.groupby("method").mean()
    averages = means.groupby("method").mean()
    loss = real["quantile_loss"].groupby("dataset").rank().groupby("method").mean()
    for method in [*ranks.mean(axis=1).sort_values().index, CHANCE]:
        row, is_real = averages.loc[method], method != CHANCE

        def cell(metric: str) -> str:
            rank = f" ({ranks.loc[method, metric]:.1f})" if is_real else ""  # noqa: B023
            return f"{row[metric]:.3f}{rank}"  # noqa: B023

        parts = [cell("ert"), f"{row['ert_under']:.3f}", *map(cell, [*JUDGED][1:])]
        parts += [f"{row['picp']:.3f}", f"({loss[method]:.1f})" if is_real else ""]
        parts += [f"{row['cpu_seconds']:.1f}" if is_real else ""]
        yield f"| {method} | {' | '.join(parts)} |"


def add_commands(commands) -> None:
    help_ = "where coverage holds: ERT, worst slab and fifths of the default, its kin and peers"
    parser = commands.add_parser("conditional", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(protocol.SEEDS[:3]))
    parser.add_argument("--level", type=float, default=LEVEL)
    parser.add_argument("--methods", nargs="+", help="some of the methods alone")
    pages.add_options(parser, RESULTS)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    known = rows.known(args.results, FIELDS[:4])
    for seed in () if args.table else args.seeds:
        for name in args.datasets:
            for method in args.methods or ways():
                if (name, seed, args.level, method) not in known:
                    row = score(name, seed, args.level, method)
                    rows.append(args.results, FIELDS, [row])
    found = pd.read_csv(args.results).query("level == @args.level")
    name = "conditional" if args.level == LEVEL else f"conditional at {args.level:g}"
    pages.show(table(found), name, args.write)
    return 0
