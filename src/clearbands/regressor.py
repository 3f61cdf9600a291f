"""CLEAR as a scikit-learn estimator."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.calibration.calibration_set import lambda_paths
from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.calibration.distribution import Distribution
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.rolling import Pace, RefitWarning, Rolling
from clearbands.engine.progress import Listener
from clearbands.engine.progress_bar import showing
from clearbands.engine.threads import one_blas_thread
from clearbands.models.monotone import Monotone, check_groups_are_free
from clearbands.prediction.forecast import Forecast
from clearbands.prediction.predictions import answer, frame_partitions, predict_partitions
from clearbands.prediction.predictor import Answers, PlacedRows, Predictor
from clearbands.prediction.questions import Questions
from clearbands.prediction.table_estimator import TableEstimator, predictor_attribute
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.prediction.updating import updated
from clearbands.rows.bands import Components
from clearbands.rows.checks import check_side
from clearbands.rows.frames import is_dask, is_frame
from clearbands.rows.labels import are_names, read_groups, read_labels
from clearbands.rows.levels import check_levels, check_quantiles
from clearbands.rows.messages import renamed, warn
from clearbands.rows.settings import Calibration, Residuals, Side, Split
from clearbands.rows.split import Rows
from clearbands.rows.typed import Seed, TableLike
from clearbands.scaling.source import check_nothing_for_files, is_table_on_disk
from clearbands.selection.centers import CenterScore
from clearbands.selection.fit_result import FitResult, UnseenScores
from clearbands.selection.in_memory import fit_in_memory
from clearbands.selection.judging import LeaderboardRow
from clearbands.selection.model_search import ModelSearch
from clearbands.selection.outlook import make_outlook, shows_curve
from clearbands.selection.plan import Plan
from clearbands.tables.encoder import encode
from clearbands.tables.native import kind_of
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import EpistemicPart

if TYPE_CHECKING:
    from clearbands.apps.report import Report

EPISTEMIC_SHARES = {"least_epistemic": 0.02, "usual_epistemic": 0.1}
"""The shares of epistemic width that the default calibrator keeps if parts compete.

