"""Coverage given x as rows become more: `python -m experiments.growing`.

The noise of simulated rows is normal, so the coverage of an interval at x is known exactly. Rows
are appended as they exist.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from clearbands import ClearRegressor, fast
from experiments import datasets, pages, rows

RESULTS = Path(__file__).parent / "results" / "growing.csv"
MODELS = {"clearbands": ClearRegressor, "fast()": fast}
SIZES, LEVEL, N_NEW = (300, 1_000, 3_000, 10_000), 0.9, 10_000
FIELDS = ("model", "rows", "seed", "coverage", "gap", "lowest", "excess_width", "cpu_seconds")


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X (n, 4), the means of y, and the deviations of its noise."""
    X = rng.uniform(-1, 1, (n, 4))
    mean = 2 * np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + X[:, 0] * X[:, 2]
    return X, mean, 0.2 + 0.5 * (1 + X[:, 1]) ** 2 / 4


def score(model: str, n: int, seed: int) -> dict[str, float | str]:
    """Fit n rows, and compare the coverage at each new x with the level."""
    rng = np.random.default_rng(seed)
    X, mean, deviation = draw(rng, n)
    y = mean + deviation * rng.normal(size=n)
    new, center, scale = draw(rng, N_NEW)
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = MODELS[model](confidence_level=LEVEL, random_state=seed).fit(X, y)
        bounds = fitted.predict_interval(new)[1][:, :, 0]
    return {
        "model": model,
        "rows": n,
        "seed": seed,
        **gaps(bounds, center, scale),
        "cpu_seconds": time.process_time() - started,
    }


def gaps(bounds: np.ndarray, center: np.ndarray, scale: np.ndarray) -> dict[str, float]:
    """Return how coverage at x and widths differ from those of the best intervals."""
    low, high = (norm.cdf((side - center) / scale) for side in bounds.T)
    best = 2 * norm.ppf((1 + LEVEL) / 2) * scale.mean()
    return {
        "coverage": float(np.mean(high - low)),
        "gap": float(np.mean(np.abs(high - low - LEVEL))),
        "lowest": float(np.quantile(high - low, 0.05)),
        "excess_width": float((bounds[:, 1] - bounds[:, 0]).mean() / best - 1),
    }


def table(found: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each model and number of rows, with means over the seeds."""
    yield "| model | rows | seeds | coverage | mean gap at x | lowest 5 % of x | width, % |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for (model, n), part in found.groupby(["model", "rows"]):
        mean = part[[*FIELDS[3:]]].mean()
        cells = [model, f"{n:,}", str(len(part)), f"{mean['coverage']:.3f}"]
        cells += [f"{mean['gap']:.3f}", f"{mean['lowest']:.3f}"]
        yield f"| {' | '.join(cells)} | {100 * mean['excess_width']:+.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    pages.add_options(parser, RESULTS)
    args = parser.parse_args()
    known = rows.known(args.results, FIELDS[:3])
    for seed in () if args.table else args.seeds:
        for model in MODELS:
            for n in args.rows:
                if (model, n, seed) not in known:
                    rows.append(args.results, FIELDS, [score(model, n, seed)])
    pages.show(table(pd.read_csv(args.results)), "growing", args.write)


if __name__ == "__main__":
    datasets.run(main)
