"""How a `ClearClassifier` makes members from rows with classes, and which models compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.calibration.class_calibrator import JointClassCalibrator
from clearbands.calibration.guarantee import Guarantee
from clearbands.models.class_bags import (
    ClassBag,
    ListedClassifiers,
    fit_classifiers,
    shortened_bags,
    unseen_logits,
)
from clearbands.models.pools import class_pool
from clearbands.models.seeds import seed_missing
from clearbands.prediction.class_predictor import ClassPredictor, disagreement, logits_of
from clearbands.prediction.familiarity import Familiarity, ordinary_rows
from clearbands.prediction.table_estimator import make_encoder
from clearbands.rows.checks import check_count
from clearbands.rows.chunks import spread_rows
from clearbands.rows.draws import Folds
from clearbands.rows.messages import Failures
from clearbands.rows.split import Rows, divide_rows, hold_out
from clearbands.selection.plan import choose_calibration

GIVEN_MEMBERS = ", if no member was trained on these rows"


@dataclass(frozen=True)
class TrainedClassifiers:
    """The members of all models that were kept, one model after the other."""

    bags: list[ClassBag]
    draws: Folds  # which member saw which row
    models: dict[str, Any]  # the models that were kept, unfitted
    losses: dict[str, float]  # negative log-likelihood of unseen rows by model, best first


@dataclass(frozen=True)
class ClassPlan:
    """The parameters of a `ClearClassifier`, taken together."""

    model: BaseEstimator | Sequence[BaseEstimator] | Mapping[str, BaseEstimator] | None
    n_folds: int
    n_repeats: int
    members: Sequence[BaseEstimator] | None  # fitted models that the user gave
    calibration: str  # "cross", "joint" or "conformal"
    calibration_size: float
    encoder: BaseEstimator  # not fitted
    n_jobs: int | None

    @classmethod
    def of(cls, classifier: Any, *, has_calibration_set: bool) -> ClassPlan:
        """Check the parameters; `has_calibration_set` says whether calibration rows are given."""
        members, encoder = classifier.members, classifier.encoder
        check_count(classifier.n_folds, "n_folds", smallest=2)
        check_count(classifier.n_repeats, "n_repeats")
        if members is not None and classifier.model is not None:
            raise ValueError(
                "model would be trained, and members are fitted already: give one of them."
            )
        useless = "X_cal and y_cal" if members is None else "fitted members"
        has_calibration_set = has_calibration_set or members is not None
        calibration = choose_calibration(
            classifier, has_calibration_set=has_calibration_set, useless=useless
        )
        if members is not None and isinstance(encoder, str):
            encoder = None  # members know what to do with a table
        return cls(
            classifier.model,
            classifier.n_folds,
            classifier.n_repeats,
            members,
            calibration,
            classifier.calibration_size,
            make_encoder(encoder, codes=True),
            classifier.n_jobs,
        )

    @property
    def are_fitted(self) -> bool:
        """Whether members were given, so that no rows train."""
        return self.members is not None

    def divide_rows(
        self, rows: Rows, held_out: Rows | None, classes: np.ndarray, rng: np.random.RandomState
    ) -> list[Rows]:
        """Return the rows that train, then those that are held out to calibrate, if any.

        The y of all rows are positions in `classes`. If members are given, all rows calibrate.
        """
        if self.are_fitted:
            return [rows, rows if held_out is None else held_out]
        way = "cross" if self.calibration == "cross" else "joint"
        size = self.calibration_size
        shares = divide_rows(rows, held_out, way, size=size, gap=None, rng=rng)
        label = shares[0].y
        if len(np.unique(label)) < 2:
            raise ValueError(
                f"Only one class, {classes[label[0]]!s}, is left among the training rows "
                'after others were held out: give more rows, or choose calibration="cross".'
            )
        return shares

    def pool(self, n_rows: int) -> Mapping[str, BaseEstimator]:
        """Return the models that compete, by name."""
        if self.model is None:
            return class_pool(n_rows)
        if isinstance(self.model, Mapping):
            pool = dict(self.model)
        else:
            listed = self.model if isinstance(self.model, list | tuple) else [self.model]
            pool = {f"{i}: {type(m).__name__}": m for i, m in enumerate(listed)}
        if not pool:
            raise ValueError("model is empty: give at least one classifier, or None.")
        for name, model in pool.items():
            if not hasattr(model, "predict_proba"):
                raise ValueError(
                    f"The model {name} has no predict_proba: give a classifier that has, or wrap "
                    "it in scikit-learn's CalibratedClassifierCV."
                )
        return pool

    def train(
        self, rows: Rows, classes: np.ndarray, rng: np.random.RandomState
    ) -> TrainedClassifiers:
        """Return the members: those of the models that are kept, or those that were given."""
        if self.members is not None:
            bag = ListedClassifiers(list(self.members), classes)
            return TrainedClassifiers(
                [bag], Folds(np.ones((len(bag), len(rows)), np.uint8)), {}, {}
            )
        draws = stratified_folds(rows.y, self.n_folds, self.n_repeats, rng)
        pool = self.pool(len(rows))
        models = {name: seed_missing(clone(model), rng) for name, model in pool.items()}
        return train_members(models, rows, len(classes), draws, self.n_repeats, n_jobs=self.n_jobs)

    def judged(
        self, trained: TrainedClassifiers, shares: Sequence[Rows], rng: np.random.RandomState
    ) -> tuple[Rows, Rows]:
        """Return the rows that choose c1 and c2, and the rows that judge sets.

        Their X are logits of members that did not see them. The two differ only if the calibration
        is "conformal".
        """
        rows, *others = shares
        if not others:
            logits = unseen_logits(logits_of(trained.bags, rows.X), trained.draws)
            unseen = rows.with_X(logits)
            return unseen, unseen
        (held_out,) = others
        is_halved = self.calibration == "conformal"
        parts = hold_out(held_out, 0.5, rng) if is_halved else [held_out]
        judged = [part.with_X(logits_of(trained.bags, part.X)) for part in parts]
        return judged[0], judged[-1]

    def familiarity(
        self, trained: TrainedClassifiers, shares: Sequence[Rows]
    ) -> Familiarity | None:
        """Return what tells how ordinary rows look; None if members were given or see a table."""
        rows, *others = shares
        if self.are_fitted or not isinstance(rows.X, np.ndarray):
            return None
        some = None if others else ordinary_rows(len(rows))
        X = others[0].X if others else rows.X[some]
        widths = disagreement(logits_of(trained.bags, X))
        return Familiarity.of(rows, widths, rows=some, held_out=others[0] if others else None)

    def guarantee(self, predictor: ClassPredictor, *, has_copies: bool) -> str:
        """Return, in words, which coverage of sets is guaranteed."""
        guarantee = Guarantee.of(self.calibration, predictor.weight)
        words = (Guarantee.COPIES if has_copies else guarantee).value
        return words + GIVEN_MEMBERS if self.are_fitted else words


def train_members(
    models: Mapping[str, Any],
    rows: Rows,
    n_classes: int,
    draws: Folds,
    n_repeats: int,
    *,
    n_jobs: int | None,
) -> TrainedClassifiers:
    """Fit all models on the first repeat of the folds, and those that are kept on the others.

    The best model is kept, and each other that makes unseen rows more likely beside those kept
    before it. Unseen rows also choose the number of boosting rounds, if that was left open.
    """
    n_folds = len(draws) // n_repeats
    first, rest = Folds(draws.counts[:n_folds]), draws.counts[n_folds:]
    failures = Failures()
    tried: dict[str, JudgedClassifier] = {}
    for name, model in models.items():
        with failures.leaving_out(f"The model {name!r}", has_rivals=len(models) > 1):
            fitted = fit_classifiers(model, rows, n_classes, first.counts, n_jobs, f"trying {name}")
            lengths = [
                JudgedClassifier.of(bag, model, rows, first) for bag in shortened_bags(fitted)
            ]
            tried[name] = min(lengths, key=lambda length: length.loss)
    if not tried:
        raise failures.none_left("Every model of the pool failed")
    tried = dict(sorted(tried.items(), key=lambda item: item[1].loss))
    names, bags = _select_models(tried), dict[str, list[ClassBag]]()
    while missing := [name for name in names if name not in bags]:
        name = missing[0]
        with failures.leaving_out(f"The model {name!r}", has_rivals=len(tried) > 1):
            more = []
            if len(rest):
                model, stage = tried[name].model, f"members of {name}"
                more = [fit_classifiers(model, rows, n_classes, rest, n_jobs, stage)]
                more[0].predict_logits(spread_rows(rows.X))
            bags[name] = [tried[name].bag, *more]
        if name not in bags:
            del tried[name]
            names = _select_models(tried)
    return TrainedClassifiers(
        [bag for name in names for bag in bags[name]],
        Folds(np.tile(draws.counts, (len(names), 1))),
        {name: tried[name].model for name in names},
        {name: each.loss for name, each in tried.items()},
    )


@dataclass(frozen=True)
class JudgedClassifier:
    """The members of a model on the folds of the first repeat, and their logits of unseen rows."""

    model: Any  # unfitted
    bag: ClassBag
    y: np.ndarray  # (n,): classes of the rows that some member did not see
    unseen: np.ndarray  # (n, 1, classes): logits of these rows by members that did not see them
    weight: np.ndarray | None  # (n,)
    loss: float

    @classmethod
    def of(cls, bag: ClassBag, model: Any, rows: Rows, draws: Folds) -> JudgedClassifier:
        judged = draws.unseen.any(axis=0)
        own = np.argmax(draws.unseen[:, judged], axis=0)
        weight = None if rows.sample_weight is None else rows.sample_weight[judged]
        y, unseen = rows.y[judged], bag.predict_logits(rows.X)[judged, own][:, None]
        model = getattr(bag, "model", model)
        return cls(model, bag, y, unseen, weight, _loss(y, unseen, weight))


def _select_models(tried: Mapping[str, JudgedClassifier]) -> list[str]:
    """Return the best model, and others that make unseen rows more likely beside those kept."""
    (first, best), *others = tried.items()
    names, lowest = [first], best.loss
    for name, _ in others:
        together = np.concatenate([tried[k].unseen for k in (*names, name)], axis=1)
        loss = _loss(best.y, together, best.weight)
        if loss < lowest:
            names, lowest = [*names, name], loss
    return names


def _loss(y: np.ndarray, logits: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the loss after calibration, so that no model loses for being too sure of itself."""
    return JointClassCalibrator(prior_rows=1).fit(y, logits, sample_weight=weight).loss_


def stratified_folds(
    y: np.ndarray, n_folds: int, n_repeats: int, rng: np.random.RandomState
) -> Folds:
    """Return repeated folds with equal shares of each class.

    Every member sees a class of two rows. The only row of a class is left out by no member.
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