docs/reliability.md has what they cost and how often lambda would be 0 without them, measured by
`experiments/beyond.py`.
"""


class ClearRegressor(RegressorMixin, TableEstimator):
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
        A `ClearCalibrator` by default, or one of its siblings. If models compete, the default keeps
        at least a fiftieth of the mean width epistemic, and a tenth if the rows cannot tell the
        loss of that choice from the smallest one.
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration : "cross", "joint" or "conformal", optional
        How the intervals are calibrated. With "cross" all rows train, and every row is calibrated
        by members that did not see it; this is the default when `fit` is given no calibration set.
        Where parts compete, widths then follow the trend of the coverage that these rows show.
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
        if models compete, and it does not if a part is given.
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
        What turns a table into numbers. "auto" is a `TableEncoder`, and None leaves X as it is. If
        models compete, or are members of folds as in `fast()`, "auto" lets each member learn from
        its own rows what the values of a text column with more than 10 of them are worth. Other
        parts get dummies.
    n_jobs : int, optional
        How many threads work, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState or None
        The seed, as in scikit-learn. Parts without a seed of their own get theirs from it.
    verbose : 0 or 1
        With 1, `fit` draws a line on standard error that says how far it is and how long it will
        take. It draws none where `progress` is given.

    Attributes
    ----------
    predictor_ : Predictor
        All that the fitted model needs to answer; most of the attributes below are its own.
    lambda_ : (k,)
        The weight of the epistemic against the aleatoric widths, `gamma2_ / gamma1_`, per level.
    gamma1_ : (k,)
        The factor of the aleatoric widths, per level.
    gamma2_ : (k,)
        The factor of the epistemic widths, per level.
    levels_ : (k,)
        The confidence levels.
    guarantee_ : str
        The coverage that is guaranteed, in words.
    calibration_ : str
        "cross", "joint" or "conformal".
    encoder_ : transformer
        The fitted encoder.
    calibrator_ : calibrator
        The fitted calibrator.
    parts_ : Pair or Blend
        The fitted pair of parts, or an average of several pairs, whose `trend` its widths follow.
    epistemic_ : EpistemicPart
        The epistemic part of the pair, or of the best of several. It predicts on the scale of
        `target_transform`, and if targets lie very far from zero, it predicts them minus the number
        `transform_.origin`.
    aleatoric_ : AleatoricPart
        The aleatoric part of the same pair, on the same scale.
    leaderboard_ : tuple of LeaderboardRow
        The pairs that competed, best first. It is empty if both parts were given.
    centers_ : tuple of CenterScore
        The centers that competed before, best first. It is empty if the epistemic part was given.
    search_ : ModelSearch or None
        The rules of the search. It is None if both parts were given and rows were held out.
    lambda_paths_ : tuple of LambdaPath
        The loss over lambda at each level. It is empty for an `AdditiveCalibrator`, which has no
        lambda.
    any_level_ : AnyLevel or None
        What the model keeps of its calibration rows to predict at any level, 8 bytes per row. It is
        None if no level has finite bounds.
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
        The time of the last row, if `fit` was given times.
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

    predictor_: Predictor
    leaderboard_: tuple[LeaderboardRow, ...]
    centers_: tuple[CenterScore, ...]
    unseen_: UnseenScores
    last_time_: Any

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
        calibration_groups : (n,), str, table or list of str, optional
            Labels of groups, or the name of a column, in each of which the level shall hold. All
            rows choose lambda, and the rows of each group choose its gamma1; see
            `GroupCalibrator`. Groups that may overlap are several columns, or a list of their
            names in X: of True and False, of labels, or of numbers, which stand for functions of
            the row; see `ConditionalCalibrator`. They belong to the rows of `X_cal` where it is
            given, and to those of X otherwise.
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
        plan = Plan.of(self, self._check_parameters(), has_calibration_set=X_cal is not None)
        rng = check_random_state(self.random_state)
        labels = {
            "groups": groups,
            "time": time,
            "calibration_groups": calibration_groups,
            "sample_weight": sample_weight,
            "calibration_weight": calibration_weight,
        }
        with showing(progress, self.verbose), one_blas_thread():
            if is_table_on_disk(X):
                # Imported late: numba takes a second to load, which `import clearbands` should not.
                from clearbands.scaling.on_files import fit_table_on_disk

                self.last_time_ = None
                has_calibration_set = not (X_cal is y_cal is None)
                options = {"features": features, "work": work, "engine": engine, **labels}
                result = fit_table_on_disk(
                    self, plan, X, y, rng, has_calibration_set=has_calibration_set, **options
                )
            else:
                check_nothing_for_files(features, work, engine)
                rows, held_out = self._rows_to_fit(X, y, X_cal, y_cal, **labels)
                result = fit_in_memory(plan, rows, held_out, rng)
            calibrator = result.calibrate(self.default_calibrator(), rng)
            named = self._columns_named(X if X_cal is None else X_cal, calibration_groups)
            self._store_fit(result, calibrator, rng, named)
        guarantee = result.guarantee(
            has_calibration_set=X_cal is not None, has_labels=groups is not None
        )
        self.guarantee_ = guarantee.with_exceptions(getattr(self.calibrator_, "sharing_", ()))
        return self

    def _rows_to_fit(
        self,
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
    ) -> tuple[Rows, Rows | None]:
        """Return the rows that were given to train, and the calibration set, if one was given."""
        check_groups_are_free(self.monotone, calibration_groups)
        calibrating = (X, y) if X_cal is None else (X_cal, y_cal)
        labels = read_labels(*calibrating, calibration_groups, calibration_weight)
        together, self.last_time_ = read_groups(self.split, y, groups, time)
        return self._read_rows(X, y, X_cal, y_cal, together, labels, sample_weight)

    def _store_fit(
        self,
        result: FitResult,
        calibrator: BaseEstimator,
        rng: np.random.RandomState,
        column: str | list[str] | None,
    ) -> None:
        """Store the predictor and what is known of the fit."""
        calibrated = result.calibrated(calibrator)
        predictor = result.predictor(calibrator, calibrated)
        result.warn_of_support(calibrated)
        outlook = None
        if shows_curve(result):  # its seeds come from a copy, so that nothing else depends on them
            level, aside = float(predictor.levels[0]), copy.deepcopy(rng)
            outlook = make_outlook(result, calibrator, level, aside, self.n_jobs)
        self.predictor_ = replace(predictor, outlook=outlook, calibration_group_column=column)
        self.__dict__.pop("origin_", None)  # belongs to the rows of an earlier fit
        self.calibration_, chosen = result.plan.calibration, result.chosen
        self.leaderboard_, self.centers_ = chosen.leaderboard, chosen.centers
        self.search_, self.n_train_ = chosen.search, result.n_train
        self.n_calibration_ = len(result.calibration_set.y)
        self.n_validation_ = len(result.choosing_set.y)
        self.lambda_paths_ = lambda_paths(predictor.pooled, result.choosing_set, result.plan.levels)
        self.unseen_ = result.unseen_scores(calibrated)

    def _columns_named(self, X: Any, calibration_groups: Any) -> str | list[str] | None:
        """Return the columns of X that hold the groups; None if the labels were given."""
        if isinstance(calibration_groups, list | tuple) and is_frame(X):
            are_of_X = are_names(calibration_groups, X, _num_samples(X))
            return list(calibration_groups) if are_of_X else None
        is_name = isinstance(calibration_groups, str)
        names = getattr(self, "feature_names_in_", ())
        return str(calibration_groups) if is_name and calibration_groups in names else None

    def default_calibrator(self) -> BaseEstimator:
        """Return the calibrator that was given, or else the one that `fit` uses."""
        if self.calibrator is not None:
            return self.calibrator
        is_given = self.epistemic is not None and self.aleatoric is not None
        return ClearCalibrator() if is_given else ClearCalibrator(**EPISTEMIC_SHARES)

    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the center (n,)."""
        return self._fitted.center(self._table(X))

    @renamed(groups="calibration_groups")
    def predict_interval(
        self,
        X: TableLike,
        *,
        calibration_groups: ArrayLike | None = None,
        confidence_level: float | Sequence[float] | None = None,
        side: Side = "both",
        tails: tuple[float, float] | None = None,
        calibration_weight: ArrayLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict the center and an interval for every row.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        calibration_groups : (n,), str or table, optional
            The labels of the rows, the name of a column, or columns of groups, where the model was
            fitted with calibration groups. Each row gets the bounds of its own groups.
        confidence_level : float or list of float, optional
            Any levels, by default those of the fit. Other levels are calibrated on the same rows,
            those of all groups together.
        side : "both", "lower" or "upper"
            With "lower" a share `confidence_level` of the targets lies above the lower bound, and
            the upper bound is infinite. With "upper" it is the other way round.
        tails : (below, above), optional
            Instead of a level, the shares of targets that may lie below and above, as in
            (0.02, 0.08). Each bound holds at its own level, and the interval at 1 - below - above.
        calibration_weight : (n,), optional
            Where the model was fitted with `calibration_weight`: the weights of these rows, in the
            same unit, at the levels of the fit. The coverage is then exactly that of weighted
            conformal prediction. Without them every row gets the largest weight of the fit, which
            makes intervals somewhat wider.

        Returns
        -------
        point : (n,)
            The center.
        intervals : (n, 2, k)
            The lower and the upper bound at each of the k levels. For a Dask DataFrame, one Dask
            DataFrame is returned instead, with the columns prediction, lower_90 and upper_90 (a
            pair for every level) and the index of X; it is not computed yet.
        """
        check_side(side)
        levels = None if confidence_level is None else check_levels(confidence_level)
        is_other = side != "both" or not (confidence_level is tails is None)
        if calibration_weight is not None and is_other:
            raise ValueError(
                "calibration_weight of new rows works only at the levels of the fit: leave out "
                "confidence_level, side and tails, or fit at these levels."
            )
        if is_dask(X):
            if not (tails is calibration_weight is None):
                raise ValueError(
                    "For a Dask DataFrame, ask for one side at a time instead of tails, and leave "
                    "calibration_weight out."
                )
            return predict_partitions(self, X, levels, calibration_groups, side)
        answers = self._answers(X, calibration_groups, calibration_weight)
        return answers.center, answers.interval(confidence_level, side, tails)

    def predict_frame(
        self,
        X: TableLike,
        *,
        calibration_groups: ArrayLike | None = None,
        confidence_level: float | Sequence[float] | None = None,
    ) -> Any:
        """Predict everything about every row, as a frame of the same kind as X.

        The columns are `prediction`; `lower_90` and `upper_90`, a pair for every level;
        `aleatoric` and `epistemic`, the widths of both parts at the first level;
        `epistemic_share`, between 0 and 1; `dominant`, which is "noise", "ignorance" or "unclear";
        and `unfamiliar`, whether the row is unlike those of the fit (empty where the model cannot
        tell). The command, the service and MLflow give the same columns.

        A pandas frame keeps the index of X. An array becomes a frame of pandas, or of polars where
        pandas is not installed. A Dask DataFrame becomes one that is not computed yet.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        calibration_groups : (n,), str or table, optional
            The labels of the rows, the name of a column, or columns of groups, where the model was
            fitted with calibration groups. Each row gets the bounds of its own groups.
        confidence_level : float or list of float, optional
            Any levels, by default those of the fit.

        Returns
        -------
        frame
            One row for every row of X.

        Examples
        --------
        >>> import pandas as pd
        >>> from clearbands import fast
        >>> X = pd.DataFrame({"size": range(100)})
        >>> y = X["size"] + np.resize([-5.0, 0.0, 5.0], 100)
        >>> model = fast(random_state=0).fit(X, y)
        >>> list(model.predict_frame(X[:3]).columns)  # doctest: +NORMALIZE_WHITESPACE
        ['prediction', 'lower_90', 'upper_90', 'aleatoric', 'epistemic', 'epistemic_share',
         'dominant', 'unfamiliar']
        """
        levels = () if confidence_level is None else check_levels(confidence_level)
        if is_dask(X):
            return frame_partitions(self, X, levels or None, calibration_groups)
        answers = self._answers(X, calibration_groups)
        return answer(answers, Questions(levels)).frame()

    def components(self, X: TableLike) -> Components:
        """Predict the center and both widths before calibration.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.

        Returns
        -------
        Components
            A named tuple: `center` (n,), `aleatoric` and `epistemic` (n, 2, k), on the scale of
            `target_transform` where there is one.
        """
        predictor, table = self._fitted, self._table(X)
        components = predictor.components(encode(predictor.encoder, table))
        return components._replace(center=predictor.targets.unshifted(components.center))

    @renamed(groups="calibration_groups")
    def predict_quantiles(
        self,
        X: TableLike,
        levels: float | Sequence[float],
        *,
        calibration_groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict quantiles of the target of every row.

        The quantiles at 0.05 and 0.95 are the bounds of the interval at 0.9, to the last digit,
        unless more of the calibration rows lie on one side of that interval than on the other: with
        skewed noise every quantile is calibrated on its own side. The quantile at 0.5 is the
        center, unless most targets of the calibration rows lie on one side of it. After `update`
        all quantiles move to where the last rows are; the center may then lie outside of them,
        although every interval reaches to it.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        levels : float or list of float
            The shares of targets that shall lie below, rising, each between 0 and 1.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.

        Returns
        -------
        quantiles : (n, q)
            One column for each of the q levels.
        """
        check_quantiles(np.atleast_1d(np.asarray(levels, float)).tolist())
        return self._answers(X, calibration_groups).quantiles(levels)

    @renamed(groups="calibration_groups")
    def predict_probability(
        self,
        X: TableLike,
        *,
        above: Any = None,
        below: Any = None,
        calibration_groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the chance that the target is above, or below, a value.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        above : float or (n,), optional
            The value, or one per row. Give either `above` or `below`.
        below : float or (n,), optional
            The value, or one per row.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.

        Returns
        -------
        probability : (n,)
            Between 0 and 1.
        """
        return self._answers(X, calibration_groups).probability(above=above, below=below)

    @renamed(groups="calibration_groups")
    def predict_distribution(
        self, X: TableLike, *, calibration_groups: ArrayLike | None = None
    ) -> Distribution:
        """Predict the whole distribution of the target of every row.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.

        Returns
        -------
        Distribution
            With `cdf`, `ppf`, `logpdf`, `mean` and `sample`.
        """
        return self._answers(X, calibration_groups).distribution()

    @renamed(groups="calibration_groups")
    def predict_uncertainty(
        self,
        X: TableLike,
        *,
        calibration_groups: ArrayLike | None = None,
        confidence_level: float | None = None,
    ) -> Uncertainty:
        """Predict how much of every interval is noise and how much is ignorance.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.
        confidence_level : float, optional
            One level, by default the first of the fit.

        Returns
        -------
        Uncertainty
            The calibrated aleatoric and epistemic distances from the center to both bounds.
        """
        return self._answers(X, calibration_groups).uncertainty(confidence_level)

    @renamed(groups="calibration_groups")
    def predict_uncertainties(
        self, X: TableLike, *, calibration_groups: ArrayLike | None = None
    ) -> tuple[Uncertainty, ...]:
        """Predict the same as `predict_uncertainty` at every level of the fit, in one pass over X.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.

        Returns
        -------
        tuple of Uncertainty
            In the order of `levels_`.
        """
        return self._answers(X, calibration_groups).uncertainties()

    def unfamiliar(self, X: TableLike) -> np.ndarray:
        """Find rows that are unlike those that trained the model.

        Three things make a row unfamiliar: a large epistemic width, a value outside the range of
        its column, or a category that no training row has. About 5 % of ordinary rows are flagged.
        The threshold comes from held-out rows where there are any. Where all rows train, each row
        is compared with the others, and its width is made as large as if it were new.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.

        Returns
        -------
        unfamiliar : (n,) of bool
        """
        predictor, table = self._fitted, self._table(X)
        encoded = encode(predictor.encoder, table)
        return predictor.unfamiliar(table, encoded, predictor.components(encoded))

    @renamed(groups="calibration_groups")
    def answers(
        self,
        X: TableLike,
        *,
        calibration_groups: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
    ) -> Answers:
        """Predict once, and answer several questions about the same rows.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.
        calibration_weight : (n,), optional
            As in `predict_interval`, for the levels of the fit.

        Returns
        -------
        Answers
            With `interval`, `quantiles`, `probability`, `distribution`, `uncertainty` and
            `unfamiliar`.

        Examples
        --------
        >>> import numpy as np
        >>> from clearbands import fast
        >>> X = np.linspace(0, 1, 100)[:, None]
        >>> model = fast(random_state=0).fit(X, X[:, 0] + np.resize([-0.1, 0.0, 0.1], 100))
        >>> found = model.answers(X[:3])
        >>> found.quantiles([0.1, 0.5, 0.9]).shape, found.probability(above=0.5).shape
        ((3, 3), (3,))
        """
        return self._answers(X, calibration_groups, calibration_weight)

    def _answers(
        self,
        X: TableLike,
        calibration_groups: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
    ) -> Answers:
        table = self._table(X)
        return self._fitted.answers(table, kind_of(X), calibration_groups, calibration_weight)

    def forecast(self, more: Sequence[float] = (2, 4, 10)) -> Forecast:
        """Forecast the mean width, RMSE and loss on new rows after training on more rows.

        Parameters
        ----------
        more : sequence of float
            How many times the rows of this fit, each above 1.

        Returns
        -------
        Forecast
            Its `to_frame()` has the columns rows, width, width_low, width_high, and the same for
            rmse and loss. The first line is the model as it is, the last has infinitely many rows,
            where the width is noise alone. The true value lies between low and high with a chance
            of about 80 %, if the learning curve goes on as those of other tables did; there is no
            guarantee. Width and loss are those of the first level. See docs/which-uncertainty.md.

        Examples
        --------
        >>> import numpy as np
        >>> from clearbands import fast
        >>> X = np.random.default_rng(0).uniform(size=(200, 3))
        >>> model = fast(random_state=0).fit(X, np.sin(9 * X[:, 0]))
        >>> list(model.forecast(more=(2, 10)).to_frame()["rows"])
        [200.0, 400.0, 2000.0, inf]
        """
        return self._fitted.forecast(more)

    def predict_center_interval(
        self,
        X: TableLike,
        confidence_level: float | None = None,
        *,
        calibration_groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict a band for the mean of y at each row, around the center.

        The band is as wide as ignorance makes it: its squared width is the squared width of the
        interval less that of the noise. It rests on the learning curve and has no finite-sample
        guarantee.

        Parameters
        ----------
        X : table
            The rows, with the columns of the fit.
        confidence_level : float, optional
            One level, by default the first of the fit.
        calibration_groups : (n,) or str, optional
            As in `predict_interval`.

        Returns
        -------
        band : (n, 2)
            The lower and the upper bound.

        Examples
        --------
        >>> import numpy as np
        >>> from clearbands import fast
        >>> X = np.random.default_rng(0).uniform(size=(200, 3))
        >>> model = fast(random_state=0).fit(X, np.sin(9 * X[:, 0]))
        >>> model.predict_center_interval(X[:5]).shape
        (5, 2)
        """
        answers = self._answers(X, calibration_groups)
        return answers.uncertainty(confidence_level).center_interval

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
        pace = {"window": window, "rate": rate, "lead": lead}
        with self._update_lock:
            known = self._fitted, self.last_time_, self.first_pace()
            self.predictor_, advice = updated(*known, placed, time, pace)
            self.guarantee_ = Guarantee.ADAPTIVE.value
        if advice is not None:
            warn(advice, RefitWarning)
        return self

    def placed(self, X: TableLike, y: Any, *, calibration_groups: Any = None) -> PlacedRows:
        """Return where rows lie in the bands of the fit, without later updates."""
        predictor = self._fitted
        rows = self._check_rows(X, y, reset=False)
        return predictor.place(rows.X, rows.y, calibration_groups)

    def without_updates(self) -> Self:
        """Return the model as it was after the fit."""
        return self._with_predictor(self._fitted.without_updates())

    def without_calibration_groups(self) -> Self:
        """Return the model as if all rows calibrated together, at the levels of `fit`."""
        return self._with_predictor(self._fitted.without_calibration_groups())

    @property
    def _fitted(self) -> Predictor:
        check_is_fitted(self, "predictor_")
        return self.predictor_

    def _with_predictor(self, predictor: Predictor) -> Self:
        model = copy.copy(self)
        model.predictor_ = predictor
        return model

    def first_pace(self) -> Pace:
        """Return the pace of the first update, which waits for targets through the gap of the
        fit.
        """
        return Pace(lead=1 + self.gap)

    @property
    def _update_lock(self) -> threading.Lock:
        """The lock that is held while rows join the window, so that rows of no thread are lost."""
        return self.__dict__.setdefault("_lock", threading.Lock())

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the lock, which belongs to one model in one process."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lock"}

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
        """Make a page about the model on rows that no step of the fit has seen.

        It says whether the intervals hold, why they are wide, and which rows to look at. The page
        shows the names `target` and `unit`. `by` (n,) holds labels of groups between which coverage
        should not differ. Save the page with `.save("report.html")`; a notebook shows it by itself.
        """
        from clearbands.apps.report import make_report

        check_is_fitted(self, "calibrator_")
        return make_report(
            self, X, y, target=target, unit=unit, by=by, confidence_level=confidence_level
        )

    encoder_ = predictor_attribute("encoder")
    parts_ = predictor_attribute("parts")
    calibrator_ = predictor_attribute("calibrator")
    levels_ = predictor_attribute("levels")
    any_level_ = predictor_attribute("any_level")
    familiar_ = predictor_attribute("familiar")
    beyond_ = predictor_attribute("beyond")
    outlook_ = predictor_attribute("outlook")
    calibration_group_column_ = predictor_attribute("calibration_group_column")
    has_calibration_groups_ = predictor_attribute("has_calibration_groups")
    transform_ = predictor_attribute("targets.transform")
    lambda_: np.ndarray = predictor_attribute("lambda_")
    gamma1_: np.ndarray = predictor_attribute("gamma1")
    gamma2_: np.ndarray = predictor_attribute("gamma2")
    epistemic_ = predictor_attribute("parts.best.epistemic")
    aleatoric_ = predictor_attribute("parts.best.aleatoric")

    @property
    def rolling_(self) -> Rolling:
        """The state of `update`."""
        rolling = self._fitted.rolling
        if rolling is None:
            raise AttributeError("The model has no rolling_ before its first update.")
        return rolling
