"""UACQR around the forest of all rows, or with other forests: `python -m experiments.uacqr_ways`

UACQR-S of its authors' program moves the bounds of one forest that saw every training row; ours
moves the medians over the bootstraps, which is the program's option for bagging. With `--stock`,
the forests of quantile-forest, which cut columns anywhere, replace ours, which cut them into 256
bins. The script prints means over the seeds in the conformalized setting, beside the means of ten
that the paper prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd

from clearbands import AdditiveCalibrator, ForestQuantiles, metrics
from clearbands.baselines.uacqr import spread_components
from clearbands.rows.bands import Components, distances
from clearbands.rows.levels import pick_curves
from experiments import compare, datasets, methods
from experiments.fitted import Fitted, Parts
from experiments.parts import Curves
from experiments.protocol import BOOTSTRAPS, FIRST_SEED, LEVEL, split_rows
from experiments.run import make_case

SHOWN = ("quantile_loss", "niw", "nciw", "picp")
additive = methods.by(AdditiveCalibrator(LEVEL), methods.both)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--seeds", nargs="+", type=int, default=[FIRST_SEED])
    parser.add_argument("--stock", action="store_true", help="quantile-forest instead of ours")
    parser.add_argument("--bootstraps", type=int, default=BOOTSTRAPS)
    args = parser.parse_args()
    paper = compare.printed_means("c", "conformalized")
    print(f"| dataset | method | {' | '.join(f'{metric} | paper' for metric in SHOWN)} |")
    print(f"|---|---|{'---:|' * 2 * len(SHOWN)}")
    for name in args.datasets:
        found = pd.DataFrame([row for seed in args.seeds for row in scores(name, seed, args)])
        for method, values in found.groupby("method")[list(SHOWN)].mean().iterrows():
            printed_as = str(method).partition(",")[0]
            pairs = ((values[metric], paper[metric].at[name, printed_as]) for metric in SHOWN)
            cells = " | ".join(f"{ours:.4g} | {theirs:.4g}" for ours, theirs in pairs)
            print(f"| {name} | {method} | {cells} |", flush=True)


def scores(name: str, seed: int, args: argparse.Namespace) -> Iterator[dict[str, float | str]]:
    """Yield a row of measures for each way on one split."""
    X, y = datasets.load(name)
    split = split_rows(len(y), seed, "conformalized")
    backend = "quantile-forest" if args.stock else "native"
    forests = Curves(ForestQuantiles(backend=backend), args.bootstraps, LEVEL)
    forests.fit(X[split.train], y[split.train])
    rows = split.held_out
    members = forests.members(X[rows])
    whole = forests.model.fit(X[split.train], y[split.train]).predict_quantiles(X[rows])
    center, aleatoric, epistemic = around_whole(members, whole)
    fitted = Fitted(y[rows], center, epistemic, aleatoric, members_of_y=members)
    case = make_case(X, y, split, Parts(rows, fitted, {}), seed)
    ways = {
        "UACQR-P": methods.uacqr_p(case).intervals,
        "UACQR-S, medians of the bootstraps": methods.uacqr_s(case).intervals,
        "UACQR-S, the forest of all rows": additive(case).intervals,
    }
    middle = np.median(case.test.members_of_y[:, 1], axis=1)
    for way, intervals in ways.items():
        found = metrics.evaluate(case.test.y, middle, intervals, LEVEL)
        yield {"method": way, **found}


def around_whole(members: np.ndarray, whole: np.ndarray) -> Components:
    """Return the bounds of the whole forest, with the bootstraps' spread as epistemic widths."""
    center, lower, upper = pick_curves(whole, [LEVEL])
    spread = spread_components(members, [LEVEL]).epistemic
    return Components(center, distances(center, lower, upper), spread)


if __name__ == "__main__":
    datasets.run(main)
