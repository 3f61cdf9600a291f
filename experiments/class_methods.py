"""Methods that predict probabilities and sets of classes, on the same rows.

Methods that calibrate after training have 60 % of the rows to train and 20 % to calibrate. Methods
that calibrate on folds, or not at all, train on both. Sets are adaptive with the same score, except
MAPIE's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

from clearbands import ClearClassifier, JointClassCalibrator, TableEncoder
from clearbands.calibration.class_calibrator import mass_ahead
from clearbands.calibration.conformal import order_statistic, rank
from clearbands.models.pools import class_pool

LEVEL = 0.9
SAME_MEMBERS = {name: class_pool(0)[name] for name in ("logistic", "trees")}
"""The models whose members are calibrated in different ways."""


@dataclass(frozen=True)
class Table:
    """Encoded rows in the order train, calibrate, test, with classes as positions."""

    X: np.ndarray
    y: np.ndarray
    n_train: int
    n_known: int  # the number of rows that train or calibrate
    n_classes: int


@dataclass(frozen=True)
class Answer:
    """The predictions of a method for the test rows."""

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


def of_same_members(table: Table, seed: int) -> dict[str, Answer]:
    """Return the answers of methods that use the same members, or the best of their models."""
    train, known, test = (
        slice(0, table.n_train),
        slice(0, table.n_known),
        slice(table.n_known, None),
    )
    held_out = slice(table.n_train, table.n_known)
    X, y = table.X, table.y
    fitted = ClearClassifier(SAME_MEMBERS, random_state=seed, encoder=None)
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
    return found | mapie_sets(best, X, y, train, held_out, test)


def clear(table: Table, seed: int) -> dict[str, Answer]:
    """Return the answer of `ClearClassifier` with its defaults."""
    known, test = slice(0, table.n_known), slice(table.n_known, None)
    model = ClearClassifier(random_state=seed, encoder=None).fit(table.X[known], table.y[known])
    X = table.X[test]
    return {
        "ClearClassifier": Answer(
            model.predict_proba(X), model.predict_set(X), model.c1_, model.c2_
        )
    }


def lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbosity=-1, random_state=seed)


def hist_gradient_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def catboost(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        thread_count=1, verbose=False, allow_writing_files=False, random_seed=seed
    )


PEERS: dict[str, Callable[[int], Any]] = {
    "LightGBM": lightgbm,
    "HistGradientBoosting": hist_gradient_boosting,
    "CatBoost": catboost,
}
"""Other libraries' classifiers with their defaults."""


def of_peer(name: str, table: Table, seed: int) -> dict[str, Answer]:
    """Return the answers of a peer as it is, and calibrated on five folds."""
    known, test = slice(0, table.n_known), slice(table.n_known, None)
    X, y, model = table.X[known], table.y[known], PEERS[name](seed)
    ways = {
        name: model,
        f"{name}, temperature": CalibratedClassifierCV(model, method="temperature", cv=5),
        f"{name}, isotonic": CalibratedClassifierCV(model, method="isotonic", cv=5),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # LightGBM warns about names of columns
        return {
            way: Answer(clone(asked).fit(X, y).predict_proba(table.X[test]))
            for way, asked in ways.items()
        }


METHODS: dict[str, Callable[[Table, int], dict[str, Answer]]] = {
    "plain ensemble": of_same_members,
    "ClearClassifier": clear,
    **{name: partial(of_peer, name) for name in PEERS},
}
"""The methods by the first name among their answers."""


def mapie_sets(best: Any, X: Any, y: Any, train: slice, held_out: slice, test: slice) -> dict:
    from mapie.classification import SplitConformalClassifier

    found = {}
    single = clone(best).fit(X[train], y[train])
    for score in ("lac", "aps") if len(np.unique(y)) > 2 else ("lac",):  # MAPIE has no others
        mapie = SplitConformalClassifier(
            single, confidence_level=LEVEL, conformity_score=score, random_state=0
        )
        mapie.conformalize(X[held_out], y[held_out])
        found[f"MAPIE, {score.upper()}"] = Answer(sets=mapie.predict_set(X[test])[1][:, :, 0])
    return found


def with_sets(y: np.ndarray, held_out: np.ndarray, test: np.ndarray, **constants: float) -> Answer:
    """Return probabilities of test rows, and sets whose threshold comes from held-out rows."""
    scores = mass_ahead(held_out)[np.arange(len(y)), y]
    threshold = order_statistic(scores, rank(len(y), LEVEL))
    return Answer(test, mass_ahead(test) <= threshold, **constants)


def plain(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    return with_sets(
        y, softmax(held_out, axis=-1).mean(axis=1), softmax(test, axis=-1).mean(axis=1)
    )


def joint(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    fitted = JointClassCalibrator(prior_rows=1).fit(y, held_out)
    said = (fitted.predict_proba(logits) for logits in (held_out, test))
    return with_sets(y, *said, c1=fitted.c1_, c2=fitted.c2_)


def pool_then_scale(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    """Calibrate the mean probability with one temperature."""
    return joint(
        y, *(np.log(softmax(z, axis=-1).mean(axis=1, keepdims=True)) for z in (held_out, test))
    )


def scale_then_pool(y: np.ndarray, held_out: np.ndarray, test: np.ndarray) -> Answer:
    """Calibrate every member with a temperature of its own."""
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
"""Functions that calibrate the logits of members on held-out rows."""
