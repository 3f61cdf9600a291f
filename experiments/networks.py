"""The paper's networks: a deep ensemble (DE) and simultaneous quantiles (SQR).

The quantile networks learn y itself, not residuals, and CLEAR puts their widths around the median
of the ensemble. The widths of the ensemble are standard deviations of its members, as in the
authors' program. Widths by quantiles, as the paper's appendix says, are kept, too.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from clearbands import DeepEnsemble, SimultaneousQuantiles
from experiments.fitted import Fitted, Parts
from experiments.protocol import LEVEL, Split


def fit_networks(
    X: np.ndarray,
    y: np.ndarray,
    splits: dict[str, Split],
    seed: int,
    **options: Any,
) -> dict[str, Parts]:
    """Fit the networks, which all settings share because validation rows choose nothing.

    `options` are parameters of the ensemble.
    """
    split = next(iter(splits.values()))
    train, rows = split.train, split.held_out
    seconds = {}
    started = time.process_time()
    ensemble = DeepEnsemble(spread="gaussian", confidence_level=LEVEL, random_state=seed, **options)
    ensemble.fit(X[train], y[train])
    seconds["ensemble"] = time.process_time() - started
    started = time.process_time()
    curves = SimultaneousQuantiles(confidence_level=LEVEL, random_state=seed)
    curves.fit(X[train], y[train])
    seconds["quantile networks"] = time.process_time() - started
    center, epistemic = ensemble.predict_with_widths(X[rows])
    _, from_quantiles = ensemble.set_params(spread="quantiles").predict_with_widths(X[rows])
    fitted = Fitted(
        y[rows],
        center,
        epistemic[:, :, 0],
        curves.predict_widths(X[rows])[:, :, 0],
        members_of_y=curves.predict_quantiles(X[rows])[:, :, None],
        from_quantiles=from_quantiles[:, :, 0],
    )
    return dict.fromkeys(splits, Parts(rows, fitted, seconds))
