"""`python -m tests.fuzz`: every target for an equal share of the time."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from tests.fuzz import (
    calibrator,
    chances,
    copies,
    crafted_files,
    explore,
    fits,
    model_files,
    packed_tables,
    promises,
    service,
    tables,
    updates,
)
from tests.fuzz.campaign import Outcome, run, table

MODULES = (
    calibrator,
    chances,
    promises,
    fits,
    model_files,
    crafted_files,
    service,
    explore,
    packed_tables,
    tables,
    updates,
    copies,
)
TARGETS = [*(module.TARGET for module in MODULES), copies.HONEST]
SHOWN = 5  # how many broken cases are printed
START, END = "<!-- fuzz -->\n", "<!-- end of fuzz -->"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for all targets together")
    parser.add_argument(
        "--count", type=int, help="so many cases of a target, however long it takes"
    )
    parser.add_argument("--only", choices=[target.name for target in TARGETS])
    parser.add_argument("--seed", type=int, help="this one case")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--write", type=Path, help="a page whose table is to be replaced")
    args = parser.parse_args(arguments)
    targets = [target for target in TARGETS if args.only in (None, target.name)]
    seconds = 60 * args.minutes / len(targets) if args.count is None else math.inf
    first, most = (args.first, args.count) if args.seed is None else (args.seed, 1)
    outcomes = []
    for target in targets:
        outcomes.append(run(target, seconds, first=first, most=most))
        _tell(outcomes[-1])
    if args.write is not None:
        _replace(args.write, table(outcomes))
    return 1 if any(outcome.broken for outcome in outcomes) else 0


def _tell(outcome: Outcome) -> None:
    sys.stdout.write(
        f"{outcome.target.name}: {outcome.cases:,} cases in {outcome.seconds:.0f} s, "
        f"{len(outcome.broken)} broken\n"
    )
    for seed, what in list(outcome.broken.items())[:SHOWN]:
        sys.stdout.write(f"\nseed {seed}:\n{what}\n")
    sys.stdout.flush()


def _replace(page: Path, text: str) -> None:
    before, rest = page.read_text().split(START)
    page.write_text(f"{before}{START}{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    sys.exit(main())
