"""What it brings that widths follow a trend of the coverage: `python -m experiments.trend`.

The default is fitted to the rows of the benchmark. Its unseen rows then calibrate twice, with the
trend and without, so that both judge the same models on the same test rows. Rows are appended as
they exist. Of rows beyond the training data, which the default widens, neither is widened.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from clearbands import ClearCalibrator, ClearRegressor, diagnostics, metrics
from clearbands.calibration.calibration_set import CalibrationSet
from clearbands.calibration.trend import Trend
from clearbands.regressor import EPISTEMIC_SHARES
from clearbands.rows.bands import Components, covered, make_interval
from clearbands.selection.fit_result import FitResult
from clearbands.tables.encoder import encode
from experiments import conditional, datasets, pages, protocol, rows

RESULTS = Path(__file__).parent / "results" / "trend.csv"
SETS = (
    *("energy_efficiency", "insurance", "airfoil", "concrete", "powerplant", "sulfur", "kin8nm"),
    *("parkinsons", "naval_propulsion", "elevator", "computer", "ca_housing", "ailerons"),
    "miami_housing",
)
LEVELS = (0.9, 0.95)
JUDGED = ("quantile_loss", "picp", "by_width", "by_middle", "ert", "slab")
FIELDS = (
    *("dataset", "seed", "level", "is_changed", "slope_of_length", "slope_of_center"),
    *(f"{metric}_{way}" for metric in JUDGED for way in ("without", "with")),
)


class Fitted(NamedTuple):
    """What a fit says of the rows that calibrate and of the test rows, without a trend."""

    calibration: CalibrationSet
    X: np.ndarray  # of the test rows
    y: np.ndarray
    components: Components


class _Kept(ClearRegressor):
    """The default, which keeps what it knows before it is calibrated."""

    def _store_fit(self, result: FitResult, *others: Any) -> None:
        self.result_ = result
        super()._store_fit(result, *others)


def fit(name: str, seed: int, level: float) -> Fitted:
    """Fit the default to the rows of the benchmark, and ask it about the test rows."""
    X, y = datasets.load(name)
    split = protocol.split_rows(len(y), seed)
    known = np.union1d(split.train, split.validation)
    model = _Kept(confidence_level=level, random_state=seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[known], y[known])
    result, inner = model.result_, model.predictor_.targets.inner
    numbers, components, shrinkage = result.chosen.unseen
    calibration = CalibrationSet.of(result.train.take(numbers), components, inner, shrinkage)
    plain = replace(model.predictor_, parts=replace(model.parts_, trend=None))
    new = plain.components(encode(plain.encoder, X[split.test]))
    return Fitted(calibration, X[split.test], y[split.test], new)


def score(fitted: Fitted, level: float) -> dict[str, float | bool]:
    """Return what both ways of calibration make of the test rows."""
    y, components = fitted.calibration.y, fitted.calibration.components
    trend = Trend.of(y, components, [level])
    found: dict[str, float | bool] = {"is_changed": trend is not None}
    slopes = np.zeros(2) if trend is None else trend.slopes[0]
    found |= {"slope_of_length": float(slopes[0]), "slope_of_center": float(slopes[1])}
    without = judged(fitted, components, fitted.components, level)
    changed = without
    if trend is not None:
        changed = judged(fitted, trend(components), trend(fitted.components), level)
    for metric in JUDGED:
        found |= {f"{metric}_without": without[metric], f"{metric}_with": changed[metric]}
    return found


def judged(fitted: Fitted, known: Components, new: Components, level: float) -> dict[str, float]:
    """Calibrate on known rows, and judge the intervals of new ones."""
    calibrator = ClearCalibrator([level], **EPISTEMIC_SHARES).fit(fitted.calibration.y, *known)
    widths = np.add(*calibrator.scale(new.aleatoric, new.epistemic))[:, :, 0]
    intervals, y = make_interval(new.center, widths), fitted.y
    hit = covered(y, intervals)
    return {
        "quantile_loss": metrics.quantile_loss(y, intervals, level),
        "picp": float(hit.mean()),
        "by_width": conditional.gap(hit, widths.sum(axis=1), level),
        "by_middle": conditional.gap(hit, intervals.mean(axis=1), level),
        "ert": diagnostics.excess_risk(y, intervals, fitted.X, level).total,
        "slab": diagnostics.worst_slab(y, intervals, fitted.X).cell.coverage,
    }


def table(found: pd.DataFrame) -> Iterator[str]:
    """Yield means over the sets, each the mean of its splits, for every level."""
    measures = "coverage | fifths by width | by middle | ERT | worst slab"
    yield f"| level | splits | changed | loss, % | least | most | {measures} |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for level, part in found.groupby("level"):
        means = part.groupby("dataset").mean(numeric_only=True)
        change = 100 * (means["quantile_loss_with"] / means["quantile_loss_without"] - 1)
        cells = [f"{level:g}", str(len(part)), str(int(part["is_changed"].sum()))]
        cells += [f"{change.mean():+.2f}", f"{change.min():+.2f}", f"{change.max():+.2f}"]
        for metric in JUDGED[1:]:
            ways = (means[f"{metric}_{way}"].mean() for way in ("without", "with"))
            cells.append(" → ".join(f"{each:.4f}" for each in ways))
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(protocol.SEEDS[:2]))
    pages.add_options(parser, RESULTS)
    args = parser.parse_args()
    known = rows.known(args.results, FIELDS[:3])
    for seed in () if args.table else args.seeds:
        for level in LEVELS:
            for name in args.datasets:
                if (name, seed, level) not in known:
                    key = {"dataset": name, "seed": seed, "level": level}
                    found = score(fit(name, seed, level), level)
                    rows.append(args.results, FIELDS, [key | found])
    pages.show(table(pd.read_csv(args.results)), "trend", args.write)


if __name__ == "__main__":
    datasets.run(main)
