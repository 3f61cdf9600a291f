"""Bags of classifiers, which are fitted on several draws of the rows, and their logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_array

from clearbands.models.bagging import fit_clones
from clearbands.models.categories import CategoryEffects
from clearbands.models.category_bag import fit_category_bag
from clearbands.rows.coded import code_columns
from clearbands.rows.draws import Draws
from clearbands.rows.messages import row_name
from clearbands.rows.split import Rows
from clearbands.rows.typed import TableLike

LENGTHS = (16, 32, 64, 128, 256)  # rounds of boosting that unseen rows choose between
FLOOR = 1e-6  # the least probability; no member rules a class out, since 100 trees cannot


class ClassBag(Protocol):
    """The classifiers of a bag, which predict the probabilities of classes as logits."""

    def __len__(self) -> int: ...

    @property
    def members(self) -> Sequence[Any]:
        """The members, each as a fitted classifier."""

    def predict_logits(self, X: TableLike) -> np.ndarray:
        """Return the logits (n, members, classes), centred and not calibrated."""


@dataclass(frozen=True)
class ListedClassifiers:
    """A bag that is a list of fitted classifiers; its logits are in the order of `classes`."""

    members: Sequence[Any]
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.members)

    def predict_logits(self, X: TableLike) -> np.ndarray:
        return np.stack([_logits(member, X, self.classes) for member in self.members], axis=1)


@dataclass(frozen=True)
class WholeBag:
    """A bag whose members were trained together, as our own trees and networks are."""

    model: BaseEstimator  # the unfitted model
    bag: Any  # the result of its `fit_class_bag`

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
    def chooses_rounds(self) -> bool:
        """Whether unseen rows choose the number of rounds."""
        return getattr(self.model, "n_trees", None) == "auto"

    def first(self, n_trees: int) -> WholeBag:
        """Return the same bag with only its first `n_trees` trees."""
        model = clone(self.model).set_params(n_trees=n_trees)
        return replace(self, model=model, bag=self.bag.first(n_trees))


@dataclass(frozen=True)
class CategoryClassifiers(WholeBag):
    """A `CategoryBag`, whose members each learned the effects of categories for themselves."""

    @property
    def members(self) -> list[Any]:
        both = zip(self.bag.effects, self.bag.parts, strict=True)
        return [ClassifierOnEffects(effects, part.members[0]) for effects, part in both]


@dataclass(frozen=True)
class ClassifierOnEffects:
    """A fitted classifier, and the effects of categories that it learned."""

    effects: CategoryEffects
    classifier: Any

    @property
    def classes_(self) -> np.ndarray:
        return self.classifier.classes_

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Return the probabilities (n, classes) for encoded rows."""
        return self.classifier.predict_proba(self.effects.view(_numbers(X)))

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the likeliest classes (n,)."""
        return self.classifier.predict(self.effects.view(_numbers(X)))


def fit_classifiers(
    model: BaseEstimator,
    rows: Rows,
    n_classes: int,
    counts: np.ndarray,
    n_jobs: int | None,
    stage: str,
) -> Any:
    """Return a bag with a member for each row of `counts` (b, n): how often each row counts.

    `rows.y` holds positions of classes. If columns of X are codes of categories, every member
    learns their effects from its own rows.
    """
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
    """Fit members that see how much likelier each class is in a category than elsewhere."""
    hits = range(1, 2) if n_classes == 2 else range(n_classes)
    is_hit = np.column_stack([rows.y == hit for hit in hits]).astype(float)

    def fit(own: Any, view: np.ndarray, counts: np.ndarray) -> Any:
        return fit_classifiers(own, replace(rows, X=view), n_classes, counts, 1, stage)

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


def shortened_bags(bag: Any) -> list[Any]:
    """Return the bag after each number of rounds that unseen rows choose between."""
    if isinstance(bag, WholeBag) and bag.chooses_rounds:
        return [bag.first(n_trees) for n_trees in LENGTHS]
    return [bag]


def unseen_logits(logits: np.ndarray, draws: Draws) -> np.ndarray:
    """Return the logits (n, r, classes) of the r members that did not see each row.

    A few members lie closer to their own mean than many members do. Calibration sees a few and
    predictions use many, so the logits of the few are spread out accordingly.
    """
    rows, columns = np.nonzero(draws.unseen.T)
    unseen = logits[rows, columns].reshape(len(logits), -1, logits.shape[2])
    few, many = unseen.shape[1], logits.shape[1]
    if few == 1:
        return unseen
    mean = unseen.mean(axis=1, keepdims=True)
    return mean + np.sqrt((1 - 1 / many) / (1 - 1 / few)) * (unseen - mean)


def classes_of(members: Sequence[Any]) -> np.ndarray:
    """Return the classes that all members know; raise if they know different ones."""
    for i, member in enumerate(members):
        if not hasattr(member, "predict_proba") or not hasattr(member, "classes_"):
            raise TypeError(
                f"Member {i} must be a fitted classifier with predict_proba and classes_, got "
                f"{type(member).__name__}."
            )
    classes = np.unique(members[0].classes_)
    for i, member in enumerate(members):
        if not np.array_equal(np.unique(member.classes_), classes):
            raise ValueError(
                f"Member {i} knows the classes {_joined_classes(member.classes_)}, member 0 knows "
                f"{_joined_classes(classes)}: all members must be fitted on the same classes."
            )
    return classes


def _logits(member: BaseEstimator, X: TableLike, classes: np.ndarray) -> np.ndarray:
    predicted = np.asarray(member.predict_proba(X), float)
    name = type(member).__name__
    if predicted.ndim != 2 or predicted.shape[1] != len(member.classes_):
        raise ValueError(
            f"{name}.predict_proba gives shape {predicted.shape}; one probability per row and "
            f"class is needed, (n, {len(member.classes_)})."
        )
    total = predicted.sum(axis=1)
    if not (np.all(predicted >= 0) and np.allclose(total, 1, atol=1e-3)):
        row = int(np.argmax(~(np.all(predicted >= 0, axis=1) & np.isclose(total, 1, atol=1e-3))))
        raise ValueError(
            f"{name}.predict_proba gives {predicted[row].round(4).tolist()} in {row_name(row)}: "
            "probabilities must not be negative and must sum to 1."
        )
    probabilities = np.zeros((len(predicted), len(classes)))
    probabilities[:, np.searchsorted(classes, member.classes_)] = predicted
    logs = np.log(np.maximum(probabilities, FLOOR))
    return logs - logs.mean(axis=1, keepdims=True)


def _joined_classes(classes: np.ndarray) -> str:
    first = ", ".join(map(str, classes[:5]))
    return f"{first}, ..." if len(classes) > 5 else first
