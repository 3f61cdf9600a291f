"""Libraries with intervals of their own kind: BART, chimeraboost, conformal-tights."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from clearbands.rows.levels import tails
from experiments.case import Case, Result
from experiments.peers.quantiles import conformalized
from experiments.peers.smooth import drawn

BART_ROWS = 6_000
"""The most training rows of BART, drawn at random; with more rows its samples take minutes."""


def chimeraboost(case: Case) -> Result:
    """Predict three quantiles with one booster, which holds out rows for its conformal step."""
    from chimeraboost import ChimeraBoostQuantileRegressor

    low, high = tails(case.level)
    model = ChimeraBoostQuantileRegressor([low, 0.5, high], random_state=case.seed, thread_count=1)
    rows = np.concatenate([case.split.train, case.split.calibration])
    model.fit(case.X[rows], case.y[rows])
    lower, middle, upper = np.asarray(model.predict(case.X[case.split.test]), float).T
    return Result(np.stack([lower, upper], axis=1), center=middle)


def bart(case: Case) -> Result:
    """Conformalize quantiles of draws of stochtree's BART, which has a forest for the variance."""
    from stochtree import BARTModel

    train = drawn(case, BART_ROWS)
    model = BARTModel()
    with threadpool_limits(1):
        model.sample(
            X_train=case.X[train],
            y_train=case.y[train],
            num_gfr=10,
            num_burnin=100,
            num_mcmc=200,
            general_params={
                "random_seed": case.seed,
                "num_threads": 1,
                "sample_sigma2_global": False,  # the forest samples it
            },
            variance_forest_params={"num_trees": 20},
        )

    def predict(X: np.ndarray) -> np.ndarray:
        said = model.predict(X, type="posterior", terms=["y_hat", "variance_forest"])
        means, variances = said["y_hat"], said["variance_forest_predictions"]
        noise = np.random.default_rng(case.seed).normal(size=means.shape)
        low, high = tails(case.level)
        draws = means + np.sqrt(variances) * noise
        return np.quantile(draws, [low, 0.5, high], axis=1).T

    return conformalized(case, predict)


def conformal_tights(case: Case) -> Result:
    """Predict with the library's boosted trees and conformal steps, for which it holds out rows."""
    from conformal_tights import ConformalCoherentQuantileRegressor

    model = ConformalCoherentQuantileRegressor(random_state=case.seed)
    rows = np.concatenate([case.split.train, case.split.calibration])
    with threadpool_limits(1):
        model.fit(case.X[rows], case.y[rows])
        bounds = model.predict_interval(case.X[case.split.test], coverage=case.level)
        center = model.predict(case.X[case.split.test])
    return Result(np.sort(np.asarray(bounds, float), axis=1), center=np.asarray(center, float))
