"""PCS: the best of many models, refitted on many bootstraps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from clearbands.bagging import Bag, Bootstraps, fit_bag, seed_missing
from clearbands.epistemic.base import Ensemble, row_chunks
from clearbands.pools import default_pool
from clearbands.progress import report
from clearbands.quantile_models.base import QuantileModel
from clearbands.split import Rows, hold_out
from clearbands.tables import check_any, check_count, check_numeric, check_share, check_target


@dataclass(frozen=True)
class Candidate:
    """A version of the data, and a model for it."""

    model_name: str
    preprocessing_name: str
    model: Any
    preprocessing: Any = None

    def prepared(self, train: Rows) -> Candidate:
        """The same with its preprocessing fitted on the training rows."""
        if self.preprocessing is None:
            return self
        return replace(self, preprocessing=clone(self.preprocessing).fit(train.X, train.y))

    def fitted(self, train: Rows) -> Candidate:
        """The same, fitted once on the training rows."""
        ready = self.prepared(train)
        return replace(ready, model=clone(self.model).fit(ready.view(train.X), train.y))

    def view(self, X: Any) -> Any:
        """X as the model sees it."""
        return X if self.preprocessing is None else self.preprocessing.transform(X)

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(self.view(X))


@dataclass(frozen=True)
class PreparedBag:
    """A bag behind the preprocessing its members were trained on."""

    candidate: Candidate
    bag: Bag

    def predict_members(self, X: Any) -> np.ndarray:
        return self.bag.predict_members(self.candidate.view(X))


class PCSEnsemble(Ensemble):
    """Preprocessings x models, each fitted once; the best refitted on bootstraps.

    Parameters
    ----------
    models : dict or list of regressors, optional
        The pool; by default `default_pool()`. Of a quantile model only the median is used.
    preprocessings : dict or list of transformers, optional
        Versions of the data, each combined with every model.
    top_k : int
        How many combinations, by root mean squared error on validation rows, are kept.
    n_bootstraps : int
        How often each of them is refitted.
    confidence_level : float or list of float
        Where among the members the widths end.
    validation_size : float
        Share of the rows that chooses between models when `fit` is given no validation rows;
        the bootstraps are then drawn from all rows.
    n_jobs, random_state
        As in scikit-learn; the result does not depend on `n_jobs`.

    Attributes
    ----------
    leaderboard_ : list of dict, best first
        model, preprocessing, rmse and r2 on the validation rows, selected.
    winner_ : the model that came first, unfitted
    bootstraps_ : Bootstraps
        How often each bootstrap drew each training row.
    """

    def __init__(
        self,
        models: Mapping[str, Any] | Sequence[Any] | None = None,
        preprocessings: Mapping[str, Any] | Sequence[Any] | None = None,
        top_k: int = 1,
        n_bootstraps: int = 100,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        validation_size: float = 0.2,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.models = models
        self.preprocessings = preprocessings
        self.top_k = top_k
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.validation_size = validation_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> PCSEnsemble:
        """Train on X and y; `validation`, a pair (X, y), chooses between models."""
        check_count(self.n_bootstraps, "n_bootstraps")
        check_count(self.top_k, "top_k")
        check_share(self.validation_size, "validation_size")
        X, y = self._check_X(X, reset=True), check_target(y)
        check_consistent_length(X, y)
        train = Rows(X, y)
        rng = check_random_state(self.random_state)
        candidates = self._candidates(rng)
        if validation is not None:
            judged_on = Rows(self._check_X(validation[0], reset=False), check_target(validation[1]))
            self.leaderboard_ = _compete(candidates, train, judged_on, self.top_k)
        elif len(candidates) > self.top_k:
            self.leaderboard_ = _compete(
                candidates, *hold_out(train, self.validation_size, rng), self.top_k
            )
        else:
            self.leaderboard_ = [_entry(candidate) for candidate in candidates]
        self.bootstraps_ = Bootstraps.draw(len(train), self.n_bootstraps, rng)
        by_name = {(c.model_name, c.preprocessing_name): c for c in candidates}
        chosen = [
            by_name[entry["model"], entry["preprocessing"]]
            for entry in self.leaderboard_
            if entry["selected"]
        ]
        self.winner_ = chosen[0].model
        self.bags_ = [self._bag(candidate.prepared(train), train) for candidate in chosen]
        return self

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        # Preprocessings may want frames, text and missing values; models want numbers.
        check = check_numeric if self.preprocessings is None else check_any
        return check(self, X, reset=reset)

    def _candidates(self, rng: np.random.RandomState) -> list[Candidate]:
        models = _named(default_pool() if self.models is None else self.models, "models")
        versions = {"": None}
        if self.preprocessings is not None:
            versions = _named(self.preprocessings, "preprocessings")
        return [
            Candidate(model_name, version_name, _prepare(model, rng), version)
            for version_name, version in versions.items()
            for model_name, model in models.items()
        ]

    def _bag(self, candidate: Candidate, train: Rows) -> PreparedBag:
        bag = fit_bag(
            candidate.model,
            candidate.view(train.X),
            train.y,
            self.bootstraps_,
            n_jobs=self.n_jobs,
            stage="epistemic",
        )
        return PreparedBag(candidate, bag)

    def predict_members(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "bags_")
        X = self._check_X(X, reset=False)
        return np.concatenate([bag.predict_members(X)[:, 0] for bag in self.bags_], axis=1)

    def predict_out_of_bag(self, X: Any) -> np.ndarray:
        """(n,): the center of each training row over the members that did not see it.

        X are the rows given to `fit`, in their order. NaN where every member saw the row.
        """
        check_is_fitted(self, "bags_")
        X = self._check_X(X, reset=False)
        drawn = self.bootstraps_.counts
        check_consistent_length(X, drawn.T)
        return np.concatenate(
            [
                _median_of_unseen(
                    self.predict_members(_safe_indexing(X, rows)),
                    np.tile(drawn[:, rows].T > 0, len(self.bags_)),
                )
                for rows in row_chunks(drawn.shape[1])
            ]
        )


def _median_of_unseen(members: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n,): the median over the members, (n, m), that did not see the row; NaN if all did."""
    center = np.full(len(members), np.nan)
    some = ~seen.all(axis=1)
    center[some] = np.nanmedian(np.where(seen, np.nan, members)[some], axis=1)
    return center


