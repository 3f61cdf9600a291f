"""Simultaneous quantiles with and without skip connections: `python -m experiments.skip_networks`

The paper describes layer normalisation; its authors' program has batch normalisation and a skip
connection. This matters for targets that are nearly linear, as naval_propulsion's. The script
prints the test quantile loss of SQR beside the published one.
"""

from __future__ import annotations

import argparse

import numpy as np

from clearbands import SimultaneousQuantiles, metrics
from experiments import datasets, published
from experiments.protocol import FIRST_SEED, LEVEL, split_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["naval_propulsion"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[FIRST_SEED])
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--max-epochs", type=int, default=3000)
    args = parser.parse_args()
    theirs = published.per_seed("deep")
    print("| dataset | seed | published | layer normalisation | skip connections |")
    print("|---|---:|---:|---:|---:|")
    for name in args.datasets:
        for seed in args.seeds:
            losses = [theirs[name, seed - FIRST_SEED, "SQR", "quantileloss"]]
            losses += [loss(name, seed, skip, args) for skip in (False, True)]
            shown = " | ".join(f"{value:.3g}" for value in losses)
            print(f"| {name} | {seed} | {shown} |", flush=True)


def loss(name: str, seed: int, skip: bool, args: argparse.Namespace) -> float:
    X, y = datasets.load(name)
    split = split_rows(len(y), seed)
    networks = SimultaneousQuantiles(
        args.members,
        skip=skip,
        max_epochs=args.max_epochs,
        confidence_level=LEVEL,
        random_state=seed,
    ).fit(X[split.train], y[split.train])
    lower, _, upper = networks.predict_quantiles(X[split.test]).T
    return metrics.quantile_loss(y[split.test], np.stack([lower, upper], axis=1), LEVEL)


if __name__ == "__main__":
    datasets.run(main)
