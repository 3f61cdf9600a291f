"""The exact search for lambda beside the plain grid loop: `python -m benchmarks.calibration`

The loop is Algorithm 2 with the paper's grid of 4,011 values. It computes only one order statistic
and one loss per value. Both run on the same rows in the same process.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from clearbands import PAPER_LAMBDAS, ClearCalibrator
from clearbands.calibration.conformal import rank
from clearbands.rows.bands import on_side_of

LEVEL = 0.95
SIZES = (200, 2_000, 20_000, 200_000, 2_000_000)
LARGEST_GRID = 200_000  # with more rows the loop would take minutes


def calibration_rows(n: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    aleatoric = rng.uniform(0.5, 1.5, size=(n, 2)) * rng.lognormal(0, 0.5, size=(n, 1))
    epistemic = rng.uniform(0.5, 1.5, size=(n, 2)) * rng.lognormal(0, 0.7, size=(n, 1))
    noise = 0.7 * aleatoric.mean(1) * rng.normal(size=n)
    error = 0.5 * epistemic.mean(1) * rng.normal(size=n)
    return noise + error, np.zeros(n), aleatoric, epistemic


def plain_grid(y, center, aleatoric, epistemic) -> float:
    """Return the smallest loss over the grid."""
    n, tail = len(y), (1 - LEVEL) / 2
    k = rank(n, LEVEL)
    distance = np.abs(y - center)
    ale, epi = on_side_of(y, center, aleatoric), on_side_of(y, center, epistemic)
    all_ale, all_epi = aleatoric.sum(), epistemic.sum()
    best = np.inf
    for lambda_ in PAPER_LAMBDAS:
        width = ale + lambda_ * epi
        gamma1 = np.partition(distance / width, k - 1)[k - 1]
        outside = np.maximum(distance - gamma1 * width, 0).sum()
        best = min(best, (tail * gamma1 * (all_ale + lambda_ * all_epi) + outside) / (2 * n))
    return best


def seconds(function, *arguments, repeats: int) -> float:
    """Return the seconds of the fastest run, after one run that warms up."""
    function(*arguments)
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    args = parser.parse_args()
    started = time.perf_counter()
    ClearCalibrator(LEVEL).fit(*calibration_rows(100))
    print(
        f"first call, with compilation or the cache of it: {time.perf_counter() - started:.1f} s\n"
    )
    print("| rows | exact, ms | grid, ms | ratio | loss, exact / grid - 1 | peak memory, MB |")
    print("|---:|---:|---:|---:|---:|---:|")
    for n in args.sizes:
        rows = calibration_rows(n)
        exact = seconds(ClearCalibrator(LEVEL).fit, *rows, repeats=5 if n <= 20_000 else 1)
        tracemalloc.start()
        fitted = ClearCalibrator(LEVEL).fit(*rows)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        if n > LARGEST_GRID:
            print(f"| {n:,} | {1e3 * exact:,.2f} | | | | {peak:,.1f} |")
            continue
        grid = seconds(plain_grid, *rows, repeats=1)
        excess = fitted.loss_ / plain_grid(*rows) - 1
        print(
            f"| {n:,} | {1e3 * exact:,.2f} | {1e3 * grid:,.0f} | {grid / exact:,.0f} | "
            f"{excess:+.1e} | {peak:,.1f} |"
        )


if __name__ == "__main__":
    main()
