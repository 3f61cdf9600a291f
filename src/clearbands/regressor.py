"""CLEAR as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.aleatoric.base import AleatoricPart
from clearbands.answers.answering import read_groups
from clearbands.answers.updating import UpdatingRegressor
from clearbands.bands import Components, make_interval
from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.calibration.distribution import AnyLevel
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.judged import Judged, fit_calibrator, for_groups, lambda_paths
from clearbands.checks import check_count, check_scale, check_table, check_target, check_weights
from clearbands.competition.centers import CenterStanding
from clearbands.competition.contest import Contest
from clearbands.competition.judging import Standing
from clearbands.epistemic.base import EpistemicPart
from clearbands.interval_regressor import learns_from_target, was_fitted_elsewhere
from clearbands.monotone import Monotone, check_monotone, encoded_directions
from clearbands.new_rows.extrapolation import Extrapolation, forgetting
from clearbands.new_rows.familiarity import (
    Familiarity,
    as_of_new_rows,
    epistemic_width,
    ordinary_rows,
    texts_of_rows,
)
from clearbands.pairs import Blend, Pair
from clearbands.progress import Listener, listening
from clearbands.recipe import RESIDUALS, Made, Recipe, Unseen
from clearbands.rows.copies import check_copies
from clearbands.rows.shares import Shares, share_out
from clearbands.rows.split import Rows, hold_out
from clearbands.rows.time_order import check_time, places
from clearbands.scaling.roles import Roles, read_roles
from clearbands.scaling.source import is_table_on_disk
from clearbands.targets.support import check_support
from clearbands.targets.targets import Targets, TargetWarning, hint
from clearbands.targets.transform import check_transform, fit_transform
from clearbands.typed import Seed
from clearbands.words.telling import warn

if TYPE_CHECKING:
    from clearbands.report import Report

CALIBRATIONS = ("cross", "joint", "conformal")
SPLITS = ("random", "time")
LEAST_EPISTEMIC = 0.1
"""Where parts compete: it raised the mean loss of twelve data sets by 0.04 %, and without it lambda
was 0 in one fit of twelve; see `experiments/least_epistemic.py`."""


class ClearRegressor(UpdatingRegressor):
    """Calibrated prediction intervals that tell noise from ignorance.

    Parameters
    ----------
    epistemic : optional
        Gives the center and the epistemic widths; see `clearbands.epistemic.base.EpistemicPart`
        for the contract. By default several models compete.
    aleatoric : optional
        Gives the aleatoric widths; see `clearbands.aleatoric.base.AleatoricPart` for the contract.
        By default several models compete.
    calibrator : optional
        `ClearCalibrator` by default, or one of its siblings. Where parts compete, at least a tenth
        of the mean width is epistemic by default.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration : "cross", "joint" or "conformal", optional
        "cross": all rows train, and every row is calibrated by members that did not see it; the
        default when `fit` is given no calibration set. "joint": one held-out set chooses lambda
        and gamma1, the paper's standard and the default with a calibration set. "conformal":
        lambda from one half of it, gamma1 from the other, with a finite-sample guarantee.
    calibration_size : float
        Share of the rows that "joint" and "conformal" hold out when `fit` is given no calibration
        set.
    split : "random" or "time"
        With "time" the rows come in the order of time, and no row is judged by what saw later ones:
        each block of rows is calibrated by parts that were fitted before it ("cross"), or the last
        rows are held out ("joint", "conformal").
    gap : int
        With split="time": how many moments before a row may not train what judges it. With
        forecasts 24 hours ahead the 23 hours before are not known yet.
    residuals : "in-sample", "out-of-bag" or "target", optional
        Which center the residuals are taken from that a given aleatoric part learns; with "target"
        it learns y itself, for models that follow y as closely as the center does. By default the
        center of members that did not see the row with "cross", and else of all, as in the paper.
    show_center : bool, optional
        Whether the aleatoric part sees the center as one more feature, and with "cross" how much
        the members disagree: noise often depends on what is predicted. By default so where parts
        compete, and not with parts that are given.
    contest : Contest, optional
        Which parts compete, and how many members they get; `fast()` and `thorough()` are set up
        with others than the default.
    support : (low, high), optional
        The smallest and the largest value that targets can have, None for no end: no center, bound,
        quantile or sample is outside.
    target_transform : "log", "log1p", "sqrt" or transformer, optional
        The scale on which everything is fitted and calibrated: a transformer of scikit-learn that
        rises with y and has an inverse. Answers are given on the scale of y; only `components`,
        the leaderboards and `lambda_paths_` are about the transformed targets.
    whole_numbers : bool
        Whether targets count something: center, bounds, quantiles and samples are then whole
        numbers. An interval keeps all counts inside it, so it covers as much.
    monotone : dict or sequence, optional
        Columns of numbers or dates that the target rises (1) or falls (-1) with, other things being
        equal: as in {"size": 1, "age": -1}, or one of -1, 0, 1 per column. Of two rows that differ
        in such columns alone, center, bounds, quantiles and chances then keep that order. Only
        trees that can promise it compete, and widths depend on the other columns alone.
    encoder : "auto", transformer or None
        Turns tables into numbers; "auto" is a `TableEncoder`, None leaves X as it is.
    n_jobs, random_state
        As in scikit-learn, handed to parts that leave theirs open. The result does not depend
        on `n_jobs`.

    Attributes
    ----------
    lambda_, gamma1_, gamma2_ : (k,)
        One value per level.
    guarantee_ : str
        What holds for the coverage.
    calibration_ : str
        How it was calibrated.
    encoder_, calibrator_
        Fitted.
    parts_ : Pair or Blend
        The fitted pair of parts, or an average of several.
    epistemic_, aleatoric_
        The parts of the pair, or of the best one.
    leaderboard_ : tuple of Standing
        The pairs that competed, best first; empty where both parts were given.
    centers_ : tuple of CenterStanding
        The centers that competed before, best first; empty where the epistemic part was given.
    lambda_paths_ : tuple of LambdaPath
        The loss over lambda at each level; empty for an `AdditiveCalibrator`, which has none.
    any_level_ : AnyLevel
        What the model keeps of its calibration rows to answer at any level: 8 bytes per row. None
        where no level has finite bounds.
    familiar_ : Familiarity or None
        How ordinary rows look, see `unfamiliar`.
    beyond_ : Extrapolation or None
        By how much the epistemic part grows for rows outside the ranges of the training rows.
    n_train_, n_validation_, n_calibration_ : int
        How many rows each step saw.
    last_time_
        Of the last row, where `fit` was given times.
    rolling_ : Rolling
        Only after `update`: the window, the levels as they are now, the coverage so far, the shares
        of rows below and above.

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

    leaderboard_: tuple[Standing, ...]
    centers_: tuple[CenterStanding, ...]

    def __init__(
        self,
        epistemic: EpistemicPart | None = None,
        aleatoric: AleatoricPart | None = None,
        calibrator: Any = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration: str | None = None,
        calibration_size: float = 0.25,
        split: str = "random",
        gap: int = 0,
        residuals: str | None = None,
        show_center: bool | None = None,
        contest: Contest | None = None,
        support: tuple[float | None, float | None] | None = None,
        target_transform: BaseEstimator | str | None = None,
        whole_numbers: bool = False,
        monotone: Monotone = None,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
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
        self.contest = contest
        self.support = support
        self.target_transform = target_transform
        self.whole_numbers = whole_numbers
        self.monotone = monotone
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        X_cal: Any = None,
        y_cal: ArrayLike | None = None,
        together: ArrayLike | None = None,
        time: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
        progress: Listener | None = None,
        features: Sequence[str] | None = None,
        work: Any = None,
        engine: Any = None,
    ) -> ClearRegressor:
        """Train on the rows and calibrate on rows that what is calibrated did not see.

        With a calibration set (`X_cal`, `y_cal`) given, all of X trains. `together` are labels (n,)
        of rows that belong together, such as visits of one patient: no member is judged by some of
        them having seen others, and where rows are held out, all of a label are.

        `time` (n,), numbers or dates, belongs to split="time": it must not fall, and rows of one
        time stay together. Without it every row is a moment of its own.

        `sample_weight` (n,) says how many rows each row of X counts as, in training, judging and
        calibration: a row of weight 3 is three rows that stay together, one of weight 0 is none.
        Where X_cal is given, its rows count once.

        `groups` are labels (n,), or the name of a column, of groups in each of which the level
        shall hold: all rows choose lambda, and those of each group its gamma1; see
        `clearbands.calibration.groups.GroupCalibrator`. `calibration_weight` (n,) says how many
        times more often such a row occurs among new rows than here, up to a common factor:
        what is known, or what `ShiftWeights` found. Both belong to the rows of X_cal where it is
        given, else to those of X.

        `progress` is called as `progress(stage, done, total)`.

        X may also be a table that is larger than memory: the path of a parquet file or of a folder
        of them, a list of paths, or a Dask DataFrame. y, and `together`, `groups` and weights, are
        then names of its columns; `features` names the columns to learn from, by default all but
        the target, weights and what keeps rows together. What is finished is kept
        in the folder `work`, from which another run goes on, and `engine` says who does it:
        "threads", "processes", "dask" or an engine of `clearbands.scaling.engines`. The result
        depends neither on the engine nor on who died meanwhile. See docs/scaling.md.
        """
        levels = self._check_parameters()
        for other in ("origin_", "rolling_"):  # of other rows: see `clearbands.origin`, `update`
            if hasattr(self, other):
                delattr(self, other)
        self.calibration_ = self._choose_calibration(X_cal)
        rng = check_random_state(self.random_state)
        if is_table_on_disk(X):
            self._check_for_files(X_cal, y_cal, time, work)
            roles = read_roles(
                y,
                sample_weight=sample_weight,
                together=together,
                calibration_weight=calibration_weight,
                groups=groups,
                calibration=self.calibration_,
            )
            with listening(progress):
                return self._fit_on_files(X, roles, features, work, engine, levels, rng)
        if not (features is work is engine is None):
            raise ValueError(
                "features, work and engine are for a table in parquet files or of Dask: X is in "
                "memory already."
            )
        labels = self._read_labels(X, y, X_cal, y_cal, groups, calibration_weight)
        together = self._check_order(time, together, X_cal, y)
        all_rows, apart = self._read_rows(X, y, X_cal, y_cal, together, labels, sample_weight)
        shares = self._share_out(all_rows, apart, rng)
        self.transform_ = fit_transform(self.target_transform, shares.train.y)
        self._to_model(shares.targets)
        train, validation, calibration = map(self._rescaled, shares)
        with listening(progress):
            self.encoder_ = self._make_encoder().fit(train.X, train.y)
            direction = encoded_directions(self.monotone, self.encoder_, train.X)
            recipe = replace(self._recipe(levels), direction=direction)
            texts = texts_of_rows(self.encoder_, train.X)
            train = self._encode(train)
            if validation is None:
                has_copies = check_copies(train)
                held_out, rows = self._fit_on_all(recipe, train, rng)
                chooser = None
                self.familiar_ = self._familiar_of_all(train, texts, held_out, rows)
                beyond = self._extrapolation(recipe, train, held_out, train, rows)
            else:
                raw = validation if calibration is None else calibration
                validation = self._encode(validation)
                calibration = validation if calibration is None else self._encode(calibration)
                others = [validation] if calibration is validation else [validation, calibration]
                has_copies = check_copies(train, others, given=X_cal is not None)
                held_out, chooser = self._fit_apart(recipe, train, validation, calibration, rng)
                new_texts = texts_of_rows(self.encoder_, raw.X)
                self.familiar_ = self._familiar_of_others(
                    train, texts, held_out, calibration, new_texts
                )
                beyond = self._extrapolation(recipe, train, held_out, calibration)
            self.beyond_ = self._with_categories(beyond, train, texts)
            self._finish(recipe, held_out, chooser, rng)
            self._hint(shares.targets, held_out)
        self.n_train_ = len(train)
        self.guarantee_ = self._guarantee(X_cal, held_out, has_copies, all_rows.together)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n,): the center."""
        with self._door(X) as (_, encoded):
            targets = self._targets
            return targets.center(targets.inner.clip(self.parts_.predict(encoded)))

    def default_calibrator(self) -> Any:
        """The calibrator that was given, or the one that stands for none."""
        if self.calibrator is not None:
            return self.calibrator
        is_given = self.epistemic is not None and self.aleatoric is not None
        return ClearCalibrator(least_epistemic=0.0 if is_given else LEAST_EPISTEMIC)

    def report(
        self,
        X: Any,
        y: ArrayLike,
        *,
        target: str = "the target",
        unit: str = "",
        groups: ArrayLike | None = None,
        confidence_level: float | None = None,
    ) -> Report:
        """A page about the model on rows that no step of the fit has seen.

        It says whether the intervals hold, why they are wide, and which rows to look at. `target`
        and `unit` are names to be shown, `groups` labels (n,) between which coverage should not
        differ. Save the page with `.save("report.html")`; in a notebook it shows itself.
        """
        from clearbands.report import make_report

        check_is_fitted(self, "calibrator_")
        return make_report(
            self, X, y, target=target, unit=unit, groups=groups, confidence_level=confidence_level
        )

    @property
    def lambda_(self) -> np.ndarray:
        """(k,): gamma2 / gamma1 at each level."""
        return np.atleast_1d(self._pooled.lambda_)

    @property
    def gamma1_(self) -> np.ndarray:
        """(k,): the factor of the aleatoric widths at each level."""
        return np.atleast_1d(self._pooled.gamma1_)

    @property
    def gamma2_(self) -> np.ndarray:
        """(k,): the factor of the epistemic widths at each level."""
        return np.atleast_1d(self._pooled.gamma2_)

    @property
    def _pooled(self) -> Any:
        """The calibrator of all rows, also where there are groups."""
        return getattr(self.calibrator_, "pooled_", self.calibrator_)

    @property
    def epistemic_(self) -> Any:
        """The fitted epistemic part, of the best pair where several are averaged."""
        return self._best_pair.epistemic

    @property
    def aleatoric_(self) -> Any:
        """The fitted aleatoric part, of the best pair where several are averaged."""
        return self._best_pair.aleatoric

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(_of_today(state))

    @property
    def _best_pair(self) -> Pair:
        check_is_fitted(self, "parts_")
        return self.parts_.pairs[0] if isinstance(self.parts_, Blend) else self.parts_

    def _check_parameters(self) -> list[float]:
        levels = super()._check_parameters()
        if self.calibration is not None and self.calibration not in CALIBRATIONS:
            allowed = ", ".join(f'"{name}"' for name in CALIBRATIONS)
            raise ValueError(f"calibration must be one of {allowed}, got {self.calibration!r}.")
        check_support(self.support)
        check_transform(self.target_transform)
        if self.split not in SPLITS:
            raise ValueError(f'split must be "random" or "time", got {self.split!r}.')
        check_monotone(self.monotone)
        check_count(self.gap, "gap", smallest=0)
        if self.gap and self.split == "random":
            raise ValueError(f'gap={self.gap} needs split="time": rows at random have no order.')
        if self.residuals is not None and self.residuals not in RESIDUALS:
            raise ValueError(f"residuals must be one of {RESIDUALS}, got {self.residuals!r}.")
        return levels

    def _choose_calibration(self, X_cal: Any) -> str:
        if self.calibration is None:
            return "cross" if X_cal is None else "joint"
        if self.calibration == "cross" and X_cal is not None:
            raise ValueError(
                'calibration="cross" calibrates on the rows that train, so X_cal and y_cal have no '
                'use: leave them out, or choose "joint" or "conformal".'
            )
        return self.calibration

    def _check_encoder(self) -> None:
        if learns_from_target(self.encoder):
            raise ValueError(
                "The encoder learns from y, so rows would be judged by what saw their targets; "
                'choose calibration="joint" or "conformal", or an encoder that takes X alone.'
            )

    def _share_out(self, rows: Rows, held_out: Rows | None, rng: np.random.RandomState) -> Shares:
        """Training rows, those that choose, and those kept for gamma1 alone ("conformal")."""
        if self.calibration_ == "cross":
            self._check_encoder()
        return share_out(
            rows, held_out, self.calibration_, size=self.calibration_size, gap=self._gap, rng=rng
        )

    @property
    def _gap(self) -> int | None:
        """Only where rows are in the order of time."""
        return self.gap if self.split == "time" else None

    def _check_order(
        self, time: ArrayLike | None, together: ArrayLike | None, X_cal: Any, y: ArrayLike
    ) -> Any:
        """What keeps rows together: labels that were given, or their places in time."""
        self.last_time_ = None
        if self.split == "random":
            if time is not None:
                raise ValueError('time was given, but rows are split at random: set split="time".')
            return together
        if together is not None:
            raise ValueError('together and split="time" cannot be had together: give one.')
        n = len(check_target(y))
        if time is None:
            return places(n)
        times = check_time(time, n)
        self.last_time_ = times[-1]
        return places(n, times)

    def _recipe(self, levels: list[float]) -> Recipe:
        return Recipe(
            self.epistemic,
            self.aleatoric,
            self.residuals,
            self.show_center,
            self.contest,
            levels,
            self.n_jobs,
            self._gap,
        )

    def _fit_on_all(
        self, recipe: Recipe, train: Rows, rng: np.random.RandomState
    ) -> tuple[Judged, np.ndarray]:
        """Fit the parts on all rows; what those who did not see them say of which rows."""
        return self._fitted_on_all(recipe.on_all(train, rng), train)

    def _fitted_on_all(self, made: Made, train: Rows) -> tuple[Judged, np.ndarray]:
        unseen = self._take(made)
        assert unseen is not None
        rows = train.take(unseen.rows)
        return _judged(rows, self._within(unseen.components)), unseen.rows

    def _fit_apart(
        self,
        recipe: Recipe,
        train: Rows,
        validation: Rows,
        calibration: Rows,
        rng: np.random.RandomState,
    ) -> tuple[Judged, Judged | None]:
        """Fit the parts; what they say of the rows that calibrate, and of others that choose."""
        self._take(recipe.apart(train, validation, rng))
        chooser = None if calibration is validation else self._judged(validation)
        return self._judged(calibration), chooser

    def _check_for_files(self, X_cal: Any, y_cal: Any, time: Any, work: Any) -> None:
        """Raise for what a table in files cannot have."""
        if self.split != "random" or time is not None:
            raise ValueError(
                "A table in files is split by hashes of its rows, not in the order of time: leave "
                'split="random" and time out, or read the table into memory.'
            )
        if self.monotone is not None:
            raise ValueError("A table in files knows no monotone columns: leave monotone out.")
        if X_cal is not None or y_cal is not None:
            raise ValueError(
                "A table in files calibrates on rows of its own: leave X_cal and y_cal out; "
                'calibration="conformal" holds rows out by itself.'
            )
        if self.encoder is None or self.residuals == "target":
            raise ValueError(
                "A table in files needs an encoder, and noise that is learned from residuals: "
                'leave encoder="auto" and residuals as they are.'
            )
        self._check_encoder()
        if work is not None and not isinstance(self.random_state, int | np.integer):
            raise ValueError(
                "A fit can only go on from a work folder if it draws the same numbers again: give "
                f"random_state a whole number, got {self.random_state!r}."
            )

    def _fit_on_files(
        self,
        X: Any,
        roles: Roles,
        features: Sequence[str] | None,
        work: Any,
        engine: Any,
        levels: list[float],
        rng: np.random.RandomState,
    ) -> ClearRegressor:
        """Everything that follows from rows in memory is done as with a table in memory."""
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.scaling.fit import fit_on_files

        def fit_encoder(raw: Any) -> Any:
            return self._make_encoder().fit(check_table(self, raw, reset=True))

        def fit_targets(y: np.ndarray) -> Targets:
            self.transform_ = fit_transform(self.target_transform, y)
            return self._targets

        recipe = self._recipe(levels)
        found = fit_on_files(
            recipe,
            X,
            roles,
            fit_encoder,
            fit_targets,
            features=features,
            held_out=0.0 if self.calibration_ == "cross" else self.calibration_size,
            work=work,
            engine=engine,
            rng=rng,
        )
        self.encoder_ = found.encoder
        self.group_column_ = roles.groups if roles.groups in self.feature_names_in_ else None
        sample, texts = found.sample.encoded, texts_of_rows(self.encoder_, found.sample.raw.X)
        if found.held_out is None:
            has_copies = check_copies(sample)
            held_out, rows = self._fitted_on_all(found.made, sample)
            chooser = None
            familiar = self._familiar_of_all(sample, texts, held_out, rows)
            beyond = self._extrapolation(recipe, sample, held_out, sample, rows)
        else:
            self._take(found.made)
            chooser, held_out, raw = self._judged_apart(self._rescaled(found.held_out), rng)
            others, their_texts = self._encode(raw), texts_of_rows(self.encoder_, raw.X)
            has_copies = check_copies(sample, [others])
            familiar = self._familiar_of_others(sample, texts, held_out, others, their_texts)
            beyond = self._extrapolation(recipe, sample, held_out, others)
        low, high = found.ranges.low, found.ranges.high
        self.familiar_ = familiar and familiar.widened(low, high, found.texts)
        beyond = beyond and beyond.widened(low, high)
        self.beyond_ = self._with_categories(beyond, sample, texts)
        self._finish(recipe, held_out, chooser, rng)
        self.n_train_ = found.n_rows
        self.guarantee_ = self._guarantee(None, held_out, has_copies)
        return self

    def _judged_apart(
        self, rows: Rows, rng: np.random.RandomState
    ) -> tuple[Judged | None, Judged, Rows]:
        """What chooses, what calibrates, and the rows of the latter before they are encoded."""
        if self.calibration_ == "joint":
            return None, self._judged(self._encode(rows)), rows
        choosing, calibrating = hold_out(rows, 0.5, rng)
        chooser = self._judged(self._encode(choosing))
        return chooser, self._judged(self._encode(calibrating)), calibrating

    def _finish(
        self,
        recipe: Recipe,
        held_out: Judged,
        chooser: Judged | None,
        rng: np.random.RandomState,
    ) -> None:
        """Calibrate the parts, and keep what answers need."""
        self.levels_ = np.array(recipe.levels)
        self.calibrator_ = self._calibrate(recipe, held_out, chooser, rng)
        self.any_level_ = self._keep(held_out)
        chosen_on = held_out if chooser is None else chooser
        self.lambda_paths_ = lambda_paths(self._pooled, chosen_on, recipe.levels, self.lambda_)
        self.n_calibration_, self.n_validation_ = len(held_out.y), len(chosen_on.y)

    def _take(self, made: Made) -> Unseen | None:
        self.parts_, self.leaderboard_, self.centers_, unseen = made
        return unseen

    def _components(self, X: Any) -> Components:
        return self._within(self.parts_.components(X))

    def _judged(self, rows: Rows) -> Judged:
        return _judged(rows, self._components(rows.X))

    def _rescaled(self, rows: Any) -> Any:
        if rows is None:
            return None
        y = self._targets.to_model(rows.y)
        check_scale(y, "y")
        return replace(rows, y=y)

    def _hint(self, y: np.ndarray, held_out: Judged) -> None:
        """Tell of bounds that leave the range of all targets, at the first level."""
        center, *parts = self._scaled(held_out.components, held_out.groups)
        bounds = make_interval(center, np.add(*parts)[:, :, 0])
        said = hint(y, self._targets.points(bounds, center), self._targets)
        if said is not None:
            warn(said, TargetWarning)

    def _within(self, components: Components) -> Components:
        """With a center inside the support."""
        return components._replace(center=self._targets.inner.clip(components.center))

    def _read_labels(
        self,
        X: Any,
        y: ArrayLike,
        X_cal: Any,
        y_cal: ArrayLike | None,
        groups: ArrayLike | None,
        weight: ArrayLike | None,
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Groups and weights of the rows that may calibrate."""
        self.group_column_ = groups if isinstance(groups, str) else None
        if groups is None and weight is None:
            return None, None
        if isinstance(self.monotone, Mapping) and self.monotone.get(self.group_column_):
            raise ValueError(
                f"groups={groups!r} have bounds of their own, so these cannot rise or fall with "
                "that column: leave it out of monotone, or of groups."
            )
        if groups is not None and weight is not None:
            raise ValueError("groups and calibration_weight cannot be had together: give one.")
        rows, targets = (X, y) if X_cal is None else (X_cal, y_cal)
        n = len(check_target(targets))
        if weight is not None:
            return None, check_weights(weight, "calibration_weight", n)
        return read_groups(groups, rows, n), None

    def _guarantee(
        self,
        X_cal: Any,
        held_out: Judged,
        has_copies: bool,
        together: np.ndarray | None = None,
    ) -> str:
        if was_fitted_elsewhere(self.epistemic, X_cal):
            return Guarantee.UNKNOWN.value
        if has_copies:
            return Guarantee.COPIES.value
        if self.split == "time":
            return Guarantee.TIME.value
        if self.calibration_ == "conformal" and X_cal is None and together is not None:
            return Guarantee.CROSS.value  # labels are exchangeable, their rows are not
        if self.calibration_ == "conformal" and held_out.groups is not None:
            return Guarantee.GROUPS.value
        if self.calibration_ == "conformal" and held_out.calibration_weight is not None:
            return Guarantee.WEIGHTED.value
        return Guarantee.of(self.calibration_).value

    def _calibrate(
        self,
        recipe: Recipe,
        held_out: Judged,
        chooser: Judged | None,
        rng: np.random.RandomState,
    ) -> Any:
        """The fitted calibrator, of every group where there are groups."""
        calibrator = self.default_calibrator()
        if held_out.groups is not None:
            calibrator = for_groups(calibrator)
        return fit_calibrator(self._part(calibrator, recipe.levels, rng), held_out, chooser)

    def _keep(self, held_out: Judged) -> AnyLevel | None:
        """What other levels need of the calibration rows; None where no level is finite."""
        center, *parts = self._scaled(held_out.components, held_out.groups)
        distances = np.add(*parts)
        if not np.isfinite(distances).all(axis=(0, 1)).any():
            return None
        apart = self.calibration_ == "conformal" or isinstance(self.calibrator_, AdditiveCalibrator)
        weight, shift = held_out.weight, held_out.calibration_weight
        if weight is not None and shift is not None:
            weight = weight / shift[weight > 0].max()  # a new row counts 1
        return AnyLevel.of(
            self.levels_,
            held_out.y,
            center,
            distances,
            sample_weight=weight,
            may_fall_short=not apart,
        )

    def _familiar_of_others(
        self, train: Rows, texts: np.ndarray, judged: Judged, others: Rows, their_texts: np.ndarray
    ) -> Familiarity | None:
        """How ordinary rows look, from rows that did not train; None where parts see a table."""
        if not isinstance(train.X, np.ndarray):
            return None
        widths = epistemic_width(judged.components)
        return Familiarity.of(train.X, texts, widths, held_out=(others.X, their_texts))

    def _familiar_of_all(
        self, train: Rows, texts: np.ndarray, judged: Judged, rows: np.ndarray
    ) -> Familiarity | None:
        """The same where all rows train, of which `rows` were judged by what did not see them."""
        if not isinstance(train.X, np.ndarray):
            return None
        some = ordinary_rows(len(rows))
        unseen = epistemic_width(judged.components)[some]
        seen = epistemic_width(self._components(train.X[rows[some]]))
        return Familiarity.of(train.X, texts, as_of_new_rows(seen, unseen), rows=rows[some])

    def _extrapolation(
        self,
        recipe: Recipe,
        train: Rows,
        judged: Judged,
        among: Rows,
        numbers: np.ndarray | None = None,
    ) -> Extrapolation | None:
        """What is unknown beyond the training rows; those judged have these numbers among others.

        None for parts that were given and rows held out, as in the paper; in the order of time,
        where rows that calibrate lie beyond what trained as new ones do; and where parts see a
        table.
        """
        as_in_paper = recipe.is_given and self.calibration_ != "cross"
        if as_in_paper or self.split == "time" or not isinstance(train.X, np.ndarray):
            return None
        some = ordinary_rows(len(judged.y))
        X = among.X[some if numbers is None else numbers[some]]
        weight = None if judged.sample_weight is None else judged.sample_weight[some]
        center = judged.components.center[some]
        return Extrapolation.of(train.X, train.sample_weight, X, center, weight, recipe.direction)

    def _with_categories(
        self, beyond: Extrapolation | None, train: Rows, texts: np.ndarray
    ) -> Extrapolation | None:
        """The same, knowing what the categories of the training rows are worth."""
        if beyond is None or texts.shape[1] == 0:
            return beyond
        moved = forgetting(
            self.parts_.predict, self.encoder_.forget, train.X, texts, train.sample_weight
        )
        return replace(beyond, forgetting=moved)


def _of_today(state: dict[str, Any]) -> dict[str, Any]:
    """What a fitted model had by other names when its two parts were not yet one."""
    if "epistemic_" not in state:
        return state
    kept = {
        k: v for k, v in state.items() if k not in ("epistemic_", "aleatoric_", "shows_center_")
    }
    shown = "center" if state["shows_center_"] else "nothing"
    pair = Pair(state["epistemic_"], state["aleatoric_"], shown)
    return {
        **kept,
        "parts_": pair,
        "calibration_": state["calibration"],
        "leaderboard_": (),
        "centers_": (),
    }


def _judged(rows: Rows, components: Components) -> Judged:
    return Judged(rows.y, components, rows.groups, rows.calibration_weight, rows.sample_weight)