def _compete(
    candidates: list[Candidate], train: Rows, judged_on: Rows, top_k: int
) -> list[dict[str, Any]]:
    """The leaderboard after fitting every candidate once on the training rows."""
    entries = []
    for candidate in candidates:
        error = judged_on.y - candidate.fitted(train).predict(judged_on.X)
        mse, variance = float(np.mean(error**2)), float(np.var(judged_on.y))
        r2 = 1 - mse / variance if variance > 0 else None
        entries.append(_entry(candidate, rmse=mse**0.5, r2=r2, selected=False))
        report("choosing a model", len(entries), len(candidates))
    entries.sort(key=lambda entry: entry["rmse"])
    for entry in entries[:top_k]:
        entry["selected"] = True
    return entries


def _entry(
    candidate: Candidate,
    rmse: float | None = None,
    r2: float | None = None,
    selected: bool = True,
) -> dict[str, Any]:
    return {
        "model": candidate.model_name,
        "preprocessing": candidate.preprocessing_name,
        "rmse": rmse,
        "r2": r2,
        "selected": selected,
    }


def _prepare(model: Any, rng: np.random.RandomState) -> Any:
    model = seed_missing(clone(model), rng)
    return model.set_params(quantiles=(0.5,)) if isinstance(model, QuantileModel) else model


def _named(parts: Mapping[str, Any] | Sequence[Any], what: str) -> dict[str, Any]:
    """Names as given in a dict, else made of the classes' names."""
    if len(parts) == 0:
        raise ValueError(f"{what} is empty; give at least one, or None for the default.")
    if isinstance(parts, Mapping):
        return dict(parts)
    named: dict[str, Any] = {}
    for part in parts:
        kind = type(part).__name__
        same = sum(name.split(" ")[0] == kind for name in named)
        named[f"{kind} {same + 1}" if same else kind] = part
    return named
