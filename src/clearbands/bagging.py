"""Bootstraps drawn once and kept, and a model refitted on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from clearbands.progress import report

MAX_SEED = np.iinfo(np.int32).max


class Bag(Protocol):
    """Members fitted on the bootstraps of one training set."""

    def predict_members(self, X: Any) -> np.ndarray:
        """(n, q, b): for every row and every quantile (one for a plain regressor) the members."""


@dataclass(frozen=True)
class Bootstraps:
    """How often each bootstrap drew each row: (b, n) small counts, rows summing to n."""

    counts: np.ndarray

    @classmethod
    def draw(cls, n_rows: int, n_bootstraps: int, rng: np.random.RandomState) -> Bootstraps:
        counts = np.empty((n_bootstraps, n_rows), np.uint8)
        for bootstrap in counts:
            bootstrap[:] = np.bincount(rng.randint(n_rows, size=n_rows), minlength=n_rows)
        return cls(counts)

    def __len__(self) -> int:
        return len(self.counts)


def fit_bag(
    model: Any, X: Any, y: np.ndarray, bootstraps: Bootstraps, *, n_jobs: int | None, stage: str
) -> Bag:
    """Refit `model` on every bootstrap; models that can do it in one go do."""
    if hasattr(model, "fit_bag"):
        return model.fit_bag(X, y, bootstraps.counts, n_jobs=n_jobs, stage=stage)
    return fit_clones(model, X, y, bootstraps.counts, n_jobs=n_jobs, stage=stage)


def fit_clones(
    model: Any, X: Any, y: np.ndarray, counts: np.ndarray, *, n_jobs: int | None, stage: str
) -> ListedBag:
    """One clone of `model` per bootstrap, fitted on repeated rows."""
    return fit_models((clone(model) for _ in counts), X, y, counts, n_jobs=n_jobs, stage=stage)


def fit_models(
    models: Iterable[Any],
    X: Any,
    y: np.ndarray,
    counts: np.ndarray,
    *,
    n_jobs: int | None,
    stage: str,
) -> ListedBag:
    """One model for each bootstrap, fitted on repeated rows."""
    jobs = (
        delayed(_fit_on_rows)(model, X, y, drawn)
        for model, drawn in zip(models, counts, strict=True)
    )
    members = []
    for member in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
        members.append(member)
        report(stage, len(members), len(counts))
    return ListedBag(members)


def _fit_on_rows(model: Any, X: Any, y: np.ndarray, drawn: np.ndarray) -> Any:
    rows = np.repeat(np.arange(len(drawn)), drawn)
    return model.fit(_safe_indexing(X, rows), y[rows])


@dataclass(frozen=True)
class ListedBag:
    """A list of fitted models, one for each bootstrap."""

    members: Sequence[Any]

    def predict_members(self, X: Any) -> np.ndarray:
        return np.stack([_predict_columns(member, X) for member in self.members], axis=-1)


def _predict_columns(member: Any, X: Any) -> np.ndarray:
    if hasattr(member, "predict_quantiles"):
        return member.predict_quantiles(X)
    prediction = np.asarray(member.predict(X), float)
    return prediction.reshape(len(prediction), -1)


def seed_missing(model: Any, rng: np.random.RandomState) -> Any:
    """Give every `random_state` of `model` that was left open a seed; the others stay."""
    open_seeds = [
        name
        for name, value in sorted(model.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return model.set_params(**{name: int(rng.randint(MAX_SEED)) for name in open_seeds})


def member_seeds(random_state: Any, n_members: int) -> np.ndarray:
    """One seed per member, drawn before the work is shared out."""
    return check_random_state(random_state).randint(MAX_SEED, size=n_members).astype(np.int64)


def sorted_quantiles(values: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Quantiles along the last axis by linear interpolation, (..., len(levels)).

    The same numbers as np.quantile; one sort serves all levels and is many times faster
    on short contiguous rows.
    """
    ordered = np.sort(values, axis=-1)
    position = np.asarray(levels, float) * (ordered.shape[-1] - 1)
    below = np.floor(position).astype(int)
    above = np.ceil(position).astype(int)
    low = ordered[..., below]
    return low + (position - below) * (ordered[..., above] - low)
