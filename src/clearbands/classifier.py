"""CLEAR with its two constants for classes, as a scikit-learn estimator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.calibration.class_calibrator import JointClassCalibrator
from clearbands.engine.progress import Listener, listening
from clearbands.engine.threads import one_blas_thread
from clearbands.models.class_bags import classes_of
from clearbands.prediction.class_predictions import predict_classes
from clearbands.prediction.class_predictor import ClassAnswers, ClassPredictor
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.prediction.table_estimator import TableEstimator, predictor_attribute
from clearbands.rows.class_labels import check_counts, check_labels, likeliest
from clearbands.rows.levels import check_levels, check_one_level
from clearbands.rows.messages import renamed
from clearbands.rows.settings import Calibration
from clearbands.rows.split import Rows
from clearbands.rows.typed import Seed, TableLike
from clearbands.selection.fit_classes import ClassPlan
from clearbands.selection.in_memory import encode_shares
from clearbands.tables.native import kind_of

if TYPE_CHECKING:
    from clearbands.apps.report import Report


class ClearClassifier(ClassifierMixin, TableEstimator):
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
        What turns a table into numbers. "auto" is a `TableEncoder`, and None leaves X as it is. If
        the models compete, "auto" lets each member learn from its own rows what the values of a
        text column with more than 10 of them are worth.
    n_jobs : int, optional
        How many threads work, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState or None
        The seed, as in scikit-learn.

    Attributes
    ----------
    predictor_ : ClassPredictor
        All that the fitted model needs to answer; most of the attributes below are its own.
    classes_ : (classes,)
        The classes, sorted.
    c1_ : float
        The factor of all logits.
    c2_ : float
        The factor of the spread of the members around the mean logit.
    guarantee_ : str
        The coverage of the sets that is guaranteed, in words.
    calibration_ : str
        "cross", "joint" or "conformal".
    members_ : list of classifier
        The fitted members. Those that `fit` trained know classes as positions in `classes_`.
    models_ : dict
        The models that were kept, seeded and unfitted; empty with `members`.
    leaderboard_ : dict of str to float
        The negative log-likelihood of unseen rows for each model that competed, best first.
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

    confidence_level: float
    predictor_: ClassPredictor
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
        # Fitted members are data of this estimator: cloned, they would not be fitted.
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
        check_one_level(self.confidence_level)
        plan = ClassPlan.of(self, has_calibration_set=X_cal is not None)
        rng = check_random_state(self.random_state)
        rows, held_out = self._read_rows(X, y, X_cal, y_cal, sample_weight=sample_weight)
        with listening(progress), one_blas_thread():
            encoder, shares, has_copies = encode_shares(
                plan.encoder,
                plan.divide_rows(rows, held_out, self.classes_, rng),
                are_apart=held_out is not None,
                may_share=plan.are_fitted,
            )
            trained = plan.train(shares[0], self.classes_, rng)
            choosing, judging = plan.judged(trained, shares, rng)
            # One row of a class drawn by chance keeps c1 finite if no row is wrong.
            calibrator = JointClassCalibrator(prior_rows=1).fit(
                choosing.y, choosing.X, sample_weight=choosing.sample_weight
            )
            familiar = plan.familiarity(trained, shares)
            predictor = ClassPredictor.of(
                encoder,
                trained.bags,
                calibrator,
                familiar,
                judging,
                is_guaranteed=plan.calibration == "conformal",
            )
        self.predictor_, self.calibration_ = predictor, plan.calibration
        self.models_, self.leaderboard_ = trained.models, trained.losses
        self.guarantee_ = plan.guarantee(predictor, has_copies=has_copies)
        self.n_train_ = 0 if plan.are_fitted else len(shares[0])
        self.n_validation_ = 0 if plan.calibration == "cross" else len(choosing)
        self.n_calibration_ = len(judging)
        return self

    def member_logits(self, X: TableLike) -> np.ndarray:
        """Predict centred log-probabilities (n, members, classes), not calibrated."""
        table = self._table(X)
        return self.predictor_.logits(table)

    def answers(self, X: TableLike) -> ClassAnswers:
        """Predict once, and answer with probabilities, entropies and sets of the same rows."""
        table = self._table(X)
        return self.predictor_.answers(table, kind_of(X))

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict calibrated probabilities (n, classes)."""
        return self.answers(X).probabilities

    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the most probable class (n,)."""
        return likeliest(self.predict_proba(X), self.classes_)

    def predict_uncertainty(self, X: TableLike) -> ClassUncertainty:
        """Predict the total, aleatoric and epistemic entropy of every row, in bits."""
        return self.answers(X).entropies

    def predict_set(self, X: TableLike, *, confidence_level: float | None = None) -> np.ndarray:
        """Predict the set of each row: booleans (n, classes).

        The most probable class always does. `confidence_level` may be any level, by default that
        of the constructor.
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        return self.answers(X).sets(level)

    def predict_frame(
        self, X: TableLike, *, confidence_level: float | Sequence[float] | None = None
    ) -> Any:
        """Predict everything about every row, as a frame of the same kind as X.

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
        """Find rows that are unlike those that the model has learned from: booleans (n,).

        A row is unfamiliar if the logits of its members lie far apart, if a value lies outside the
        range of its column, or if a category was never seen in the fit. About 5 % of ordinary rows
        are flagged, as in `ClearRegressor`. The value of c2 does not matter.
        """
        return self.answers(X).unfamiliar()

    @renamed(groups="by")
    def report(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        target: str = "the target",
        by: ArrayLike | None = None,
    ) -> Report:
        """Make a page on rows that the model has not seen: do sets hold, and why are rows unsure?

        A notebook shows the page, and `save(path)` writes one file that needs no network. `by` (n,)
        holds labels of groups of rows whose coverage is compared. The report needs the extra
        "report".
        """
        from clearbands.apps.report.classes import make_class_report

        check_is_fitted(self, "calibrator_")
        return make_class_report(self, X, y, target=target, by=by)

    @property
    def members_(self) -> list[BaseEstimator]:
        """The fitted members, one model after the other."""
        return [member for bag in self.predictor_.bags for member in bag.members]

    encoder_ = predictor_attribute("encoder")
    calibrator_ = predictor_attribute("calibrator")
    familiar_ = predictor_attribute("familiar")
    scores_ = predictor_attribute("scores")
    score_weights_ = predictor_attribute("weight")
    c1_: float = predictor_attribute("calibrator.c1_")
    c2_: float = predictor_attribute("calibrator.c2_")

    def _read_rows(self, *args: Any, **options: Any) -> tuple[Rows, Rows | None]:
        """Check the rows, and return them with the positions of their classes in `classes_`."""
        rows, held_out = super()._read_rows(*args, **options)
        if self.members is not None:
            if not self.members:
                raise ValueError("members is empty: give at least one fitted classifier.")
            self.classes_ = classes_of(self.members)
        else:
            self.classes_, counts = np.unique(rows.y, return_counts=True)
            check_counts(self.classes_, counts)
        if held_out is not None:
            held_out = replace(held_out, y=self.positions(held_out.y))
        return replace(rows, y=self.positions(rows.y)), held_out

    def _check_y(self, y: ArrayLike | None, X: Any) -> np.ndarray:
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        return check_labels(y, _num_samples(X))

    def positions(self, y: np.ndarray) -> np.ndarray:
        """Return the position of each class in `classes_` (n,); other classes raise an error."""
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
