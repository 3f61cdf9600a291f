"""Ways to probabilities and sets of classes, on the same rows and from the same models.

What calibrates after training has 60 % of the rows to train and 20 % to calibrate; what calibrates
on folds trains on both. Sets are adaptive, with the same score, but for MAPIE's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

from clearbands import ClearClassifier, JointClassCalibrator, TableEncoder
from clearbands.calibration.class_sets import mass_ahead
from clearbands.calibration.conformal import order_statistic, rank
from clearbands.targets.classes import softmax

LEVEL = 0.9


@dataclass(frozen=True)
class Table:
    """Rows as numbers, classes as positions: rows that train, those that calibrate, and test."""

    X: np.ndarray
    y: np.ndarray
    n_train: int
    n_known: int  # rows that train or calibrate
    n_classes: int


@dataclass(frozen=True)
class Answer:
    """What a method says of the test rows."""

    probabilities: np.ndarray | None = None
    sets: np.ndarray | None = None
    c1: float = np.nan
    c2: float = np.nan


def encode(X: Any, y: np.ndarray, rows: tuple[np.ndarray, ...]) -> Table:
    order = np.concatenate(rows)
    n_train, n_known = len(rows[0]), len(rows[0]) + len(rows[1])
    classes, position = np.unique(y, return_inverse=True)
    encoder = TableEncoder().fit(X.iloc[rows[0]])
    return Table(encoder.transform(X.iloc[order]), position[order], n_train, n_known, len(classes))


def answers(table: Table, seed: int) -> dict[str, Answer]:
    """By method."""
    train, known, test = (
        slice(0, table.n_train),
        slice(0, table.n_known),
        slice(table.n_known, None),
    )
    held_out = slice(table.n_train, table.n_known)
    X, y = table.X, table.y
    fitted = ClearClassifier(random_state=seed, encoder=None)
    fitted.fit(X[train], y[train], X_cal=X[held_out], y_cal=y[held_out])
    logits = {name: fitted.member_logits(X[rows]) for name, rows in (("c", held_out), ("t", test))}
    found = {
        name: calibrate(y[held_out], logits["c"], logits["t"])
        for name, calibrate in ON_LOGITS.items()
    }
    best = fitted.models_[next(iter(fitted.models_))]
    for name, method in (("Platt", "sigmoid"), ("isotonic", "isotonic")):
        model = CalibratedClassifierCV(clone(best), method=method, cv=5).fit(X[known], y[known])
        found[name] = Answer(model.predict_proba(X[test]))
    found |= mapie_sets(best, X, y, train, held_out, test)
    cross = ClearClassifier(random_state=seed, encoder=None).fit(X[known], y[known])
    found["ClearClassifier"] = Answer(
        cross.predict_proba(X[test]), cross.predict_set(X[test]), cross.c1_, cross.c2_
    )
    return found


def mapie_sets(best: Any, X: Any, y: Any, train: slice, held_out: slice, test: slice) -> dict:
    from mapie.classification import SplitConformalClassifier

    found = {}
    single = clone(best).fit(X[train], y[train])
    for score in ("lac", "aps") if len(np.unique(y)) > 2 else ("lac",):  # all that MAPIE has
        mapie = SplitConformalClassifier(
            single, confidence_level=LEVEL, conformity_score=score, random_state=0
        )
        mapie.conformalize(X[held_out], y[held_out])
        found[f"MAPIE, {score.upper()}"] = Answer(sets=mapie.predict_set(X[test])[1][:, :, 0])
    return found


def with_sets(y: np.ndarray, held_out: np.ndarray, test: np.ndarray, **constants: float) -> Answer:
    """Probabilities of test rows, and sets whose threshold the held-out rows give."""
    scores = mass_ahead(held_out)[np.arange(len(y)), y]
    threshold = order_statistic(scores, rank(len(y), LEVEL))
    return Answer(test, mass_ahead(test) <= threshold, **constants)


def plain(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    return with_sets(y, softmax(held_out).mean(axis=1), softmax(test).mean(axis=1))


def joint(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    fitted = JointClassCalibrator(prior_rows=1).fit(y, held_out)
    said = (fitted.predict_proba(logits) for logits in (held_out, test))
    return with_sets(y, *said, c1=fitted.c1_, c2=fitted.c2_)


def pool_then_scale(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    """One temperature for the mean probability."""
    return joint(y, *(np.log(softmax(z).mean(axis=1, keepdims=True)) for z in (held_out, test)))


def scale_then_pool(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    """A temperature for every member."""
    said = [
        [fitted.predict_proba(z[:, m, None]) for z in (held_out, test)]
        for m in range(held_out.shape[1])
        for fitted in [JointClassCalibrator(prior_rows=1).fit(y, held_out[:, m, None])]
    ]
    return with_sets(y, *(np.mean(parts, axis=0) for parts in zip(*said, strict=True)))


ON_LOGITS: dict[str, Callable[..., Answer]] = {
    "plain ensemble": plain,
    "temperature, then pool": scale_then_pool,
    "pool, then temperature": pool_then_scale,
    "c1 and c2": joint,
}
"""What makes probabilities of the logits of members, on held-out rows."""
