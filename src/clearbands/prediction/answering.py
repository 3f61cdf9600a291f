"""What a fitted model says about y: intervals at any level, quantiles, chances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.calibration_set import scale
from clearbands.calibration.distribution import SIDES, AnyLevel, Distribution
from clearbands.calibration.groups import GroupCalibrator
from clearbands.calibration.rolling import Rolling
from clearbands.prediction.answers import Answers, check_finite
from clearbands.prediction.extrapolation import Extrapolation
from clearbands.prediction.familiarity import (
    NO_FAMILIARITY,
    Familiarity,
    epistemic_width,
    texts_of_rows,
)
from clearbands.prediction.forecast import Forecast
from clearbands.prediction.interval_regressor import IntervalRegressor
from clearbands.prediction.outlook import Outlook
from clearbands.prediction.predictions import answer, frame_partitions, predict_partitions
from clearbands.prediction.questions import Questions
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.bands import Components
from clearbands.rows.checks import (
    check_levels,
    check_quantiles,
    is_dask,
)
from clearbands.rows.labels import read_calibration_groups
from clearbands.rows.messages import renamed
from clearbands.rows.settings import Side
from clearbands.rows.targets import Targets, check_support
from clearbands.rows.typed import TableLike
from clearbands.tables.native import kind_of

NO_OUTLOOK = (
    "The parts of this model were given, so nothing competed and no learning curve was measured: "
    "leave epistemic and aleatoric open, as in ClearRegressor() or fast()."
)


class Placed(NamedTuple):
    """Rows with their targets, as the fit sees them."""

    positions: np.ndarray  # (n,): the bands that just contain them, see `AnyLevel`
    strange: np.ndarray | None  # (n,): which of them are unfamiliar; None where nobody knows


class AnsweringRegressor(IntervalRegressor):
    """Subclasses keep `levels_`, a `calibrator_`, and `any_level_` made from the same rows.

    `calibration_groups` are labels (n,) of the rows, or the name of a column of X; they are
    needed where the model was fitted with labels, and found by themselves where it was fitted with
    a column's name.
    """

    levels_: np.ndarray
    any_level_: AnyLevel | None
    familiar_: Familiarity | None
    beyond_: Extrapolation | None
    outlook_: Outlook | None
    transform_: Any
    calibration_group_column_: str | None
    support: Any
    target_transform: Any
    whole_numbers: bool

    @abstractmethod
    def _components(self, X: TableLike) -> Components:
        """Center and uncalibrated widths of encoded rows."""

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
        calibration_groups : (n,) or str, optional
            The labels of the rows, or the name of a column, where the model was fitted with
            calibration groups. Each row gets the bounds of its own group.
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
        if side not in SIDES:
            raise ValueError(f'side must be "both", "lower" or "upper", got {side!r}.')
        levels = None if confidence_level is None else check_levels(confidence_level)
        is_other = side != "both" or not (confidence_level is tails is None)
        if calibration_weight is not None and is_other:
            raise ValueError(
                "calibration_weight of new rows is known to the levels of the fit alone: leave out "
                "confidence_level, side and tails, or fit at these levels."
            )
        if is_dask(X):
            if tails is not None:
                raise ValueError(
                    "Of a Dask DataFrame, ask for one side at a time instead of tails."
                )
            return self._predict_partitions(X, calibration_groups, levels, side, calibration_weight)
        answers = self.answers(
            X, calibration_groups=calibration_groups, calibration_weight=calibration_weight
        )
        return answers.center, answers.interval(confidence_level, side, tails)

    def _predict_partitions(
        self,
        X: TableLike,
        calibration_groups: ArrayLike | None,
        other_levels: tuple[float, ...] | None,
        side: str,
        weight: ArrayLike | None,
    ) -> Any:
        check_is_fitted(self, "calibrator_")
        if weight is not None or not isinstance(calibration_groups, str | None):
            raise ValueError(
                "Of a Dask DataFrame, calibration_groups are the name of a column, and rows have "
                "no weights."
            )
        levels = self.levels_.tolist() if other_levels is None else list(other_levels)
        wanted = None if other_levels is None else levels
        return predict_partitions(
            self,
            X,
            levels,
            calibration_groups=calibration_groups,
            confidence_level=wanted,
            side=side,
        )

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
        calibration_groups : (n,) or str, optional
            The labels of the rows, or the name of a column, where the model was fitted with
            calibration groups. Each row gets the bounds of its own group.
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
            return self._frame_partitions(X, calibration_groups, levels)
        return answer(
            self.answers(X, calibration_groups=calibration_groups), Questions(levels)
        ).frame()

    def _frame_partitions(
        self, X: TableLike, calibration_groups: ArrayLike | None, levels: tuple[float, ...]
    ) -> Any:
        check_is_fitted(self, "calibrator_")
        if not isinstance(calibration_groups, str | None):
            raise ValueError("Of a Dask DataFrame, calibration_groups are the name of a column.")
        names, other_levels = list(levels) or self.levels_.tolist(), list(levels) or None
        return frame_partitions(
            self, X, names, calibration_groups=calibration_groups, confidence_level=other_levels
        )

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
        _, encoded = self._read(X)
        components = self._components(encoded)
        return components._replace(center=self._targets.unshifted(components.center))

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
        unless more of the calibration rows lie below that interval than above it, or the other way
        round: of skewed noise every quantile is calibrated on its own side. The quantile at 0.5 is
        the center, unless most targets of the calibration rows lie on one side of it. After
        `update` all quantiles move to where the last rows are; the center may then lie outside of
        them, although every interval reaches to it.

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
        return self.answers(X, calibration_groups=calibration_groups).quantiles(levels)

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
        return self.answers(X, calibration_groups=calibration_groups).probability(
            above=above, below=below
        )

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
        return self.answers(X, calibration_groups=calibration_groups).distribution()

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
        return self.answers(X, calibration_groups=calibration_groups).uncertainty(confidence_level)

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
        return self.answers(X, calibration_groups=calibration_groups).uncertainties()

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
        table, encoded = self._read(X)
        self._check_familiar()
        return self._unfamiliar(table, encoded, self._components(encoded))

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
        table, encoded = self._read(X)
        components = self._components(encoded)
        labels = self._labels(X, calibration_groups, len(components.center))
        calibrated = scale(self.calibrator_, components, labels, calibration_weight)
        rolling = self._rolling  # once: it may be updated in the meantime
        widened = self._widened(calibrated, encoded, table)
        return Answers(
            self.levels_,
            widened,
            self._targets,
            kind_of(X),
            lambda: self._bands(rolling),
            lambda: self._unfamiliar(table, encoded, components),
            is_updated=rolling is not None,
            can_tell_unfamiliar=self.familiar_ is not None,
            noise=self._noise(components, calibrated, widened),
        )

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
        check_is_fitted(self, "calibrator_")
        times = np.atleast_1d(np.asarray(more, float))
        if times.ndim != 1 or not (np.isfinite(times) & (times > 1)).all():
            raise ValueError(f"more must be numbers above 1, such as (2, 4, 10); got {more!r}.")
        if self.outlook_ is None:
            raise ValueError(NO_OUTLOOK)
        return self.outlook_.forecast(np.sort(times).tolist(), float(self.levels_[0]))

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
        answers = self.answers(X, calibration_groups=calibration_groups)
        return answers.uncertainty(confidence_level).center_interval

    def _noise(
        self, components: Components, calibrated: Components, widened: Components
    ) -> np.ndarray | None:
        """(3, n, 2): noise over distance, see `Outlook`; what is added beyond the data is none."""
        outlook = getattr(self, "outlook_", None)
        if outlook is None:
            return None
        before, after = (
            np.add(each.aleatoric, each.epistemic)[:, :, 0] for each in (calibrated, widened)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(after > before, before / after, 1.0)
        return outlook.noise(components)[:, :, None] * share

    def placed(self, X: TableLike, y: Any, *, calibration_groups: Any = None) -> Placed:
        """Where rows lie in the bands of the fit, whatever was updated since."""
        table, encoded = self._read(X)
        components = self._components(encoded)
        rows = self._check_rows(table, y, reset=False)
        targets = self._targets.check(rows.y)
        labels = self._labels(X, calibration_groups, len(rows))
        center, *parts = self._widened(scale(self.calibrator_, components, labels), encoded, table)
        bands, distances = self._bands(), np.add(*parts)
        check_finite(bands, distances)
        positions = bands.positions_of(targets, center, distances)
        is_known = self.familiar_ is not None
        return Placed(positions, self._unfamiliar(table, encoded, components) if is_known else None)

    def _unfamiliar(self, table: Any, encoded: Any, components: Components) -> np.ndarray:
        familiar = self._check_familiar()
        texts = texts_of_rows(self.encoder_, table)
        scores = familiar.scores(encoded, texts, epistemic_width(components))
        return scores > familiar.threshold

    def _check_familiar(self) -> Familiarity:
        if self.familiar_ is None:
            raise ValueError(NO_FAMILIARITY)
        return self.familiar_

    def without_updates(self) -> Self:
        """The same model as it was after the fit."""
        model = copy(self)
        if hasattr(model, "rolling_"):
            del model.rolling_
        return model

    def without_calibration_groups(self) -> Self:
        """The same model as if all groups had been calibrated together; at the levels of fit."""
        model = self.without_updates()
        model.calibrator_ = self._pooled
        model.any_level_ = None
        return model

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
    def _pooled(self) -> BaseEstimator:
        """The calibrator of all rows, also where there are groups."""
        return getattr(self.calibrator_, "pooled_", self.calibrator_)

    @property
    def has_calibration_groups_(self) -> bool:
        """Whether it was calibrated by group."""
        return isinstance(self.calibrator_, GroupCalibrator)

    @property
    def _targets(self) -> Targets:
        return Targets(check_support(self.support), self.transform_, self.whole_numbers)

    def _widened(self, calibrated: Components, encoded: Any, table: Any) -> Components:
        """Farther out where rows lie beyond those that trained."""
        beyond, familiar, unknown, new_gaps = self.beyond_, self.familiar_, None, None
        if beyond is None:
            return calibrated
        if beyond.gaps is not None and beyond.gaps.any():
            new_gaps = self.encoder_.new_gaps(table)
        if beyond.forgetting is not None and familiar is not None:
            unknown = familiar.unusual(texts_of_rows(self.encoder_, table))
        return beyond.widen(calibrated, encoded, self.levels_.tolist(), unknown, new_gaps)

    def _labels(
        self, X: TableLike, calibration_groups: ArrayLike | None, n: int
    ) -> np.ndarray | None:
        """The labels of new rows; None where the model has no groups."""
        if not self.has_calibration_groups_:
            if calibration_groups is not None:
                raise ValueError(
                    "calibration_groups were given, but the model was fitted without: fit it "
                    "with them."
                )
            return None
        calibration_groups = (
            self.calibration_group_column_ if calibration_groups is None else calibration_groups
        )
        if calibration_groups is None:
            raise ValueError(
                "The model was calibrated by group: give calibration_groups, a label for "
                "every row of X."
            )
        return read_calibration_groups(calibration_groups, X, n)

    @property
    def _rolling(self) -> Rolling | None:
        """How calibration went on after the fit; None where nothing was updated."""
        return getattr(self, "rolling_", None)

    def _bands(self, rolling: Rolling | None = None) -> AnyLevel:
        if self.any_level_ is None:
            raise ValueError(
                "No level of the fit has finite bounds, so there are none at others: calibrate on "
                "more rows."
            )
        return self.any_level_ if rolling is None else rolling.bands(self.any_level_)
