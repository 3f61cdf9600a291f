"""CLEAR as a scikit-learn estimator."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.calibration_set import (
    keep_levels,
    lambda_paths,
    scale,
)
from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.rolling import Pace, RefitWarning, Rolling
from clearbands.engine.progress import Listener
from clearbands.engine.progress_bar import showing
from clearbands.engine.threads import one_blas_thread
from clearbands.models.monotone import Monotone, check_groups_are_free
from clearbands.prediction.answering import AnsweringRegressor
from clearbands.prediction.interval_regressor import check_encoder_sees_no_target
from clearbands.prediction.outlook import Outlook
from clearbands.prediction.updating import begin, later_times, warn_if_seen
from clearbands.rows.bands import Components
from clearbands.rows.labels import read_groups, read_labels
from clearbands.rows.messages import renamed, warn
from clearbands.rows.settings import Calibration, Residuals, Split
from clearbands.rows.typed import Seed, TableLike
from clearbands.scaling.source import check_nothing_for_files, is_table_on_disk
from clearbands.selection.centers import CenterStanding
from clearbands.selection.fit_result import FitResult, UnseenScores
from clearbands.selection.in_memory import fit_in_memory
from clearbands.selection.judging import LeaderboardRow
from clearbands.selection.model_search import ModelSearch
from clearbands.selection.outlook import make_outlook, shows_curve
from clearbands.selection.plan import Plan
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.pairs import Pair

if TYPE_CHECKING:
    from clearbands.apps.report import Report

EPISTEMIC_SHARES = {"least_epistemic": 0.02, "usual_epistemic": 0.1}
"""Where parts compete: what they cost, and how often lambda would be 0 without them, is in
docs/reliability.md, by `experiments/beyond.py`."""


class ClearRegressor(AnsweringRegressor):
    """Calibrated prediction intervals that tell noise from ignorance.

    By default several models compete for the center and for the noise around it, all rows train,
    and every row is calibrated by members that did not see it. The words of this page stand in the
    glossary of the docs.

    Parameters
    ----------
    epistemic : EpistemicPart, optional
        The part that gives the center and the epistemic widths, such as a `PCSEnsemble`. By default
        several models compete.
    aleatoric : AleatoricPart, optional
        The part that gives the aleatoric widths, such as `ResidualQuantiles`. By default several
        models compete.
    calibrator : calibrator, optional
        A `ClearCalibrator` by default, or one of its siblings. Where models compete, the default
        keeps at least a fiftieth of the mean width epistemic, and a tenth where the rows cannot
        tell that loss from the smallest one.
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration : "cross", "joint" or "conformal", optional
        How the intervals are calibrated. With "cross" all rows train, and every row is calibrated
        by members that did not see it; this is the default when `fit` is given no calibration set.
        With "joint" one held-out set chooses lambda and gamma1; this is the paper's standard, and
        the default with a calibration set. With "conformal" one half of the held-out set chooses
        lambda and the other half gamma1, which gives a finite-sample guarantee.
    calibration_size : float
        The share of the rows that "joint" and "conformal" hold out when `fit` is given no
        calibration set.
    split : "random" or "time"
        How rows are divided. With "time" the rows must stand in the order of time, and no row is
        judged by a model that saw later rows: "cross" calibrates each block of rows with parts that
        were fitted on earlier blocks, and "joint" and "conformal" hold out the last rows.
    gap : int
        With split="time", how many moments before a row must not train the model that judges it.
        Forecasts 24 hours ahead need a gap of 23, since the 23 hours before are not known yet.
    residuals : "in-sample", "out-of-bag" or "target", optional
        What a given aleatoric part learns. "in-sample" takes residuals from the center of all
        members, "out-of-bag" from the center of the members that did not see the row, and "target"
        takes y itself, for models that follow y as closely as the center does. The default is
        "out-of-bag" with calibration="cross" and "in-sample" otherwise, as in the paper.
    show_center : bool, optional
        Whether the aleatoric part sees the center as one more feature, and with "cross" also how
        much the members disagree, since noise often depends on the prediction. By default it does
        where models compete, and it does not where a part is given.
    search : ModelSearch, optional
        Which models compete, and how many members they get. `fast()` and `thorough()` differ from
        the default in this.
    time_budget : float, optional
        How many seconds a fit should take. Of the default search and two cheaper ones, `fit` takes
        the best that it expects to finish in time. `search_` holds the one that was taken, and
        a fit with `search=model.search_` repeats it on any machine.
    support : (low, high), optional
        The smallest and the largest value that a target can have; None stands for no limit. No
        center, bound, quantile or sample lies outside.
    target_transform : "log", "log1p", "sqrt" or transformer, optional
        The scale on which the model is fitted and calibrated. A transformer of scikit-learn must
        rise with y and have an inverse. Predictions are on the scale of y; only `components`, the
        leaderboards and `lambda_paths_` are on the transformed scale.
    whole_numbers : bool
        Whether the targets are counts. Centers, bounds, quantiles and samples are then whole
        numbers. The interval keeps every count that it held before, so its coverage stays.
    monotone : dict or sequence, optional
        Columns of numbers or dates with which the target rises (1) or falls (-1), other things
        being equal: {"size": 1, "age": -1}, or one of -1, 0 and 1 per column. Of two rows that
        differ in such columns alone, center, bounds, quantiles and chances then keep that order.
        Only trees that can promise this compete, and the widths depend on the other columns alone.
    encoder : "auto", transformer or None
        What turns a table into numbers. "auto" is a `TableEncoder`, and None leaves X as it is.
        Where models compete, or are members of folds as those of `fast()` are, "auto" lets each
        member learn from its own rows what the values of a text column are worth that has more than
        10 of them. Other parts get dummies.
    n_jobs : int, optional
        How many threads work, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState or None
        The seed, as in scikit-learn. Parts without a seed of their own get theirs from it.
    verbose : 0 or 1
        With 1, `fit` draws a line on standard error that says how far it is and how long it will
        take. It draws none where `progress` is given.

    Attributes
    ----------
    lambda_ : (k,)
        The weight of the epistemic against the aleatoric widths, `gamma2_ / gamma1_`, per level.
    gamma1_ : (k,)
        The factor of the aleatoric widths, per level.
    gamma2_ : (k,)
        The factor of the epistemic widths, per level.
    levels_ : (k,)
        The confidence levels.
    guarantee_ : str
        What holds for the coverage, in words.
    calibration_ : str
        "cross", "joint" or "conformal".
    encoder_ : transformer
        The fitted encoder.
    calibrator_ : calibrator
        The fitted calibrator.
    parts_ : Pair or Blend
        The fitted pair of parts, or an average of several pairs.
    epistemic_ : EpistemicPart
        The epistemic part of the pair, or of the best of several. It predicts on the scale of
        `target_transform`, and where targets lie very far from zero, it predicts them less the
        number `transform_.origin`.
    aleatoric_ : AleatoricPart
        The aleatoric part of the same pair, on the same scale.
    leaderboard_ : tuple of LeaderboardRow
        The pairs that competed, best first. It is empty where both parts were given.
    centers_ : tuple of CenterStanding
        The centers that competed before, best first. It is empty where the epistemic part was
        given.
    search_ : ModelSearch or None
        The rules of the search. It is None where both parts were given and rows were held out.
    lambda_paths_ : tuple of LambdaPath
        The loss over lambda at each level. It is empty for an `AdditiveCalibrator`, which has no
        lambda.
    any_level_ : AnyLevel or None
        What the model keeps of its calibration rows to predict at any level, 8 bytes per row. It is
        None where no level has finite bounds.
    familiar_ : Familiarity or None
        How ordinary rows look; `unfamiliar` compares new rows with it.
    beyond_ : Extrapolation or None
        By how much the epistemic widths grow for rows outside the ranges of the training rows.
    outlook_ : Outlook or None
        The learning curve, from which `forecast` and the split into noise and ignorance follow.
        It is None for parts that were given: they keep the paper's split.
    n_train_ : int
        How many rows trained.
    n_validation_ : int
        How many rows chose lambda.
    n_calibration_ : int
        How many rows chose gamma1.
    unseen_ : UnseenScores
        Coverage, typical width and error on the calibration rows, each judged by members that did
        not see it.
    last_time_ : number or date
        The time of the last row, where `fit` was given times.
    rolling_ : Rolling
        Only after `update`: the window of the last rows, the present levels, the coverage so far,
        and the shares of rows below and above.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import ClearRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> y = X[:, 0] + X[:, 0] * np.resize([-0.1, 0.0, 0.1], 100)  # noise that grows with x
    >>> model = ClearRegressor(confidence_level=0.9, random_state=0).fit(X, y)
    >>> point, intervals = model.predict_interval(X)
    >>> point.shape, intervals.shape  # rows, lower and upper, levels
    ((100,), (100, 2, 1))
    >>> parts = model.predict_uncertainty(X)  # why an interval is wide
    >>> parts.aleatoric.shape, parts.epistemic.shape  # distances below and above the center
    ((100, 2), (100, 2))
    """

    leaderboard_: tuple[LeaderboardRow, ...]
    centers_: tuple[CenterStanding, ...]
    unseen_: UnseenScores

    def __init__(
        self,
        epistemic: EpistemicPart | None = None,
        aleatoric: AleatoricPart | None = None,
        calibrator: BaseEstimator | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration: Calibration | None = None,
        calibration_size: float = 0.25,
        split: Split = "random",
        gap: int = 0,
        residuals: Residuals | None = None,
        show_center: bool | None = None,
        search: ModelSearch | None = None,
        time_budget: float | None = None,
        support: tuple[float | None, float | None] | None = None,
        target_transform: BaseEstimator | str | None = None,
        whole_numbers: bool = False,
        monotone: Monotone = None,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.epistemic = epistemic
        self.aleatoric = aleatoric
        self.calibrator = calibrator
        self.confidence_level = confidence_level
        self.calibration = calibration
        self.calibration_size = calibration_size
        self.split = split
        self.gap = gap
        self.residuals = residuals
        self.show_center = show_center
        self.search = search
        self.time_budget = time_budget
        self.support = support
        self.target_transform = target_transform
        self.whole_numbers = whole_numbers
        self.monotone = monotone
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @renamed(together="groups", group="calibration_groups")
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        X_cal: TableLike | None = None,
        y_cal: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        calibration_groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
        progress: Listener | None = None,
        features: Sequence[str] | None = None,
        work: Any = None,
        engine: Any = None,
    ) -> ClearRegressor:
        """Train the model and calibrate its intervals.

        No row is calibrated by a member that was trained on it. With a calibration set (`X_cal`,
        `y_cal`) all of X trains.

        X may also be a table that is larger than memory: the path of a parquet file or of a folder
        of such files, a list of paths, or a Dask DataFrame. Then y, the groups and the weights are
        names of its columns. See docs/scaling.md.

        Parameters
        ----------
        X : array, pandas or polars frame, path or Dask DataFrame
            The rows, with numbers, text, categories, dates and gaps.
        y : (n,) or str
            The targets, or for a table on disk the name of their column.
        X_cal : table, optional
            The rows of a calibration set.
        y_cal : (m,), optional
            The targets of the calibration set.
        groups : (n,), optional
            Labels of rows that belong together, such as the visits of one patient. No member is
            judged on some rows of a group after training on others, and where rows are held out,
            whole groups are.
        time : (n,), optional
            Numbers or dates that must not fall, for split="time". Rows of one time stay together.
            Without it every row is a moment of its own.
        calibration_groups : (n,) or str, optional
            Labels of groups, or the name of a column, in each of which the level shall hold. All
            rows choose lambda, and the rows of each group choose its gamma1; see
            `GroupCalibrator`. They belong to the rows of `X_cal` where it is given, and to those of
            X otherwise.
        sample_weight : (n,), optional
            How many rows each row of X counts as, in training, judging and calibration: a row of
            weight 3 is three rows that stay together, and a row of weight 0 is none. For the
            guarantee of "conformal" it is one row, and a new row counts as much as the heaviest.
            The rows of `X_cal` count once.
        calibration_weight : (n,), optional
            How many times more often such a row occurs among new rows than here, up to a common
            factor: a number that you know, or one from `ShiftWeights`. The weights belong to the
            same rows as `calibration_groups`.
        progress : callable, optional
            `fit` calls it as `progress(stage, done, total)`.
        features : list of str, optional
            For a table on disk, the columns to learn from. By default these are all but the target,
            the weights and the groups.
        work : path, optional
            For a table on disk, the folder that keeps finished pieces, from which another run
            continues.
        engine : "threads", "processes", "dask" or engine, optional
            For a table on disk, who does the work; see `clearbands.scaling.engines`. The result
            does not depend on the engine, nor on workers that die meanwhile.

        Returns
        -------
        ClearRegressor
            The fitted model itself.
        """
        if self.verbose not in (0, 1):
            raise ValueError(f"verbose must be 0 or 1, got {self.verbose!r}.")
        plan = Plan.of(self, self._check_parameters(), has_set=X_cal is not None)
        rng = check_random_state(self.random_state)
        labels = {
            "groups": groups,
            "time": time,
            "calibration_groups": calibration_groups,
            "sample_weight": sample_weight,
            "calibration_weight": calibration_weight,
        }
        self._forget_rows()
        with showing(progress, self.verbose), one_blas_thread():
            if is_table_on_disk(X):
                options = {"features": features, "work": work, "engine": engine}
                learned = self._learn_from_disk(plan, rng, X, y, X_cal, y_cal, labels | options)
            else:
                check_nothing_for_files(features, work, engine)
                learned = self._learn(plan, rng, X, y, X_cal, y_cal, **labels)
            self._take_parts(learned)
            self._calibrate(learned, rng)
            self._keep_for_answers(learned, calibration_groups)
            self.outlook_ = self._look_ahead(learned, rng)
        guarantee = learned.guarantee(has_set=X_cal is not None, has_labels=groups is not None)
        self.guarantee_ = guarantee.besides(getattr(self.calibrator_, "sharing_", ()))
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """(n,): the center."""
        _, encoded = self._read(X)
        targets = self._targets
        return targets.center(targets.inner.clip(self.parts_.predict(encoded)))

    def _components(self, X: TableLike) -> Components:
        components = self.parts_.components(X)
        return components._replace(center=self._targets.inner.clip(components.center))

    def _learn(
        self,
        plan: Plan,
        rng: np.random.RandomState,
        X: TableLike,
        y: ArrayLike,
        X_cal: TableLike | None,
        y_cal: ArrayLike | None,
        *,
        groups: ArrayLike | None,
        time: ArrayLike | None,
        calibration_groups: ArrayLike | None,
        sample_weight: ArrayLike | None,
        calibration_weight: ArrayLike | None,
    ) -> FitResult:
        """Parts, and what they say of rows that they did not see."""
        check_groups_are_free(self.monotone, calibration_groups)
        calibrating = (X, y) if X_cal is None else (X_cal, y_cal)
        labels = read_labels(*calibrating, calibration_groups, calibration_weight)
        together, self.last_time_ = read_groups(self.split, y, groups, time)
        rows, held_out = self._read_rows(X, y, X_cal, y_cal, together, labels, sample_weight)
        if plan.calibration == "cross":
            check_encoder_sees_no_target(self.encoder)
        return fit_in_memory(plan, rows, held_out, rng)

    def _learn_from_disk(
        self,
        plan: Plan,
        rng: np.random.RandomState,
        X: Any,
        target: Any,
        X_cal: Any,
        y_cal: Any,
        options: Mapping[str, Any],
    ) -> FitResult:
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.scaling.on_files import fit_table_on_disk

        has_set = not (X_cal is y_cal is None)
        return fit_table_on_disk(self, plan, X, target, rng, has_set=has_set, **options)

    def _forget_rows(self) -> None:
        """What an earlier fit, `update` or `clearbands.persistence.origin` kept of other rows."""
        self.last_time_ = None
        for other in ("origin_", "rolling_"):
            if hasattr(self, other):
                delattr(self, other)

    def _take_parts(self, learned: FitResult) -> None:
        self.encoder_, self.transform_ = learned.encoder, learned.targets.transform
        chosen = learned.chosen
        self.parts_, self.search_ = chosen.parts, chosen.search
        self.leaderboard_, self.centers_ = chosen.leaderboard, chosen.centers
        self.n_train_ = learned.n_train

    def _calibrate(self, learned: FitResult, rng: np.random.RandomState) -> None:
        levels, chosen_on = learned.plan.levels, learned.chosen_on
        self.calibration_, self.levels_ = learned.plan.calibration, np.array(levels)
        self.calibrator_ = learned.calibrate(self.default_calibrator(), rng)
        self.lambda_paths_ = lambda_paths(self._pooled, chosen_on, levels, self.lambda_)
        self.n_calibration_, self.n_validation_ = len(learned.calibration_set.y), len(chosen_on.y)

    def _keep_for_answers(self, learned: FitResult, column: Any) -> None:
        """What other levels need, and what tells new rows that are unlike these."""
        judged, chooser = learned.calibration_set, learned.chooser
        self.any_level_ = keep_levels(self.calibrator_, judged, self.levels_, chooser=chooser)
        names = getattr(self, "feature_names_in_", ())
        is_name = isinstance(column, str) and column in names
        self.calibration_group_column_ = str(column) if is_name else None
        calibrated = scale(self.calibrator_, judged.components, judged.calibration_groups)
        self.familiar_ = learned.familiarity()
        self.beyond_ = learned.extrapolation(calibrated, float(self.levels_[0]))
        self.unseen_ = UnseenScores.of(judged.y, calibrated, self._targets, judged.weight)
        learned.hint(calibrated)

    def _look_ahead(self, learned: FitResult, rng: np.random.RandomState) -> Outlook | None:
        """What more rows would buy; None for parts that were given, which keep the paper's split.

        Seeds are drawn aside, so that nothing else depends on them.
        """
        if not shows_curve(learned):
            return None
        level, aside = float(self.levels_[0]), copy.deepcopy(rng)
        return make_outlook(learned, self.calibrator_, level, aside, self.n_jobs)

    def default_calibrator(self) -> BaseEstimator:
        """The calibrator that was given, or the one that stands for none."""
        if self.calibrator is not None:
            return self.calibrator
        is_given = self.epistemic is not None and self.aleatoric is not None
        return ClearCalibrator() if is_given else ClearCalibrator(**EPISTEMIC_SHARES)

    @renamed(groups="calibration_groups")
    def update(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        time: ArrayLike | None = None,
        calibration_groups: ArrayLike | None = None,
        window: int | None = None,
        rate: float | None = None,
        lead: int | None = None,
    ) -> Self:
        """Calibrate further with rows whose targets have become known, in the order of time.

        Each row is first judged by the interval that it would have got, and then joins the window
        of the last rows, on which the intervals are calibrated. The bounds below and above are
        quantiles of their errors. The share of each quantile adapts, so that in the long run the
        coverage is met for any sequence of rows (adaptive conformal inference).

        Quantiles and distributions move to where the last rows are, and so does their median.
        `predict` does not move: center and widths are not fitted again, and intervals always reach
        to the center. A `RefitWarning` says when the model should be fitted again. The state is
        `rolling_`, which is saved with the model and which all later predictions use. Several
        threads may update one model: rows join in the order in which the calls finish.

        Parameters
        ----------
        X : table
            The rows.
        y : (n,)
            Their targets.
        time : (n,), optional
            The times of the rows. They must be later than the last row that the model knows.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.
        window : int, optional
            How many of the last rows count, by default 1,000. Calibration rows fill the window at
            the beginning.
        rate : float, optional
            By how much one row moves the share of its side. The default is a twentieth of
            (1 - level) / 2, and less with a lead of more than 10. With 0 only the window moves.
        lead : int, optional
            How many rows pass until the target of a row is known, by default `gap` + 1. Forecasts
            24 hours ahead that are made every hour have a lead of 24. Each row is judged with what
            was known at its time.

        Returns
        -------
        ClearRegressor
            The model itself.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals
        >>> X = np.sin(np.arange(300.0))[:, None]
        >>> y = X[:, 0] + np.resize([-1.0, 0.0, 1.0, 2.0, -2.0], 300)
        >>> parts = FoldedEnsemble(LinearRegression()), ScaledResiduals(LinearRegression())
        >>> model = ClearRegressor(*parts, split="time", random_state=0).fit(X[:200], y[:200])
        >>> model = model.update(X[200:], y[200:])
        >>> model.rolling_.n_rows, model.rolling_.coverage.shape
        (100, (1,))
        """
        placed = self.placed(X, y, calibration_groups=calibration_groups)
        warn_if_seen(placed.positions, float(self.levels_[0]))
        with self._one_update:
            before = self._at_pace(window=window, rate=rate, lead=lead)
            times = later_times(time, len(placed.positions), self._rolling, self.last_time_)
            after = before.after(placed.positions, placed.strange, times)
            self.rolling_ = after
            self.guarantee_ = Guarantee.ADAPTIVE.value
        advice = after.advice()
        if advice is not None and before.advice() is None:
            warn(advice, RefitWarning)
        return self

    @property
    def _one_update(self) -> threading.Lock:
        """Held while rows join the window: whatever thread they come from, none is lost."""
        return self.__dict__.setdefault("_lock", threading.Lock())

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock, which belongs to one model in one process."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lock"}

    def _at_pace(self, **settings: Any) -> Rolling:
        """How far calibration has come, from now on at this pace."""
        changed = {name: value for name, value in settings.items() if value is not None}
        if self._rolling is not None:
            return self._rolling.at_pace(replace(self._rolling.pace, **changed))
        return begin(self.levels_, self._bands(), replace(self.first_pace(), **changed))

    def first_pace(self) -> Pace:
        """That of the first update: what the gap kept from the fit, updates do not know either."""
        return Pace(lead=1 + self.gap)

    def card(self, *, name: str = "model.clear", target: str = "") -> str:
        """A model card in Markdown, as model hubs show it.

        It says what the model predicts and from which rows, how it fared on rows that its members
        did not see, where it breaks, what is guaranteed and how to load it. `name` is what the file
        of the model is called, and `target` what it predicts, by default as the command noted it.

        Examples
        --------
        >>> import numpy as np
        >>> from clearbands import fast
        >>> X = np.linspace(0, 1, 100)[:, None]
        >>> model = fast(random_state=0).fit(X, X[:, 0] + np.resize([-0.1, 0.1], 100))
        >>> print(model.card(target="price").splitlines()[9])
        # Prediction intervals for price
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
        unit: str = "",
        by: ArrayLike | None = None,
        confidence_level: float | None = None,
    ) -> Report:
        """A page about the model on rows that no step of the fit has seen.

        It says whether the intervals hold, why they are wide, and which rows to look at. The page
        shows the names `target` and `unit`. `by` (n,) holds labels of groups between which coverage
        should not differ. Save the page with `.save("report.html")`; a notebook shows it by itself.
        """
        from clearbands.apps.report import make_report

        check_is_fitted(self, "calibrator_")
        return make_report(
            self, X, y, target=target, unit=unit, by=by, confidence_level=confidence_level
        )

    @property
    def epistemic_(self) -> EpistemicPart:
        """The fitted epistemic part, of the best pair where several are averaged."""
        return self._best_pair.epistemic

    @property
    def aleatoric_(self) -> AleatoricPart:
        """The fitted aleatoric part, of the best pair where several are averaged."""
        return self._best_pair.aleatoric

    @property
    def _best_pair(self) -> Pair:
        check_is_fitted(self, "parts_")
        return self.parts_.best
