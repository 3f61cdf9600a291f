"""Which classifiers sit in the ensemble, and their members on repeated folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array

from clearbands.calibration.class_calibrator import JointClassCalibrator
from clearbands.calibration.logits import ClassBag, ListedClassifiers
from clearbands.models.bagging import fit_clones
from clearbands.models.categories import Worths
from clearbands.models.category_bag import fit_category_bag
from clearbands.models.kernels import Landmarks
from clearbands.models.trees_classifier import SymmetricTreesClassifier
from clearbands.rows.chunks import some_rows
from clearbands.rows.coded import code_columns
from clearbands.rows.draws import Folds
from clearbands.rows.messages import Failures
from clearbands.rows.split import Rows
from clearbands.rows.typed import TableLike

MOST_ROWS_OF_KERNELS = 20_000  # 300 columns each: beyond, they cost more than all the rest
LENGTHS = (16, 32, 64, 128, 256)  # rounds of boosting that unseen rows choose between


@dataclass(frozen=True)
class Trained:
    """Members of all models that were kept, model by model."""

    bags: list[ClassBag]
    draws: Folds  # which member saw which row
    models: dict[str, Any]  # those that were kept, unfitted
    losses: dict[str, float]  # negative log-likelihood of unseen rows by model, the lowest first


@dataclass(frozen=True)
class WholeBag:
    """Members that were trained in one go, as trees and networks of ours are."""

    model: BaseEstimator  # as it was, unfitted
    bag: Any  # what its `fit_class_bag` gives

    def __len__(self) -> int:
        return len(self.bag)

    def predict_logits(self, X: TableLike) -> np.ndarray:
        return self.bag.predict_logits(_numbers(X))

    @property
    def members(self) -> list[Any]:
        return [self._member(i) for i in range(len(self))]

    def _member(self, number: int) -> Any:
        own = clone(self.model)
        own.bag_, own.n_features_in_ = self.bag.member(number), self.bag.n_features
        own.classes_ = np.arange(self.bag.n_classes)
        return own

    @property
    def is_open(self) -> bool:
        """Whether the number of rounds was left to the unseen rows."""
        return getattr(self.model, "n_trees", None) == "auto"

    def first(self, n_trees: int) -> WholeBag:
        """The same after so many rounds."""
        model = clone(self.model).set_params(n_trees=n_trees)
        return replace(self, model=model, bag=self.bag.first(n_trees))


@dataclass(frozen=True)
class CategoryClassifiers(WholeBag):
    """Members that each learned for themselves what categories are worth: a `CategoryBag`."""

    @property
    def members(self) -> list[Any]:
        both = zip(self.bag.worths, self.bag.parts, strict=True)
        return [ClassifierOfWorths(worths, part.members[0]) for worths, part in both]


@dataclass(frozen=True)
class ClassifierOfWorths:
    """A fitted classifier behind what categories are worth to it."""

    worths: Worths
    classifier: Any

    @property
    def classes_(self) -> np.ndarray:
        return self.classifier.classes_

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """(n, classes) of encoded rows."""
        return self.classifier.predict_proba(self.worths.view(_numbers(X)))

    def predict(self, X: TableLike) -> np.ndarray:
        """(n,)"""
        return self.classifier.predict(self.worths.view(_numbers(X)))


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
    those that are kept already. Unseen rows also choose how many rounds are boosted, where that
    was left open.
    """
    n_folds = len(draws) // n_repeats
    first, rest = Folds(draws.counts[:n_folds]), draws.counts[n_folds:]
    failures = Failures()
    tried: dict[str, Tried] = {}
    for name, model in models.items():
        with failures.leaving_out(f"The model {name!r}", has_rivals=len(models) > 1):
            fitted = _fit(model, rows, n_classes, first.counts, n_jobs, f"trying {name}")
            lengths = [Tried.of(bag, model, rows, first) for bag in _lengths(fitted)]
            tried[name] = min(lengths, key=lambda length: length.loss)
    if not tried:
        raise failures.none_left("Every model of the pool failed")
    tried = dict(sorted(tried.items(), key=lambda item: item[1].loss))
    names, bags = _keep(tried), dict[str, list[ClassBag]]()
    while missing := [name for name in names if name not in bags]:
        name = missing[0]
        with failures.leaving_out(f"The model {name!r}", has_rivals=len(tried) > 1):
            more = []
            if len(rest):
                more = [
                    _fit(tried[name].model, rows, n_classes, rest, n_jobs, f"members of {name}")
                ]
                more[0].predict_logits(some_rows(rows.X))
            bags[name] = [tried[name].bag, *more]
        if name not in bags:
            del tried[name]
            names = _keep(tried)
    return Trained(
        [bag for name in names for bag in bags[name]],
        Folds(np.tile(draws.counts, (len(names), 1))),
        {name: tried[name].model for name in names},
        {name: each.loss for name, each in tried.items()},
    )


