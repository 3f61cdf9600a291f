"""A test whether choosing costs coverage if rows are few: the default beside a single pair.

In the default's competition there are some thirty centers (six models with up to five numbers of
trees), of which three go on with five noise models each. Data and exact coverage are those of
`small_samples`. Rows are appended as they are computed, and existing rows are not run again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals
from experiments.defaults import append
from experiments.small_samples import NEW_ROWS, deviation_at, exact_coverage, mean_at

LEVELS = (0.9, 0.95)
TRAINING_ROWS = (100, 200, 1000)
RESULTS = Path(__file__).parent / "results" / "choosing.csv"
MODELS: Mapping[str, Callable[[], ClearRegressor]] = {
    "default": ClearRegressor,
    "without rivals": lambda: ClearRegressor(FoldedEnsemble(), ScaledResiduals(), show_center=True),
}


def coverages(name: str, n: int, seed: int) -> Iterator[dict[str, float | str]]:
    """Yield the coverage and width of one model on one draw of n rows, level by level."""
    rng = np.random.default_rng([n, seed])
    X, new = rng.normal(size=(n, 4)), rng.normal(size=(NEW_ROWS, 4))
    y = mean_at(X) + deviation_at(X) * rng.normal(size=n)
    model = MODELS[name]().set_params(confidence_level=list(LEVELS), random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models warn that rows are few, as is intended here
        _, intervals = model.fit(X, y).predict_interval(new)
    for j, level in enumerate(LEVELS):
        bounds = intervals[:, :, j]
        yield {
            "model": name,
            "rows": n,
            "seed": seed,
            "level": level,
            "coverage": exact_coverage(bounds, mean_at(new), deviation_at(new)),
            "width": float(np.mean(bounds[:, 1] - bounds[:, 0])),
        }


def table(rows: pd.DataFrame) -> str:
    """Write mean coverages with standard errors, and the default's width relative to the pair's."""
    lines = [
        "| rows | level | default | without rivals | default's width, % | draws |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for (n, level), part in rows.groupby(["rows", "level"]):
        both = part.pivot(index="seed", columns="model", values=["coverage", "width"]).dropna()
        cells = [_mean_of(both["coverage"][name]) for name in MODELS]
        change = 100 * (both["width"]["default"] / both["width"]["without rivals"] - 1).mean()
        shown = " | ".join(cells)
        lines.append(f"| {n} | {level:.0%} | {shown} | {change:+.1f} | {len(both)} |")
    return "\n".join(lines)


def _mean_of(coverage: pd.Series) -> str:
    return f"{coverage.mean():.3f} ± {coverage.sem():.3f}"


def add_commands(commands) -> None:
    help_ = "whether choosing between many candidates costs coverage where rows are few"
    parser = commands.add_parser("choosing", help=help_, description=help_)
    parser.add_argument("--rows", nargs="+", type=int, default=list(TRAINING_ROWS))
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    done = pd.read_csv(args.results) if args.results.exists() else pd.DataFrame()
    keys = done.reindex(columns=["model", "rows", "seed"]).to_numpy()
    known = {(model, int(n), int(seed)) for model, n, seed in keys}
    wanted = [(m, n, seed) for n in args.rows for seed in range(args.draws) for m in MODELS]
    for key in wanted:
        if key not in known:
            for row in coverages(*key):
                append(row, args.results)
    print(table(pd.read_csv(args.results)))
    return 0
