"""From rows with classes to members, and to what calibrates them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.calibration.class_calibrator import JointClassCalibrator, mass_ahead
from clearbands.calibration.conformal import per_heaviest
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.logits import ListedClassifiers, unseen_logits
from clearbands.models.seeds import seed_missing
from clearbands.prediction.class_predictor import ClassPredictor, disagreement, logits_of
from clearbands.prediction.familiarity import Familiarity, ordinary_rows
from clearbands.prediction.table_estimator import check_encoder_sees_no_target, make_encoder
from clearbands.rows.checks import check_choice, check_count
from clearbands.rows.draws import Folds
from clearbands.rows.split import Rows, hold_out, share_out
from clearbands.selection.class_members import Trained, class_pool, stratified_folds, train
from clearbands.selection.in_memory import encode_shares
from clearbands.selection.plan import CALIBRATIONS, choose_calibration

GIVEN_MEMBERS = ", if no member was trained on these rows"


@dataclass(frozen=True)
class ClassPlan:
    """What the parameters of a `ClearClassifier` mean together."""

    model: BaseEstimator | Sequence[BaseEstimator] | Mapping[str, BaseEstimator] | None
    n_folds: int
    n_repeats: int
    members: Sequence[BaseEstimator] | None  # that are fitted already
    calibration: str  # "cross", "joint" or "conformal"
    calibration_size: float
    encoder: BaseEstimator  # not fitted
    n_jobs: int | None

    @classmethod
    def of(cls, classifier: Any, *, has_set: bool) -> ClassPlan:
        """`has_set` says whether there are rows given for calibration."""
        members, encoder = classifier.members, classifier.encoder
        check_count(classifier.n_folds, "n_folds", smallest=2)
        check_count(classifier.n_repeats, "n_repeats")
        if classifier.calibration is not None:
            check_choice(classifier.calibration, "calibration", CALIBRATIONS)
        if members is not None and classifier.model is not None:
            raise ValueError(
                "model would be trained, and members are fitted already: give one of them."
            )
        useless = "X_cal and y_cal" if members is None else "fitted members"
        calibration = choose_calibration(
            classifier.calibration, has_set=has_set or members is not None, useless=useless
        )
        if calibration == "cross":
            check_encoder_sees_no_target(encoder)
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

    def share_out(
        self, rows: Rows, held_out: Rows | None, rng: np.random.RandomState
    ) -> list[Rows]:
        """Rows that train, and those that calibrate, which may be the same; none train members."""
        if self.members is not None:
            return [rows, rows if held_out is None else held_out]
        way = "cross" if self.calibration == "cross" else "joint"
        return share_out(rows, held_out, way, size=self.calibration_size, gap=None, rng=rng)

    def pool(self, n_rows: int) -> Mapping[str, BaseEstimator]:
        """The models that compete, by name."""
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


@dataclass(frozen=True)
class ClassFitResult:
    """What a fit has learned, and how many rows it took."""

    predictor: ClassPredictor
    trained: Trained
    guarantee: str
    n_train: int
    n_validation: int  # that chose c1 and c2 and nothing else
    n_calibration: int


def fit_classes(
    plan: ClassPlan,
    rows: Rows,
    held_out: Rows | None,
    classes: np.ndarray,
    rng: np.random.RandomState,
) -> ClassFitResult:
    """Fit encoder and members, and calibrate them on rows that they did not see.

    `rows` were given to train, and `held_out` to calibrate; y are positions in `classes`.
    """
    as_given = plan.share_out(rows, held_out, rng)
    if plan.members is None:
        _check_several(as_given[0].y, classes)
    encoder, (encoded, *others), has_copies = encode_shares(
        plan.encoder, as_given, are_apart=held_out is not None, may_share=plan.members is not None
    )
    trained = _train(plan, encoded, classes, rng)
    choosing, judging = _judged(plan, trained, encoded, others, rng)
    # One row of a class drawn by chance keeps c1 finite where no row is wrong.
    calibrator = JointClassCalibrator(prior_rows=1).fit(
        choosing.y, choosing.X, sample_weight=choosing.sample_weight
    )
    n, weight = len(judging), judging.sample_weight
    scores = mass_ahead(calibrator.predict_proba(judging.X))[np.arange(n), judging.y]
    if weight is not None and plan.calibration == "conformal":
        weight = per_heaviest(weight)
    guarantee = Guarantee.COPIES if has_copies else Guarantee.of(plan.calibration, weight)
    order = np.argsort(scores, kind="stable")
    predictor = ClassPredictor(
        encoder,
        trained.bags,
        calibrator,
        None if plan.members is not None else _familiarity(trained, encoded, others),
        scores[order],
        None if weight is None else weight[order],
    )
    return ClassFitResult(
        predictor,
        trained,
        guarantee.value + ("" if plan.members is None else GIVEN_MEMBERS),
        n_train=0 if plan.members is not None else len(encoded),
        n_validation=0 if plan.calibration == "cross" else len(choosing),
        n_calibration=n,
    )


def _check_several(y: np.ndarray, classes: np.ndarray) -> None:
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"Only one class, {classes[y[0]]!s}, is left among the training rows "
            'after others were held out: give more rows, or choose calibration="cross".'
        )


def _train(plan: ClassPlan, rows: Rows, classes: np.ndarray, rng: np.random.RandomState) -> Trained:
    if plan.members is not None:
        bag = ListedClassifiers(list(plan.members), classes)
        return Trained([bag], Folds(np.ones((len(bag), len(rows)), np.uint8)), {}, {})
    draws = stratified_folds(rows.y, plan.n_folds, plan.n_repeats, rng)
    pool = plan.pool(len(rows))
    models = {name: seed_missing(clone(model), rng) for name, model in pool.items()}
    return train(models, rows, len(classes), draws, plan.n_repeats, n_jobs=plan.n_jobs)


def _judged(
    plan: ClassPlan,
    trained: Trained,
    rows: Rows,
    others: Sequence[Rows],
    rng: np.random.RandomState,
) -> tuple[Rows, Rows]:
    """Rows that choose c1 and c2, and rows that judge sets: X are logits of unseen rows."""
    if not others:
        logits = unseen_logits(logits_of(trained.bags, rows.X), trained.draws)
        unseen = rows.with_X(logits)
        return unseen, unseen
    (held_out,) = others
    is_halved = plan.calibration == "conformal"
    parts = hold_out(held_out, 0.5, rng) if is_halved else [held_out]
    judged = [part.with_X(logits_of(trained.bags, part.X)) for part in parts]
    return judged[0], judged[-1]


def _familiarity(trained: Trained, rows: Rows, others: Sequence[Rows]) -> Familiarity | None:
    """How ordinary rows look, as for numbers; None where members see a table."""
    if not isinstance(rows.X, np.ndarray):
        return None
    assert rows.texts is not None
    if not others:
        some = ordinary_rows(len(rows))
        widths = disagreement(logits_of(trained.bags, rows.X[some]))
        return Familiarity.of(rows.X, rows.texts, widths, rows=some)
    (held_out,) = others
    assert held_out.texts is not None
    widths = disagreement(logits_of(trained.bags, held_out.X))
    return Familiarity.of(rows.X, rows.texts, widths, held_out=(held_out.X, held_out.texts))
