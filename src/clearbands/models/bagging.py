"""Bags: a model refitted on each of several draws of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from clearbands.engine.progress import report
from clearbands.engine.threads import one_blas_thread
from clearbands.models.bag_model import Bag
from clearbands.models.category_bag import fit_category_bag
from clearbands.models.protocol import fit_weighted
from clearbands.rows.checks import check_predictions
from clearbands.rows.coded import code_columns
from clearbands.rows.draws import Draws, compact_unseen
from clearbands.rows.typed import TableLike


def check_model(model: Any) -> None:
    """Raise for invalid parameters of a model before bags of it are fitted."""
    if hasattr(model, "check_parameters"):
        model.check_parameters()


def fit_bag(
    model: BaseEstimator,
    X: TableLike,
    y: np.ndarray,
    draws: Draws,
    *,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> Bag:
    """Refit `model` on the rows of every draw, at once if the model can fit whole bags.

    `check_model` must have checked the parameters before.

    A row counts as its `weight` (n,) says each time it is drawn, by default once. If columns of X
    are codes of categories (`clearbands.rows.coded`), every member learns the effects of categories
    from its own rows. Rows of one label in `groups` (n,) then do not use each other's targets.
    """
    if code_columns(X):
        return _fit_on_categories(fit_bag, model, X, y, draws, weight, groups, n_jobs, stage)
    if not hasattr(model, "fit_bag"):
        return fit_clones(model, X, y, draws.counts, weight=weight, n_jobs=n_jobs, stage=stage)
    weights = {} if weight is None else {"weight": weight}  # users' models may not accept weights
    return model.fit_bag(X, y, draws.counts, n_jobs=n_jobs, stage=stage, **weights)


def start_bag(
    model: Any,
    X: TableLike,
    y: np.ndarray,
    draws: Draws,
    *,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> Any:
    """Start a bag as `fit_bag` does, for a model whose members are grown some trees at a time."""
    if code_columns(X):
        return _fit_on_categories(start_bag, model, X, y, draws, weight, groups, n_jobs, stage)
    return model.start_bag(X, y, draws.counts, weight=weight, n_jobs=n_jobs, stage=stage)


def _fit_on_categories(
    fit_members: Callable[..., Any],
    model: BaseEstimator,
    X: Any,
    y: np.ndarray,
    draws: Draws,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    n_jobs: int | None,
    stage: str,
) -> Bag:
    """Fit members that see effects of categories on y, and in quantile models also on its size."""

    def targets(count: np.ndarray) -> np.ndarray:
        if len(getattr(model, "quantiles", ())) < 2:
            return y[:, None]
        return np.column_stack([y, np.abs(y - np.average(y, weights=count))])

    def fit(own: Any, view: np.ndarray, counts: np.ndarray) -> Bag:
        return fit_members(own, view, y, Draws(counts), weight=weight, n_jobs=1, stage=stage)

    options: dict[str, Any] = {"weight": weight, "n_jobs": n_jobs, "stage": stage}
    return fit_category_bag(model, X, targets, draws.counts, fit, groups=groups, **options)


def fit_clones(
    model: BaseEstimator,
    X: TableLike,
    y: np.ndarray,
    counts: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> ListedBag:
    """Fit one clone of `model` per bootstrap, on repeated rows."""
    clones = (clone(model) for _ in counts)
    return fit_models(clones, X, y, counts, weight=weight, n_jobs=n_jobs, stage=stage)


def fit_models(
    models: Iterable[BaseEstimator],
    X: TableLike,
    y: np.ndarray,
    counts: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> ListedBag:
    """Fit one model for each bootstrap, on repeated rows."""
    jobs = (
        delayed(_fit_on_rows)(model, X, y, drawn, weight)
        for model, drawn in zip(models, counts, strict=True)
    )
    members = []
    with warnings.catch_warnings():
        # A thread of joblib warns when an idle process ends. If warnings are errors, the thread
        # would end and the jobs would wait for it forever.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs")
        for member in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            members.append(member)
            report(stage, len(members), len(counts))
    return ListedBag(members)


def _fit_on_rows(
    model: BaseEstimator, X: TableLike, y: np.ndarray, drawn: np.ndarray, weight: np.ndarray | None
) -> Any:
    rows = np.repeat(np.arange(len(drawn)), drawn)
    # `n_jobs` members train at once; if each had threads of its own, they would only compete.
    with one_blas_thread():
        own = None if weight is None else weight[rows]
        return fit_weighted(model, _safe_indexing(X, rows), y[rows], own)


@dataclass(frozen=True)
class ListedBag:
    """A bag that is a list of fitted models, one for each bootstrap."""

    members: Sequence[BaseEstimator]

    def predict_members(self, X: TableLike) -> np.ndarray:
        return np.stack([_predict_columns(member, X) for member in self.members], axis=-1)


@dataclass(frozen=True)
class JoinedBag:
    """A bag of the members of several bags, one bag after the other."""

    bags: Sequence[Bag]

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([bag.predict_members(X) for bag in self.bags], axis=-1)


def predict_unseen(bag: Bag, X: np.ndarray, draws: Draws) -> np.ndarray:
    """Return the predictions (n, q, r) for training rows by the members that did not see them.

    X holds the rows of the fit in their order. A row that fewer than r members left out has NaN
    in the places behind them.
    """
    if hasattr(bag, "predict_unseen"):
        return bag.predict_unseen(X, ~draws.unseen)[:, None]
    if not hasattr(bag, "member"):
        return compact_unseen(bag.predict_members(X), draws)
    unseen = draws.unseen
    place = np.cumsum(unseen, axis=0) - 1
    members: np.ndarray | None = None
    for number, own in enumerate(unseen):
        rows = np.flatnonzero(own)
        predicted = bag.member(number).predict_members(X[rows])[:, :, 0]
        if members is None:
            members = np.full((len(X), predicted.shape[1], int(place.max()) + 1), np.nan)
        members[rows, :, place[number, rows]] = predicted
    assert members is not None
    return members


def _predict_columns(member: BaseEstimator, X: TableLike) -> np.ndarray:
    if hasattr(member, "predict_quantiles"):
        return member.predict_quantiles(X)
    if hasattr(member, "default_quantiles"):  # a forest of quantile-forest predicts several
        return member.predict(X).reshape(_num_samples(X), -1)
    return check_predictions(member.predict(X), _num_samples(X), type(member).__name__)[:, None]
