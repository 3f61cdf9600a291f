"""Which classifiers sit in the ensemble, and their members on repeated folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands.bagging import Folds, fit_clones
from clearbands.calibration.class_calibrator import JointClassCalibrator
from clearbands.class_logits import member_logits
from clearbands.split import Rows


@dataclass(frozen=True)
class Trained:
    """Members of all models that were kept, model by model."""

    members: list[Any]
    draws: Folds  # which member saw which row
    models: dict[str, Any]  # those that were kept, unfitted
    losses: dict[str, float]  # negative log-likelihood of unseen rows by model, the lowest first


def train(
    models: Mapping[str, Any],
    rows: Rows,
    n_classes: int,
    draws: Folds,
    n_repeats: int,
    *,
    n_jobs: int | None,
) -> Trained:
    """All models on the folds of the first repeat; those that are kept on the others too.

    The best is kept, and of the others each, in turn, that makes unseen rows more likely beside
    those that are kept already.
    """
    n_folds = len(draws) // n_repeats
    first = Folds(draws.counts[:n_folds])
    judged = first.unseen.any(axis=0)
    y, own = rows.y[judged], np.argmax(first.unseen[:, judged], axis=0)
    members, unseen = {}, {}
    for name, model in models.items():
        members[name] = _fit(model, rows, first.counts, n_jobs, f"trying {name}")
        logits = member_logits(members[name], rows.X, np.arange(n_classes))
        unseen[name] = logits[judged, own][:, None]
    losses = {name: _loss(y, logits) for name, logits in unseen.items()}
    losses = dict(sorted(losses.items(), key=lambda item: item[1]))
    kept = _keep(y, unseen, losses)
    rest = draws.counts[n_folds:]
    if len(rest):
        for name in kept:
            members[name] += _fit(models[name], rows, rest, n_jobs, f"members of {name}")
    return Trained(
        [member for name in kept for member in members[name]],
        Folds(np.tile(draws.counts, (len(kept), 1))),
        {name: models[name] for name in kept},
        losses,
    )


def _keep(
    y: np.ndarray, unseen: Mapping[str, np.ndarray], losses: Mapping[str, float]
) -> list[str]:
    first, *others = losses
    kept, lowest = [first], losses[first]
    for name in others:
        loss = _loss(y, np.concatenate([unseen[k] for k in (*kept, name)], axis=1))
        if loss < lowest:
            kept, lowest = [*kept, name], loss
    return kept


def _fit(model: Any, rows: Rows, counts: np.ndarray, n_jobs: int | None, stage: str) -> list[Any]:
    bag = fit_clones(model, rows.X, rows.y, counts, n_jobs=n_jobs, stage=stage)
    return list(bag.members)


def _loss(y: np.ndarray, logits: np.ndarray) -> float:
    """As calibrated: what is only too sure of itself is not worse for it."""
    return JointClassCalibrator(prior_rows=1).fit(y, logits).loss_


def class_pool() -> dict[str, Any]:
    """The classifiers that compete by default: a smooth one, and trees with a logistic loss."""
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "trees": HistGradientBoostingClassifier(max_leaf_nodes=15),
    }


def stratified_folds(
    y: np.ndarray, n_folds: int, n_repeats: int, rng: np.random.RandomState
) -> Folds:
    """Repeated folds that have all classes alike: a class of 2 rows is seen by every member.

    The row of a class that has no other is left out by nobody.
    """
    n = len(y)
    n_folds = min(n_folds, n)
    is_single = np.bincount(y)[y] == 1
    seen = np.empty((n_repeats, n_folds, n), np.uint8)
    for members in seen:
        order = rng.permutation(n)
        order = order[np.argsort(y[order], kind="stable")]
        fold = np.empty(n, int)
        fold[order] = (np.arange(n) + rng.randint(n_folds)) % n_folds
        members[:] = (fold != np.arange(n_folds)[:, None]) | is_single
    return Folds(seen.reshape(-1, n))