@dataclass(frozen=True)
class Tried:
    """Members of a model on the folds of the first repeat, and what unseen rows say of them."""

    model: Any  # unfitted
    bag: ClassBag
    y: np.ndarray  # (n,): of the rows that some member did not see
    unseen: np.ndarray  # (n, 1, classes): logits of these rows, by such members
    weight: np.ndarray | None  # (n,)
    loss: float

    @classmethod
    def of(cls, bag: ClassBag, model: Any, rows: Rows, draws: Folds) -> Tried:
        judged = draws.unseen.any(axis=0)
        own = np.argmax(draws.unseen[:, judged], axis=0)
        weight = None if rows.sample_weight is None else rows.sample_weight[judged]
        y, unseen = rows.y[judged], bag.predict_logits(rows.X)[judged, own][:, None]
        model = getattr(bag, "model", model)
        return cls(model, bag, y, unseen, weight, _loss(y, unseen, weight))


def _lengths(bag: Any) -> list[Any]:
    """The bag itself, or where the number of rounds was left open, after fewer and more."""
    if isinstance(bag, WholeBag) and bag.is_open:
        return [bag.first(n_trees) for n_trees in LENGTHS]
    return [bag]


def _keep(tried: Mapping[str, Tried]) -> list[str]:
    """The first, and in turn each other that makes unseen rows more likely beside those kept."""
    (first, best), *others = tried.items()
    names, lowest = [first], best.loss
    for name, _ in others:
        together = np.concatenate([tried[k].unseen for k in (*names, name)], axis=1)
        loss = _loss(best.y, together, best.weight)
        if loss < lowest:
            names, lowest = [*names, name], loss
    return names


def _fit(
    model: BaseEstimator,
    rows: Rows,
    n_classes: int,
    counts: np.ndarray,
    n_jobs: int | None,
    stage: str,
) -> Any:
    if code_columns(rows.X):
        return _fit_on_categories(model, rows, n_classes, counts, n_jobs, stage)
    if hasattr(model, "fit_class_bag"):
        X, trained = _numbers(rows.X), clone(model)
        if getattr(model, "n_trees", None) == "auto":
            trained.set_params(n_trees=LENGTHS[-1])
        weighs = {} if rows.sample_weight is None else {"weight": rows.sample_weight}
        if weighs and "weight" not in signature(trained.fit_class_bag).parameters:
            raise ValueError(
                f"{type(model).__name__} takes no sample_weight, so it cannot tell rows that count "
                "more: choose another model, or leave sample_weight out."
            )
        bag = trained.fit_class_bag(
            X, rows.y, n_classes, counts, n_jobs=n_jobs, stage=stage, **weighs
        )
        return WholeBag(clone(model), bag)
    weight = rows.sample_weight
    clones = fit_clones(model, rows.X, rows.y, counts, weight=weight, n_jobs=n_jobs, stage=stage)
    return ListedClassifiers(list(clones.members), np.arange(n_classes))


def _fit_on_categories(
    model: BaseEstimator,
    rows: Rows,
    n_classes: int,
    counts: np.ndarray,
    n_jobs: int | None,
    stage: str,
) -> CategoryClassifiers:
    """Members that see how much likelier the classes are in a category than elsewhere."""
    hits = range(1, 2) if n_classes == 2 else range(n_classes)
    is_hit = np.column_stack([rows.y == hit for hit in hits]).astype(float)

    def fit(own: Any, view: np.ndarray, counts: np.ndarray) -> Any:
        return _fit(own, replace(rows, X=view), n_classes, counts, 1, stage)

    bag = fit_category_bag(
        model,
        rows.X,
        lambda count: is_hit,
        counts,
        fit,
        weight=rows.sample_weight,
        groups=rows.groups,
        n_jobs=n_jobs,
        stage=stage,
    )
    return CategoryClassifiers(clone(model), bag)


def _numbers(X: TableLike) -> np.ndarray:
    return check_array(X, dtype=np.float64, order="C")


def _loss(y: np.ndarray, logits: np.ndarray, weight: np.ndarray | None) -> float:
    """As calibrated: what is only too sure of itself is not worse for it."""
    return JointClassCalibrator(prior_rows=1).fit(y, logits, sample_weight=weight).loss_


def class_pool(n_rows: int) -> dict[str, BaseEstimator]:
    """The classifiers that compete by default, for so many rows."""
    pool: dict[str, BaseEstimator] = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "trees": SymmetricTreesClassifier(),
    }
    if n_rows <= MOST_ROWS_OF_KERNELS:
        by_kernel = LogisticRegression(C=10.0, max_iter=1000)
        pool["kernel"] = make_pipeline(StandardScaler(), Landmarks(), by_kernel)
    return pool


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
