"""Trees and networks in one pool: `python -m experiments.mixed_pool`

It compares the paper's variant (a), the default that clearbands had before parts competed, and this
default with a network among the models that compete for the center, on the splits of
`experiments.defaults`. The validation rows choose, and only the winner is refitted on bootstraps.
Rows are appended to a file as they finish.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from clearbands import ClearRegressor, NetworkQuantiles, PCSEnsemble, ResidualQuantiles
from clearbands.models.pools import default_pool, residual_boosting
from experiments import datasets, defaults

RESULTS = Path(__file__).parent / "results" / "mixed_pool.csv"
MIXED = "default with a network in the pool"


def former_default(n_rows: int, **others: Any) -> ClearRegressor:
    """Return the former default, whose pool may have other models as well."""
    return ClearRegressor(
        PCSEnsemble(default_pool() | others),
        ResidualQuantiles(residual_boosting(n_rows), n_bootstraps=25),
        calibration="joint",
    )


def with_network(n_rows: int) -> ClearRegressor:
    network = NetworkQuantiles(
        hidden=(128, 64), learning_rate=1e-3, batch_size=64, max_epochs=500, patience=30
    )
    return former_default(n_rows, network=network)


SETTINGS: Mapping[str, Callable[[int], ClearRegressor]] = {
    defaults.PAPER: defaults.SETTINGS[defaults.PAPER],
    "default": former_default,
    MIXED: with_network,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=defaults.SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[777])
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    defaults.run_missing(SETTINGS, args.datasets, args.seeds, args.results)
    print(defaults.table(pd.read_csv(args.results), list(SETTINGS)))


if __name__ == "__main__":
    datasets.run(main)
