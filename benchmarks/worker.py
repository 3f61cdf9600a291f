"""One measured run: `python -m benchmarks.worker PROGRAM VARIANT ROWS.npz OUT.npz`

Imports and a small fit come first and are not measured. --warm-up-only measures that small fit.
"""

from __future__ import annotations

import argparse
import importlib
import json
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from benchmarks.measure import measure
from benchmarks.rows import Rows

WARM_UP_ROWS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("variant")
    parser.add_argument("rows")
    parser.add_argument("out")
    parser.add_argument("--warm-up-only", action="store_true")
    args = parser.parse_args()
    program = importlib.import_module(f"benchmarks.{args.program}")
    rows = Rows.load(args.rows)
    small = rows.first(WARM_UP_ROWS)
    if args.warm_up_only:
        _, cost = measure(lambda: program.warm_up(small, args.variant))
        bounds = None
    else:
        program.warm_up(small, args.variant)
        bounds, cost = measure(lambda: program.run(rows, args.variant))
    facts = {**cost._asdict(), "versions": versions(program.DISTRIBUTIONS)}
    arrays = {} if bounds is None else dict(zip(bounds._fields, bounds, strict=True))
    np.savez(args.out, facts=json.dumps(facts), **arrays)


def versions(distributions: tuple[str, ...]) -> str:
    found = []
    for name in distributions:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


if __name__ == "__main__":
    main()
