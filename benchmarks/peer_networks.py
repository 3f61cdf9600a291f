"""The authors' networks on given rows, which run in their environment: see authors_networks.py."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import numpy as np
import torch
from clear.clear import CLEAR
from clear.models import deep_ensembles, sqr
from clear.models.deep_ensembles import PureEpistemicEnsemble
from clear.models.sqr import SQR

from benchmarks.rows import LEVEL, Rows

FIRST_SEED, THEIR_SEED = 777, 42  # our seed and their seed of the first split
APART = 10_000  # the distance of seeds between draws, as members' seeds are 1,000 apart
PLACES = ("median", "lower", "upper")
LAMBDAS = np.concatenate([np.linspace(0, 0.09, 10), np.logspace(-1, 2, 401)])
QUANTILES = {
    "ensemble_size": 3,
    "hidden_sizes": (128, 128, 64),
    "learning_rate": 5e-4,
    "n_epochs": 4000,
    "batch_size": 128,
    "dropout": 0.2,
    "weight_decay": 1e-5,
    "crossing_penalty": 1.0,
    "patience": 200,
}
ENSEMBLE = {
    "n_members": 5,
    "hidden_sizes": (256, 128),
    "learning_rate": 1e-3,
    "n_epochs": 1500,
    "batch_size": 64,
    "dropout_rate": 0.1,
    "weight_decay": 1e-5,
    "diversity_strategies": [
        "random_init",
        "architecture",
        "dropout",
        "bootstrap",
        "lr_schedule",
        "data_augment",
    ],
    "calibrate_c": True,
}


def main() -> None:
    part, draw, row_file, out_file = sys.argv[1:]
    rows = Rows.load(row_file)
    torch.set_num_threads(1)
    take_batches_whole()
    without_verbose()
    torch.manual_seed(seed := THEIR_SEED + rows.seed - FIRST_SEED + APART * int(draw))
    predict = {"SQR": only_sqr, "DE": only_ensemble, "CLEAR": clear_and_ensemble}[part]
    found = predict(rows, seed)
    np.savez(out_file, cpu_seconds=time.process_time(), **found)


def only_sqr(rows: Rows, seed: int) -> dict[str, Any]:
    return {"SQR": fit_sqr(rows.X_train, rows.y_train, seed).predict(rows.X_test)}


def only_ensemble(rows: Rows, seed: int) -> dict[str, Any]:
    return {"DE": fit_ensemble(rows, seed).predict_interval(rows.X_test, LEVEL)}


def clear_and_ensemble(rows: Rows, seed: int) -> dict[str, Any]:
    """Predict with the ensemble, and with CLEAR on the quantiles of its residuals.

    The NCIW of their CLEAR is taken around the middle of the interval.
    """
    ensemble = fit_ensemble(rows, seed)
    held_out, test = (
        dict(zip(PLACES, ensemble.predict_interval(X, LEVEL), strict=True))
        for X in (rows.X_validation, rows.X_test)
    )
    residuals = rows.y_train - ensemble.predict(rows.X_train)
    quantiles = fit_sqr(rows.X_train, residuals, seed)
    around = residual_quantiles(quantiles, rows.X_validation, held_out["median"])
    clear = CLEAR(desired_coverage=LEVEL, lambdas=LAMBDAS, n_bootstraps=1, random_state=seed)
    clear.calibrate(
        rows.y_validation,
        median_epistemic=held_out["median"],
        epistemic_lower=held_out["lower"],
        epistemic_upper=held_out["upper"],
        aleatoric_median=around["median"],
        aleatoric_lower=around["lower"],
        aleatoric_upper=around["upper"],
        verbose=False,
    )
    around = residual_quantiles(quantiles, rows.X_test, test["median"])
    lower, upper = clear.predict(rows.X_test, external_epistemic=test, external_aleatoric=around)
    return {"DE": tuple(test.values()), "CLEAR": ((lower + upper) / 2, lower, upper)}


def residual_quantiles(model: SQR, X: np.ndarray, center: np.ndarray) -> dict[str, np.ndarray]:
    _, lower, upper = model.predict(X)
    return {"median": center, "lower": center + lower, "upper": center + upper}


def fit_sqr(X: np.ndarray, y: np.ndarray, seed: int) -> SQR:
    return SQR(alpha=1 - LEVEL, random_state=seed, **QUANTILES).fit(X, y)


def fit_ensemble(rows: Rows, seed: int) -> PureEpistemicEnsemble:
    model = PureEpistemicEnsemble(random_state=seed, **ENSEMBLE)
    return model.fit(rows.X_train, rows.y_train, rows.X_validation, rows.y_validation)


def take_batches_whole() -> None:
    """Make data loaders take a batch at once; row by row they take longer than the training."""
    rows_of, loader = torch.utils.data.TensorDataset, torch.utils.data.DataLoader
    rows_of.__getitems__ = rows_of.__getitem__  # type: ignore[attr-defined]
    deep_ensembles.DataLoader = sqr.DataLoader = partial(loader, collate_fn=tuple)


def without_verbose() -> None:
    """Ignore the argument `verbose`, which they set to False and newer torch does not know."""
    known = torch.optim.lr_scheduler.ReduceLROnPlateau

    def schedule(*args: Any, verbose: bool = False, **options: Any) -> Any:
        return known(*args, **options)

    torch.optim.lr_scheduler.ReduceLROnPlateau = schedule  # type: ignore[misc, assignment]


if __name__ == "__main__":
    main()
