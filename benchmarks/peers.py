"""What the default costs beside quick rivals, on one thread: `python -m benchmarks.peers`

10,000 rows of diamond, and up to 6,000 of five other sets, at 90 %; the libraries are those of
`pip install --group peers`. CPU seconds cover the fit and the intervals of up to 2,000 test rows.
Rows are appended to a file as they finish, and rows that are there are not run again; `--table`
only prints what is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import load_average, measure
from benchmarks.tables import markdown
from clearbands import ClearRegressor, fast, metrics
from experiments import datasets, peers, rows
from experiments.case import Case, Method, Result
from experiments.fitted import Fitted
from experiments.protocol import FIRST_SEED, Split, split_rows

LEVEL = 0.9
LARGE = "diamond"
SETS = {
    LARGE: 10_000,
    **dict.fromkeys(("airfoil", "concrete", "kin8nm", "elevator", "superconductor"), 6_000),
}
"""The most rows that train and calibrate."""

MOST_TEST_ROWS = 2_000
OURS, RIVALS = ("default", "fast()"), ("LightGBM CQR", "chimeraboost")
RESULTS = Path(__file__).parent / "results" / "peers.csv"
FIELDS = (
    "dataset",
    "seed",
    "method",
    "rows",
    "columns",
    "cpu_seconds",
    "quantile_loss",
    "coverage",
    "load",
    "date",
)


def ours(case: Case, model: ClearRegressor) -> Result:
    used = np.concatenate([case.split.train, case.split.calibration])
    model.set_params(confidence_level=case.level, random_state=case.seed, n_jobs=1)
    model.fit(case.X[used], case.y[used])
    center, intervals = model.predict_interval(case.X[case.split.test])
    return Result(intervals[:, :, 0], center=center)


def methods() -> dict[str, Method]:
    """Return ours, and the rivals that are installed."""
    own = {
        "default": Method(lambda case: ours(case, ClearRegressor())),
        "fast()": Method(lambda case: ours(case, fast())),
    }
    there = peers.installed()
    return own | {name: there[name] for name in RIVALS if name in there}


def drawn(name: str, seed: int, most: int) -> Case:
    """Return a case whose first three quarters of the rows used train, and the others calibrate."""
    X, y = datasets.load(name)
    split = split_rows(len(y), seed)
    used = np.random.default_rng(seed).permutation(np.union1d(split.train, split.calibration))[
        :most
    ]
    middle = len(used) * 3 // 4
    test = split.test[:MOST_TEST_ROWS]
    split = Split(used[:middle], used[middle:], used[middle:], test)
    parts = [Fitted(y[own]) for own in (split.validation, split.calibration, split.test)]
    return Case(*parts, False, X, y, split, seed, LEVEL)


def score(name: str, seed: int, method: str) -> dict[str, Any]:
    case = drawn(name, seed, SETS[name])
    found, cost = measure(lambda: methods()[method].run(case))
    y = case.y[case.split.test]
    return {
        "dataset": name,
        "seed": seed,
        "method": method,
        "rows": len(case.split.train) + len(case.split.calibration),
        "columns": case.X.shape[1],
        "cpu_seconds": cost.cpu_seconds,
        "quantile_loss": metrics.quantile_loss(y, found.intervals, LEVEL),
        "coverage": metrics.picp(y, found.intervals),
        "load": load_average(),
        "date": date.today().isoformat(),
    }


def table(found: pd.DataFrame) -> Iterator[str]:
    """Yield CPU seconds, how losses differ from the default's, and how long the default takes."""
    shape = ["dataset", "rows", "columns"]
    seconds = found.pivot_table("cpu_seconds", shape, "method")
    losses = found.pivot_table("quantile_loss", shape, "method")
    change = 100 * (losses.div(losses["default"], axis=0) - 1)
    there = [name for name in (*OURS, *RIVALS) if name in seconds]
    lines = []
    for key in seconds.index:
        cells = [f"{seconds.loc[key, name]:.1f} ({change.loc[key, name]:+.1f} %)" for name in there]
        lines.append((key[0], f"{key[1]:,} x {key[2]}", *cells))
    yield markdown(("set", "rows x columns", *there), lines)
    is_large = seconds.index.get_level_values("dataset") == LARGE
    for name in there[1:]:
        ratio = seconds["default"] / seconds[name]
        others = np.exp(np.log(ratio[~is_large]).mean())
        yield f"\nCPU of the default over that of {name}: {others:.2f} (mean without {LARGE})"
        if is_large.any():
            yield f"and {ratio[is_large].mean():.2f} ({LARGE})."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[FIRST_SEED])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if not args.table:
        run(args.sets, args.seeds, args.results)
    print("\n".join(table(pd.read_csv(args.results))))


def run(sets: list[str], seeds: list[int], results: Path) -> None:
    """Append the rows that are missing; on each set methods follow each other."""
    done, warm = rows.known(results, ("dataset", "seed", "method")), set[str]()
    for name, seed in ((name, seed) for seed in seeds for name in sets):
        for method, how in methods().items():
            if (name, seed, method) in done:
                continue
            if method not in warm:
                how.run(drawn("airfoil", FIRST_SEED, 600))  # compile, or load what was compiled
                warm.add(method)
            rows.append(results, FIELDS, [score(name, seed, method)])


if __name__ == "__main__":
    datasets.run(main)
