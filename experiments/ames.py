"""The Ames case study: which uncertainty dominates with few features, and which with few rows.

It runs the whole PCS pipeline: every combination of judgement calls on the data and of models is
fitted, and the best by validation error are refitted on bootstraps. Linear quantile regression of
the residuals is the aleatoric part. All errors, residuals and widths are in dollars, whatever the
scale on which a model learned.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV, LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    ClearRegressor,
    FixedRatioCalibrator,
    LinearQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
    metrics,
)
from clearbands.rows.split import Rows
from experiments import ames_data, results
from experiments.ames_choices import Choices, all_choices
from experiments.protocol import FIRST_SEED

LEVEL = 0.9
BEST = 0.1  # the share of the fits that is kept
BOOTSTRAPS = 10  # the number of bootstraps of each fit that is kept
KEY = ["scenario", "method"]
COLUMNS = [*KEY, "nciw", "quantile_loss", "width", "coverage", "lambda", "gamma1", "ratio"]
ROWS = results.Schema("Ames", results.FOLDER / "ames.csv", KEY, COLUMNS, packed=COLUMNS)


class Scenario(NamedTuple):
    """The columns and the share of the training rows from which models learn."""

    features: tuple[str, ...] | None = None
    share: float = 1.0

    def training_rows(self, train: Rows, seed: int) -> Rows:
        rows = self.columns(train)
        n = round(self.share * len(rows))
        drawn = np.random.RandomState(seed).permutation(len(rows))[:n]
        return rows.take(np.sort(drawn))

    def columns(self, rows: Rows) -> Rows:
        return rows if self.features is None else Rows(rows.X[list(self.features)], rows.y)


SCENARIOS = {
    "2 features": Scenario(features=("overall_qual", "gr_liv_area")),
    "all features": Scenario(),
    "all features, 50% data": Scenario(share=0.5),
    "all features, 20% data": Scenario(share=0.2),
}
CALIBRATORS = {
    "PCS": FixedRatioCalibrator(LEVEL, ratio=math.inf),
    "CQR": AdditiveCalibrator(LEVEL),
    "CLEAR": ClearCalibrator(LEVEL),
}


def run(names: Sequence[str], path: Path, *, n_jobs: int = 1, seed: int = FIRST_SEED) -> None:
    """Compute the rows of these scenarios that are missing, and append them to the file."""
    results.prepare(path, ROWS)
    done = results.known(path, schema=ROWS)
    todo = [n for n in names if any((n, method) not in done for method in CALIBRATORS)]
    print(f"{len(names) - len(todo)} of {len(names)} scenarios are there; {len(todo)} to go.")
    houses = ames_data.load() if todo else None
    tasks = (joblib.delayed(run_scenario)(name, houses, seed) for name in todo)
    for lines in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks):
        left = [row for row in lines.rows if (row["scenario"], row["method"]) not in done]
        results.append(path, *left, schema=ROWS)
        print(lines.summary, flush=True)


class Finished(NamedTuple):
    rows: list[dict[str, Any]]
    summary: str


def run_scenario(name: str, houses: ames_data.Houses, seed: int = FIRST_SEED) -> Finished:
    """Fit one scenario; return a row for each method on the test houses, and a summary in words."""
    scenario, started = SCENARIOS[name], time.process_time()
    train = scenario.training_rows(houses.train, seed)
    validation, test = scenario.columns(houses.validation), scenario.columns(houses.test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a lasso path that did not converge loses anyway
        model = study_model(seed).fit(train.X, train.y, X_cal=validation.X, y_cal=validation.y)
        on_validation, on_test = parts(model, validation.X), parts(model, test.X)
    scored = [
        score(method, (validation.y, *on_validation), (test.y, *on_test)) for method in CALIBRATORS
    ]
    rows = [{"scenario": name, **row} for row in scored]
    return Finished(rows, describe(name, model, len(train), time.process_time() - started))


def study_model(seed: int, choices: Sequence[Choices] | None = None) -> ClearRegressor:
    """Return CLEAR with all judgement calls and models, unfitted."""
    versions = all_choices() if choices is None else choices
    center = PCSEnsemble(
        models(seed),
        {version.name: version.preprocessing() for version in versions},
        top_k=BEST,
        n_bootstraps=BOOTSTRAPS,
    )
    noise = ResidualQuantiles(LinearQuantiles(), preprocessing=Choices().pipeline())
    return ClearRegressor(center, noise, encoder=None, confidence_level=LEVEL, random_state=seed)


def models(seed: int) -> dict[str, Any]:
    """Return the paper's five models; the forest is that of its variant (c)."""
    ridge, lasso = RidgeCV(np.logspace(-1, 5, 25)), LassoCV(cv=5)
    forest = RandomForestRegressor(min_samples_leaf=5, max_features=1 / 3, random_state=seed)
    return {
        "least squares": LinearRegression(),
        "least absolute deviations": LinearQuantiles((0.5,)),
        "ridge": make_pipeline(StandardScaler(), ridge),
        "lasso": make_pipeline(StandardScaler(), lasso),
        "random forest": forest,
    }


Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""The target, the center, and the uncalibrated aleatoric and epistemic widths."""


def score(method: str, validation: Arrays, test: Arrays) -> dict[str, Any]:
    """Score one method on the parts that all methods share; only their calibrators differ."""
    calibrator = clone(CALIBRATORS[method]).fit(*validation)
    y, center, aleatoric, epistemic = test
    intervals = calibrator.predict_interval(center, aleatoric, epistemic)
    row = {
        "method": method,
        "nciw": metrics.nciw(y, center, intervals, LEVEL),
        "quantile_loss": metrics.quantile_loss(y, intervals, LEVEL),
        "width": float(np.mean(intervals[:, 1] - intervals[:, 0])),
        "coverage": metrics.picp(y, intervals),
        "lambda": "",
        "gamma1": "",
        "ratio": "",
    }
    if method == "CLEAR":
        noise, ignorance = calibrator.scale(aleatoric, epistemic)
        row |= {"lambda": calibrator.lambda_, "gamma1": calibrator.gamma1_}
        row["ratio"] = ratio(ignorance, noise)
    return row


def parts(model: ClearRegressor, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the center and the aleatoric and epistemic widths before calibration."""
    center, epistemic = model.epistemic_.predict_with_widths(X)
    return center, model.aleatoric_.predict_widths(X), epistemic


def ratio(epistemic: np.ndarray, aleatoric: np.ndarray) -> float:
    """Return the ratio of the mean widths; rows with little noise would rule a mean of ratios."""
    return float(epistemic.mean() / aleatoric.mean()) if aleatoric.any() else math.inf


def describe(name: str, model: ClearRegressor, n_rows: int, seconds: float) -> str:
    pcs = model.epistemic_
    kept = [entry for entry in pcs.leaderboard_ if entry["selected"]]
    by_model = {n: sum(entry["model"] == n for entry in kept) for n in pcs.models}
    counted = ", ".join(f"{count} {n}" for n, count in by_model.items() if count)
    n_versions = len(pcs.preprocessings) - len(pcs.duplicates_)
    best = kept[0]
    return (
        f"{name}: {n_rows} training rows, {n_versions} distinct versions of the data, "
        f"{len(kept)} of {len(pcs.leaderboard_)} fits kept ({counted}).\n"
        f"  Best: {best['model']} ({best['preprocessing']}), "
        f"validation RMSE {best['rmse']:,.0f} dollars. {seconds:.0f} CPU seconds."
    )
