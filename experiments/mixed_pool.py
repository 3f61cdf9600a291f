"""Trees and networks in one pool: `python -m experiments.mixed_pool`

It compares the default with a network among the models that compete for the center, the plain
default, and the paper's variant (a), on the splits of `experiments.defaults`. The validation rows
choose, and only the winner is refitted on bootstraps. Rows are appended to a file as they finish.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from clearbands import NetworkQuantiles, PCSEnsemble
from clearbands.models.pools import default_pool
from experiments import datasets, defaults

RESULTS = Path(__file__).parent / "results" / "mixed_pool.csv"
MIXED = "default with a network in the pool"


def settings() -> dict[str, dict[str, Any]]:
    """Return the parameters of ClearRegressor by the names in the table."""
    network = NetworkQuantiles(
        hidden=(128, 64), learning_rate=1e-3, batch_size=64, max_epochs=500, patience=30
    )
    return {
        defaults.PAPER: defaults.settings()[defaults.PAPER],
        "default": {},
        MIXED: {"epistemic": PCSEnsemble(default_pool() | {"network": network})},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=defaults.SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(defaults.SEEDS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    defaults.run_missing(settings(), args.datasets, args.seeds, args.results)
    print(defaults.table(pd.read_csv(args.results), list(settings())))


if __name__ == "__main__":
    datasets.run(main)
