"""The accuracy of the time left that a fit reports: `python -m benchmarks.progress`

The script fits the default to tables. After a third of a fit, it compares the reported seconds left
with the true ones, and prints the differences as shares of the whole fit.
"""

from __future__ import annotations

import argparse
import io

import numpy as np

from benchmarks.stages import made_table, warm_up
from clearbands import ClearRegressor
from clearbands.engine.progress_bar import ProgressBar
from experiments import datasets

ROWS = 6_000


class Watch(ProgressBar):
    """A progress bar that stores its reports instead of drawing them."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.said: list[tuple[float, float]] = []

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self.note(stage, done, total):
            elapsed, _, left = self.look()
            if left is not None:
                self.said.append((elapsed, left))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=["concrete", "kin8nm", "elevator"])
    sets = parser.parse_args().sets
    warm_up()
    tables = {"made, 5,000 x 10": made_table(5_000, 10)}
    for name in sets:
        X, y = datasets.load(name)
        rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
        tables[name] = X[rows], y[rows]
    for name, (X, y) in tables.items():
        watch = Watch()
        ClearRegressor(random_state=0, n_jobs=1).fit(X, y, progress=watch)
        whole, _, _ = watch.look()
        elapsed, left = np.array(watch.said).T
        late = elapsed > whole / 3
        off = (elapsed + left - whole)[late] / whole
        print(
            f"{name}: {whole:.1f} s; said from a third on with an error of "
            f"{100 * np.median(np.abs(off)):.0f} % of it (median), {100 * np.abs(off).max():.0f} % "
            "(most)"
        )


if __name__ == "__main__":
    main()
