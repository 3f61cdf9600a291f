"""CLEAR's two constants for classes, as a scikit-learn estimator."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import Tags, _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.class_calibrator import JointClassCalibrator
from clearbands.calibration.class_sets import mass_ahead
from clearbands.calibration.conformal import (
    CalibrationWarning,
    order_statistic,
    per_heaviest,
    rank,
    rows_needed,
    weighted_rank,
)
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.logits import ClassBag, ListedClassifiers, classes_of, unseen_logits
from clearbands.engine.progress import Listener, listening
from clearbands.engine.threads import one_blas_thread
from clearbands.models.bagging import Folds, seed_missing
from clearbands.prediction.class_predictions import ClassAnswers, predict_classes
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.prediction.familiarity import (
    NO_FAMILIARITY,
    Familiarity,
    ordinary_rows,
    texts_of_rows,
)
from clearbands.prediction.table_estimator import learns_from_target, make_encoder
from clearbands.rows.checks import (
    check_count,
    check_levels,
    check_one_level,
    check_share,
    check_table,
)
from clearbands.rows.class_labels import check_counts, check_labels, likeliest
from clearbands.rows.copies import check_copies
from clearbands.rows.messages import renamed, warn
from clearbands.rows.settings import Calibration
from clearbands.rows.split import Rows, hold_out
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_row_weight
from clearbands.selection.class_members import class_pool, stratified_folds, train
from clearbands.tables.encoder import encode, encode_to_fit
from clearbands.tables.native import kind_of

if TYPE_CHECKING:
    from clearbands.apps.report import Report

CALIBRATIONS = get_args(Calibration)
GIVEN_MEMBERS = ", if no member was trained on these rows"


class ClearClassifier(ClassifierMixin, BaseEstimator):
    """Calibrated probabilities and sets of classes that tell noise from ignorance.

    Members are trained on repeated folds. One constant scales their logits, and another scales the
    spread of the logits around their mean (see `JointClassCalibrator`). `predict_proba` returns the
    mean of the members' probabilities.

    Parameters
    ----------
    model : classifier with `predict_proba`, or a list or dict of such, optional
        The models that compete. `fit` keeps the one under which unseen rows are most likely, and
        adds others as long as they make these rows more likely. By default a logistic regression,
        another one on a kernel (up to 20,000 rows), and boosted trees compete.
    n_folds : int
        How many folds the rows are divided into. Each member leaves out one fold.
    n_repeats : int
        How often the rows are divided. A model that is kept has n_folds x n_repeats members.
    members : list of fitted classifiers, optional
        An ensemble that is fitted already. Then `fit` trains nothing, its rows calibrate, and the
        encoder "auto" leaves X to the members.
    confidence_level : float
        The coverage that the sets of classes shall have.
    calibration : "cross", "joint" or "conformal", optional
        How probabilities and sets are calibrated. With "cross" all rows train, and every row is
        calibrated by members that did not see it; this is the default when `fit` is given no
        calibration set. With "joint" held-out rows choose c1, c2 and the threshold of the sets;
        this is the default with a calibration set, and with `members`. With "conformal" one half of
        the held-out rows chooses c1 and c2 and the other half the threshold, which gives a
        finite-sample guarantee for the sets.
    calibration_size : float
        The share of the rows that "joint" and "conformal" hold out when `fit` is given no
        calibration set.
    encoder : "auto", transformer or None
        What turns a table into numbers. "auto" is a `TableEncoder`, and None leaves X as it is.
        Where the models compete, "auto" lets each member learn from its own rows what the values of
        a text column are worth that has more than 10 of them.
    n_jobs : int, optional
        How many threads work, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState or None
        The seed, as in scikit-learn.

    Attributes
    ----------
    classes_ : (classes,)
        The classes, sorted.
    c1_ : float
        The factor of all logits.
    c2_ : float
        The factor of the spread of the members around the mean logit.
    guarantee_ : str
        What holds for the coverage of the sets, in words.
    calibration_ : str
        "cross", "joint" or "conformal".
    members_ : list of classifier
        The fitted members. Those that `fit` trained know classes as positions in `classes_`.
    models_ : dict
        The models that were kept, seeded and unfitted; empty with `members`.
    leaderboard_ : dict of str to float
        For each model that competed the negative log-likelihood of unseen rows, best first.
    scores_ : (n,), rising
        The scores of the calibration rows, from which sets of any level follow.
    encoder_ : transformer
        The fitted encoder.
    calibrator_ : JointClassCalibrator
        The fitted calibrator.
    familiar_ : Familiarity or None
        What `unfamiliar` compares rows with; None with `members`.
    n_train_ : int
        How many rows trained.
    n_validation_ : int
        How many rows chose c1 and c2.
    n_calibration_ : int
        How many rows judged the sets.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ClearClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.predict_proba(X[1::2]).shape
    (89, 3)
    >>> bool(model.predict_set(X[1::2])[np.arange(89), y[1::2]].mean() > 0.9)
    True
    >>> entropies = model.predict_uncertainty(X[1::2])
    >>> entropies.aleatoric.shape, entropies.epistemic.shape
    ((89,), (89,))
    """

    bags_: list[ClassBag]
    familiar_: Familiarity | None
    models_: dict[str, BaseEstimator]
    leaderboard_: dict[str, float]

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_folds: int = 5,
        n_repeats: int = 3,
        *,
        members: Sequence[BaseEstimator] | None = None,
        confidence_level: float = 0.9,
        calibration: Calibration | None = None,
        calibration_size: float = 0.25,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.members = members
        self.confidence_level = confidence_level
        self.calibration = calibration
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_clone__(self) -> ClearClassifier:
        # Fitted members are data of this estimator: cloned, they would know nothing.
        cloned = type(self)(
            **{
                name: value if name == "members" else clone(value, safe=False)
                for name, value in self.get_params(deep=False).items()
            }
        )
        if hasattr(self, "_metadata_request"):
            cloned._metadata_request = copy.deepcopy(self._metadata_request)
        return cloned

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        X_cal: TableLike | None = None,
        y_cal: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        progress: Listener | None = None,
    ) -> ClearClassifier:
        """Train the members and calibrate their probabilities and sets.

        No row is calibrated by a member that was trained on it. With a calibration set (`X_cal`,
        `y_cal`) all of X trains.

        Parameters
        ----------
        X : array, pandas or polars frame
            The rows, with numbers, text, categories, dates and gaps.
        y : (n,)
            The class of each row.
        X_cal : table, optional
            The rows of a calibration set.
        y_cal : (m,), optional
            The classes of the calibration set.
        sample_weight : (n,), optional
            How many rows each row of X counts as, in training, choosing and calibration. The rows
            of `X_cal` count once.
        progress : callable, optional
            `fit` calls it as `progress(stage, done, total)`.

        Returns
        -------
        ClearClassifier
            The fitted model itself.
        """
        self._check_parameters()
        self.calibration_ = self._choose_calibration(X_cal, y_cal)
        rng = check_random_state(self.random_state)
        rows = self._check_rows(X, y, sample_weight, reset=True)
        calibrating = None if X_cal is None else self._check_rows(X_cal, y_cal, reset=False)
        with listening(progress), one_blas_thread():
            choosing, judging = self._fit_members(rows, calibrating, rng)
        has_copies = self._check_copies(rows, calibrating)
        # One row of a class drawn by chance keeps c1 finite where no row is wrong.
        self.calibrator_ = JointClassCalibrator(prior_rows=1).fit(
            choosing.y, choosing.logits, sample_weight=choosing.weight
        )
        own = judging.y
        scores = mass_ahead(self.calibrator_.predict_proba(judging.logits))
        scores = scores[np.arange(len(own)), own]
        order = np.argsort(scores, kind="stable")
        self.scores_ = scores[order]
        weight = judging.weight
        if weight is not None and self.calibration_ == "conformal":
            weight = per_heaviest(weight)
        self.score_weights_ = None if weight is None else weight[order]
        self.n_calibration_ = len(own)
        self.n_validation_ = 0 if self.calibration_ == "cross" else len(choosing.y)
        guarantee = Guarantee.COPIES if has_copies else Guarantee.of(self.calibration_, weight)
        self.guarantee_ = guarantee.value + ("" if self.members is None else GIVEN_MEMBERS)
        return self

    def member_logits(self, X: TableLike) -> np.ndarray:
        """(n, members, classes): centred log-probabilities, not calibrated."""
        check_is_fitted(self, "bags_")
        return self._logits(check_table(self, X, reset=False))

    def answers(self, X: TableLike) -> ClassAnswers:
        """Probabilities, entropies and sets of the rows, whose members are asked only once."""
        check_is_fitted(self, "calibrator_")
        table = check_table(self, X, reset=False)
        encoded = encode(self.encoder_, table)
        logits = self._encoded_logits(encoded)
        members = self.calibrator_.predict_members(logits)
        unfamiliar = partial(self._unfamiliar, table, encoded, logits)
        return ClassAnswers(members, self._threshold, kind_of(X), unfamiliar)

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """(n, classes): calibrated probabilities."""
        return self.answers(X).probabilities

    def predict(self, X: TableLike) -> np.ndarray:
        """(n,): the most probable class."""
        return likeliest(self.predict_proba(X), self.classes_)

    def predict_uncertainty(self, X: TableLike) -> ClassUncertainty:
        """Total, aleatoric and epistemic entropy of every row, in bits."""
        return self.answers(X).entropies

    def predict_set(self, X: TableLike, *, confidence_level: float | None = None) -> np.ndarray:
        """(n, classes) booleans: the classes that belong to the set of each row.

        The most probable class always does. `confidence_level` may be any level, by default that
        of the constructor.
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        return self.answers(X).sets(level)

    def predict_frame(
        self, X: TableLike, *, confidence_level: float | Sequence[float] | None = None
    ) -> Any:
        """All that the model says about every row, as a frame of the kind that came in.

        The columns are `prediction`, the most probable class; `set_90`, the classes of the set at
        each level as one text, the most probable first; `p_` and the name of each class with its
        probability; the entropies `aleatoric` and `epistemic` in bits; `epistemic_share`, between 0
        and 1; `dominant`, which is "noise" or "ignorance"; and `unfamiliar`, whether the row is
        unlike those of the fit (empty where the model cannot tell). The command and the service
        give the same columns.

        `confidence_level` may be any level or a list of levels, by default that of the constructor.
        """
        levels = () if confidence_level is None else check_levels(confidence_level)
        return predict_classes(self, X, levels).frame()

    def unfamiliar(self, X: TableLike) -> np.ndarray:
        """(n,) booleans: whether a row is unlike those the model has learned from.

        A row is unfamiliar if the logits of its members lie far apart, if a value lies outside the
        range of its column, or if a category was never seen in the fit. About 5 % of ordinary rows
        are flagged, as in `ClearRegressor`. The value of c2 does not matter.
        """
        return self.answers(X).unfamiliar()

    def _unfamiliar(self, X: TableLike, encoded: Any, logits: np.ndarray) -> np.ndarray:
        if self.familiar_ is None:
            raise ValueError(NO_FAMILIARITY)
        texts = texts_of_rows(self.encoder_, X)
        scores = self.familiar_.scores(encoded, texts, _disagreement(logits))
        return scores > self.familiar_.threshold

    def card(self, *, name: str = "model.clear", target: str = "") -> str:
        """A model card in Markdown, as model hubs show it.

        It says what the model predicts and from which rows, how it fared on rows that its members
        did not see, where it breaks, what is guaranteed and how to load it. `name` is what the file
        of the model is called, and `target` what it predicts, by default as the command noted it.

        Examples
        --------
        >>> import numpy as np
        >>> from clearbands import ClearClassifier
        >>> X = np.linspace(0, 1, 100)[:, None]
        >>> model = ClearClassifier(random_state=0).fit(X, X[:, 0] > 0.5)
        >>> print(model.card(target="kind").splitlines()[9])
        # Classes for kind
        """
        from clearbands.apps.card import make_card

        check_is_fitted(self, "calibrator_")
        return make_card(self, name=name, target=target)

    @renamed(groups="by")
    def report(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        target: str = "the target",
        by: ArrayLike | None = None,
    ) -> Report:
        """One page about rows that the model has not seen: whether sets hold, why rows are unsure.

        A notebook shows the page, and `save(path)` writes one file that needs no network. `by` (n,)
        holds labels of groups of rows whose coverage is compared. The report needs the extra
        "report".
        """
        from clearbands.apps.report.classes import make_class_report

        check_is_fitted(self, "calibrator_")
        return make_class_report(self, X, y, target=target, by=by)

    @property
    def members_(self) -> list[BaseEstimator]:
        """The fitted members, model by model."""
        return [member for bag in self.bags_ for member in bag.members]

    @property
    def c1_(self) -> float:
        """The factor of all logits."""
        return self.calibrator_.c1_

    @property
    def c2_(self) -> float:
        """The factor of the spread of the members around the mean logit."""
        return self.calibrator_.c2_

    def _threshold(self, level: float) -> float:
        n, weight = len(self.scores_), getattr(self, "score_weights_", None)
        k = rank(n, level) if weight is None else weighted_rank(weight, level)
        threshold = order_statistic(self.scores_, k, weight)
        if np.isinf(threshold):
            warn(
                f"At {level:g}, sets need at least {rows_needed(level)} calibration rows, and "
                f"there are {n}{'' if weight is None else f' that count as {weight.sum():g}'}: "
                "every class is in every set.",
                CalibrationWarning,
            )
        return threshold

    def _check_parameters(self) -> None:
        check_one_level(self.confidence_level)
        check_count(self.n_folds, "n_folds", smallest=2)
        check_count(self.n_repeats, "n_repeats")
        check_share(self.calibration_size, "calibration_size")
        if isinstance(self.encoder, str) and self.encoder != "auto":
            raise ValueError(
                f'encoder must be "auto", a transformer or None, got {self.encoder!r}.'
            )
        if self.calibration is not None and self.calibration not in CALIBRATIONS:
            allowed = ", ".join(f'"{name}"' for name in CALIBRATIONS)
            raise ValueError(f"calibration must be one of {allowed}, got {self.calibration!r}.")
        if self.members is not None and self.model is not None:
            raise ValueError("model is to be trained, members are fitted: give one of them.")

    def _choose_calibration(self, X_cal: TableLike | None, y_cal: ArrayLike | None) -> str:
        if (X_cal is None) != (y_cal is None):
            raise ValueError("X_cal and y_cal belong together: give both or neither.")
        apart = X_cal is not None or self.members is not None
        if self.calibration is None:
            return "joint" if apart else "cross"
        if self.calibration == "cross" and apart:
            raise ValueError(
                'calibration="cross" calibrates on the rows that train, so X_cal, y_cal and fitted '
                'members have no use: leave them out, or choose "joint" or "conformal".'
            )
        if self.calibration == "cross" and learns_from_target(self.encoder):
            raise ValueError(
                "The encoder learns from y, so rows would be judged by what saw their classes; "
                'choose calibration="joint" or "conformal", or an encoder that takes X alone.'
            )
        return self.calibration

    def _check_rows(
        self,
        X: TableLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        reset: bool,
    ) -> Rows:
        """The rows, with the position of each one's class in `classes_`."""
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        X = check_table(self, X, reset=reset)
        labels = check_labels(y, len(X))
        weight = check_row_weight(sample_weight, len(labels))
        if reset:
            there = labels if weight is None else labels[weight > 0]
            classes, counts = np.unique(there, return_counts=True)
            self.classes_ = classes if self.members is None else classes_of(self._given_members())
            if self.members is None:
                check_counts(classes, counts)
        rows = Rows(X, labels, sample_weight=weight).without_weightless()
        return replace(rows, y=self.positions(rows.y))

    def positions(self, y: np.ndarray) -> np.ndarray:
        """(n,): where the class of each row stands in `classes_`; others are refused."""
        known = {label: i for i, label in enumerate(self.classes_.tolist())}
        position = np.array([known.get(label, -1) for label in y.tolist()])
        is_known = position >= 0
        if not is_known.all():
            whose = "the model was not trained on" if self.members is None else "no member knows"
            raise ValueError(
                f"y holds the class {y[~is_known][0]!s}, which {whose}: leave such rows out, or "
                "train on rows of that class too."
            )
        return position

    def _given_members(self) -> Sequence[BaseEstimator]:
        if not self.members:
            raise ValueError("members is empty: give at least one fitted classifier.")
        return self.members

    def _fit_members(
        self, rows: Rows, calibrating: Rows | None, rng: np.random.RandomState
    ) -> tuple[Held, Held]:
        """Of the rows that choose c1 and c2, and of those that judge sets."""
        if self.calibration_ == "cross":
            draws = self._train(rows, rng)
            self.familiar_ = self._familiar(rows)
            logits = unseen_logits(self._logits(rows.X), draws)
            unseen = Held(rows.y, logits, rows.sample_weight)
            return unseen, unseen
        if self.members is not None:
            self.encoder_ = self._make_encoder().fit(rows.X, rows.y)
            self.bags_ = [ListedClassifiers(list(self.members), self.classes_)]
            self.models_, self.leaderboard_, self.familiar_ = {}, {}, None
            self.n_train_, held_out = 0, rows if calibrating is None else calibrating
        else:
            train, held_out = (
                hold_out(rows, self.calibration_size, rng)
                if calibrating is None
                else (rows, calibrating)
            )
            self._train(train, rng)
            self.familiar_ = self._familiar(train, held_out)
        if self.calibration_ == "joint":
            held = self._hold(held_out)
            return held, held
        choosing, judging = hold_out(held_out, 0.5, rng)
        return self._hold(choosing), self._hold(judging)

    def _hold(self, rows: Rows) -> Held:
        return Held(rows.y, self._logits(rows.X), rows.sample_weight)

    def _check_copies(self, rows: Rows, calibrating: Rows | None) -> bool:
        """Whether rows that judge seem to be copies of some that train."""
        encoded = [
            Rows(encode(self.encoder_, part.X), part.y)
            for part in (rows, calibrating)
            if part is not None
        ]
        if self.members is not None:
            return False
        return check_copies(encoded[0], encoded[1:], are_apart=calibrating is not None)

    def _train(self, rows: Rows, rng: np.random.RandomState) -> Folds:
        """Fit encoder and members; which member saw which row."""
        if len(np.unique(rows.y)) < 2:
            raise ValueError(
                f"Only one class, {self.classes_[rows.y[0]]!s}, is left among the training rows "
                'after others were held out: give more rows, or choose calibration="cross".'
            )
        self.encoder_ = self._make_encoder().fit(rows.X, rows.y)
        rows = replace(rows, X=encode_to_fit(self.encoder_, rows.X))
        draws = stratified_folds(rows.y, self.n_folds, self.n_repeats, rng)
        models = {name: seed_missing(clone(m), rng) for name, m in self._pool(len(rows)).items()}
        trained = train(models, rows, len(self.classes_), draws, self.n_repeats, n_jobs=self.n_jobs)
        self.bags_, self.models_ = trained.bags, trained.models
        self.leaderboard_, self.n_train_ = trained.losses, len(rows)
        return trained.draws

    def _familiar(self, train: Rows, held_out: Rows | None = None) -> Familiarity | None:
        """How ordinary rows look, as for numbers; None where members see a table."""
        encoded = encode_to_fit(self.encoder_, train.X)
        if not isinstance(encoded, np.ndarray):
            return None
        texts = texts_of_rows(self.encoder_, train.X)
        if held_out is None:
            rows = ordinary_rows(len(train))
            widths = _disagreement(self._logits(_safe_indexing(train.X, rows)))
            return Familiarity.of(encoded, texts, widths, rows=rows)
        new = encode(self.encoder_, held_out.X), texts_of_rows(self.encoder_, held_out.X)
        widths = _disagreement(self._logits(held_out.X))
        return Familiarity.of(encoded, texts, widths, held_out=new)

    def _logits(self, X: TableLike) -> np.ndarray:
        return self._encoded_logits(encode(self.encoder_, X))

    def _encoded_logits(self, X: Any) -> np.ndarray:
        return np.concatenate([bag.predict_logits(X) for bag in self.bags_], axis=1)

    def _pool(self, n_rows: int) -> Mapping[str, BaseEstimator]:
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

    def _make_encoder(self) -> BaseEstimator:
        is_auto = isinstance(self.encoder, str)
        if self.encoder is None or (is_auto and self.members is not None):
            return FunctionTransformer()
        return make_encoder(self.encoder, codes=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.encoder is not None
        return tags


class Held(NamedTuple):
    """Rows that calibrate."""

    y: np.ndarray  # (n,): positions of classes
    logits: np.ndarray  # (n, members, classes)
    weight: np.ndarray | None  # (n,): how many rows each counts as


def _disagreement(logits: np.ndarray) -> np.ndarray:
    """(n,): how far the logits of the members lie from their mean, as a root mean square."""
    deviation = logits - logits.mean(axis=1, keepdims=True)
    return np.sqrt(np.mean(deviation**2, axis=(1, 2)))
