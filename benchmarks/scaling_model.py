"""The time of a fit on many workers: `python -m benchmarks.scaling_model`

Tasks of a step are handed out as workers become free, and a step starts when the one before has
ended. `python -m benchmarks.scaling stages quarter.parquet` measured the constants on 250,000 rows;
they are per row if the work of a step is proportional to the rows.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 1000)
PIECE = 2**18


class Constants(NamedTuple):
    """CPU seconds for a table with 20 columns."""

    read: float  # the first pass over a million rows
    write: float  # the second pass over a million rows
    member: float  # a member of the center: a million rows, 100 trees of depth 6
    say: float  # the predictions of a million rows by members that did not see them
    noise: float  # a member of the noise: a million rows, 100 trees of depth 4
    driver: float  # choosing and calibrating, whatever the number of rows
    task: float = 0.01  # handing out a task and receiving its end


MEASURED = Constants(read=0.44, write=3.4, member=2.9, say=0.52, noise=2.7, driver=6.9)


def seconds(millions: float, n_workers: int, n_members: int, n_noise: int, c: Constants) -> float:
    """Return the seconds from the start to the end of a fit."""
    pieces = max(1, round(millions * 1e6 / PIECE))
    per_piece = millions / pieces
    steps = (
        [per_piece * c.read] * pieces,
        [per_piece * c.write] * pieces,
        [millions * 0.9 * c.member] * n_members,
        [per_piece * c.say] * pieces,
        [millions * 0.8 * c.noise] * n_noise,
    )
    return c.driver + sum(makespan(tasks, n_workers, c.task) for tasks in steps)


def makespan(tasks: list[float], n_workers: int, hand_out: float) -> float:
    """Return the seconds until all tasks have ended, which a scheduler hands out one by one."""
    free = [0.0] * min(n_workers, len(tasks))
    clock = 0.0
    for task in tasks:
        clock += hand_out
        heapq.heappushpop(free, max(clock, free[0]) + task)
    return max(free)


def main() -> None:
    cases = {"1 million": 1.0, "10 million": 10.0, "100 million": 100.0}
    print("| workers | " + " | ".join(f"{name} rows: s, efficiency" for name in cases) + " |")
    print("| ---: |" + " ---: |" * len(cases))
    alone = {name: seconds(n, 1, 20, 10, MEASURED) for name, n in cases.items()}
    for w in WORKERS:
        found = {name: seconds(n, w, 20, 10, MEASURED) for name, n in cases.items()}
        cells = [f"{found[n]:,.0f}, {100 * alone[n] / found[n] / w:.0f} %" for n in cases]
        print(f"| {w:,} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
