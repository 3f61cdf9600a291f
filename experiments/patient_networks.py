"""Deep ensembles with the authors' patience: `python -m experiments.patient_networks`

The paper's text says a patience of 50. The authors' program checks the validation rows once in ten
epochs and waits for 50 checks, so for 500 epochs. This script scores DE and CLEAR with
`DeepEnsemble(patience=500)` beside the published values, those of the authors' program here, and
ours with a patience of 50. Rows that are in the file are not run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

from experiments import datasets, methods, protocol, results, their_networks
from experiments.networks import fit_networks
from experiments.run import Cell, make_case, score

PATIENCE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["airfoil"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[protocol.FIRST_SEED])
    args = parser.parse_args()
    path, schema = their_networks.ROWS.path, their_networks.ROWS
    results.prepare(path, schema)
    done = results.known(path, schema=schema)
    for name, seed in product(args.datasets, args.seeds):
        if ("patient", name, seed, 0, "CLEAR") not in done:
            results.append(path, *rows_of(name, seed), schema=schema)
    print("\n".join(their_networks.each_split(args.datasets, args.seeds, "quantile_loss")))


def rows_of(name: str, seed: int) -> Iterator[dict[str, Any]]:
    X, y = datasets.load(name)
    split = protocol.split_rows(len(y), seed)
    parts = fit_networks(X, y, {"standard": split}, seed, patience=PATIENCE)["standard"]
    case = make_case(X, y, split, parts, seed)
    for method in ("DE", "CLEAR"):
        how = methods.of("deep", "standard")[method]
        found = score(Cell(name, "deep", seed), "standard", method, how, case, parts.seconds)
        key = {"way": "patient", "dataset": name, "seed": seed, "draw": 0, "method": method}
        yield {**key, **found, "cpu_seconds": found["fit_seconds"]}


if __name__ == "__main__":
    datasets.run(main)
