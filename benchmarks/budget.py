"""The cost of the searches of `time_budget`: `python -m benchmarks.budget`

For simulated tables, the script prints the CPU seconds of a fit with each search of the ladder, as
multiples of the time of one member with 400 trees. These are the numbers of
`clearbands.selection.model_search.LADDER`.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.measure import cpu_seconds, measure
from benchmarks.stages import made_table, warm_up
from clearbands import ClearRegressor
from clearbands.models.bagging import fit_bag
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import Draws
from clearbands.selection.model_search import LADDER

SIZES = ((300, 4), (1_000, 8), (5_000, 10), (20_000, 8), (100_000, 20))


def member_seconds(X: np.ndarray, y: np.ndarray) -> float:
    """Return the CPU seconds of one member of 400 trees on all rows."""
    started = cpu_seconds()
    once = Draws(np.ones((1, len(y)), np.uint8))
    fit_bag(SymmetricTrees(random_state=0), X, y, once, n_jobs=1, stage="timing")
    return cpu_seconds() - started


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    warm_up()
    for size in SIZES:
        X, y = made_table(*size)
        member = member_seconds(X, y)
        for number, rung in enumerate(LADDER, start=1):
            model = ClearRegressor(search=rung.search, random_state=0, n_jobs=1)
            _, cost = measure(lambda m=model, X=X, y=y: m.fit(X, y))
            ratio = cost.cpu_seconds / member
            print(
                f"{size[0]:,} x {size[1]}, search {number}: {cost.cpu_seconds:.1f} s, "
                f"{ratio:.0f} members of {member:.3f} s"
            )


if __name__ == "__main__":
    main()
