"""The answers of a fitted model: its parts, its calibrator, and questions about some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples

from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.calibration_set import scale
from clearbands.calibration.conditional import ConditionalCalibrator
from clearbands.calibration.distribution import Distribution
from clearbands.calibration.groups import GroupCalibrator
from clearbands.calibration.rolling import Rolling
from clearbands.prediction.extrapolation import Extrapolation
from clearbands.prediction.familiarity import (
    Familiarity,
    epistemic_width,
    texts_of_rows,
    unfamiliar_rows,
)
from clearbands.prediction.forecast import Forecast
from clearbands.prediction.outlook import Outlook
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.bands import Components, make_interval
from clearbands.rows.checks import check_threshold
from clearbands.rows.labels import read_calibration_groups
from clearbands.rows.levels import (
    check_levels,
    check_one_level,
    check_quantiles,
    check_tails,
    same_level,
)
from clearbands.rows.messages import row_name
from clearbands.rows.targets import Targets
from clearbands.tables.encoder import encode
from clearbands.tables.native import FrameKind
from clearbands.uncertainty.pairs import Blend, Pair

NO_OUTLOOK = (
    "The parts of this model were given, so nothing competed and no learning curve was measured: "
    "leave epistemic and aleatoric open, as in ClearRegressor() or fast()."
)


class PlacedRows(NamedTuple):
    """The places of rows with targets in the bands of the fit."""

    positions: np.ndarray  # (n,): the bands that just contain the targets, see `AnyLevel`
    strange: np.ndarray | None  # (n,): whether a row is unfamiliar; None if the model cannot tell


@dataclass(frozen=True)
class Predictor:
    """All that a `ClearRegressor` keeps of a fit to answer questions, from memory or from files.

    The estimator has checked all tables. `calibration_groups` are labels (n,) of the rows, columns
    of groups, or the names of either in the table; a model that was fitted with labels or columns
    needs them, and one that was fitted with names finds them by itself.
    """

    encoder: BaseEstimator
    parts: Pair | Blend
    targets: Targets
    calibrator: BaseEstimator
    levels: np.ndarray  # (k,)
    any_level: AnyLevel | None  # made from the same rows as the calibrator
    familiar: Familiarity | None
    beyond: Extrapolation | None
    calibration_group_column: str | list[str] | None = None
    outlook: Outlook | None = None
    rolling: Rolling | None = None  # the state of calibration after updates

    def center(self, table: Any) -> np.ndarray:
        """Return the centers (n,)."""
        center = self.parts.predict(encode(self.encoder, table))
        return self.targets.center(self.targets.inner.clip(center))

    def components(self, encoded: Any) -> Components:
        """Return center and uncalibrated widths of encoded rows."""
        components = self.parts.components(encoded)
        return components._replace(center=self.targets.inner.clip(components.center))

    def answers(
        self,
        table: Any,
        kind: FrameKind,
        calibration_groups: ArrayLike | None = None,
        calibration_weight: ArrayLike | None = None,
    ) -> Answers:
        """Return an object that answers all questions about some rows, from one pass over them."""
        encoded = encode(self.encoder, table)
        components = self.components(encoded)
        labels = self._labels(table, calibration_groups)
        calibrated = scale(self.calibrator, components, labels, calibration_weight)
        widened = self._widen_beyond_data(calibrated, encoded, table)
        noise = self._noise(components, calibrated, widened)
        return Answers(self, table, encoded, components, widened, kind, noise)

    def place(self, table: Any, y: np.ndarray, calibration_groups: Any) -> PlacedRows:
        """Return where rows lie in the bands of the fit, without later updates."""
        encoded = encode(self.encoder, table)
        components = self.components(encoded)
        targets = self.targets.check(y)
        labels = self._labels(table, calibration_groups)
        center, *parts = self._widen_beyond_data(
            scale(self.calibrator, components, labels), encoded, table
        )
        bands, distances = self._bands_of_fit(), np.add(*parts)
        check_finite(bands, distances)
        positions = bands.positions_of(targets, center, distances)
        is_known = self.familiar is not None
        return PlacedRows(
            positions, self.unfamiliar(table, encoded, components) if is_known else None
        )

    def unfamiliar(self, table: Any, encoded: Any, components: Components) -> np.ndarray:
        """Return whether each row (n,) is unlike those that the model has learned from."""
        return unfamiliar_rows(
            self.familiar, encoded, texts_of_rows(self.encoder, table), epistemic_width(components)
        )

    def bands(self) -> AnyLevel:
        """Return what answers at other levels, or raise an error that says why nothing can."""
        fitted = self._bands_of_fit()
        return fitted if self.rolling is None else self.rolling.bands(fitted)

    def forecast(self, more: Sequence[float]) -> Forecast:
        """Forecast what so many times the rows of the fit would bring, each number above 1."""
        times = np.atleast_1d(np.asarray(more, float))
        if times.ndim != 1 or not (np.isfinite(times) & (times > 1)).all():
            raise ValueError(f"more must be numbers above 1, such as (2, 4, 10); got {more!r}.")
        if self.outlook is None:
            raise ValueError(NO_OUTLOOK)
        return self.outlook.forecast(np.sort(times).tolist(), float(self.levels[0]))

    def without_updates(self) -> Self:
        """Return the predictor as it was after the fit."""
        return replace(self, rolling=None)

    def without_calibration_groups(self) -> Self:
        """Return a predictor whose rows all calibrate together, at the levels of the fit."""
        return replace(self, calibrator=self.pooled, any_level=None, rolling=None)

    @property
    def pooled(self) -> BaseEstimator:
        """The calibrator of all rows, even if there are groups."""
        return getattr(self.calibrator, "pooled_", self.calibrator)

    @property
    def lambda_(self) -> np.ndarray:
        """The quotient gamma2 / gamma1 at each level (k,)."""
        return np.atleast_1d(self.pooled.lambda_)

    @property
    def gamma1(self) -> np.ndarray:
        """The factor of the aleatoric widths at each level (k,)."""
        return np.atleast_1d(self.pooled.gamma1_)

    @property
    def gamma2(self) -> np.ndarray:
        """The factor of the epistemic widths at each level (k,)."""
        return np.atleast_1d(self.pooled.gamma2_)

    @property
    def has_calibration_groups(self) -> bool:
        """Whether it was calibrated by group."""
        return isinstance(self.calibrator, GroupCalibrator | ConditionalCalibrator)

    def _bands_of_fit(self) -> AnyLevel:
        if self.any_level is None:
            raise ValueError(
                "No level of the fit has finite bounds, so there are none at others: calibrate on "
                "more rows."
            )
        return self.any_level

    def _noise(
        self, components: Components, calibrated: Components, widened: Components
    ) -> np.ndarray | None:
        """Return noise over distance (3, n, 2), see `Outlook`; nothing beyond the data is noise."""
        if self.outlook is None:
            return None
        before, after = (
            np.add(each.aleatoric, each.epistemic)[:, :, 0] for each in (calibrated, widened)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(after > before, before / after, 1.0)
        return self.outlook.noise(components)[:, :, None] * share

    def _widen_beyond_data(self, calibrated: Components, encoded: Any, table: Any) -> Components:
        """Return distances that are larger where rows lie beyond those that trained."""
        beyond, unknown, new_gaps = self.beyond, None, None
        if beyond is None:
            return calibrated
        if beyond.gaps is not None and beyond.gaps.any():
            new_gaps = self.encoder.new_gaps(table)
        if beyond.category_deviations is not None and self.familiar is not None:
            unknown = self.familiar.unknown(texts_of_rows(self.encoder, table))
        return beyond.widen(calibrated, encoded, self.levels.tolist(), unknown, new_gaps)

    def _labels(self, table: Any, calibration_groups: ArrayLike | None) -> np.ndarray | None:
        """Return the labels of new rows; None if the model has no groups."""
        if not self.has_calibration_groups:
            if calibration_groups is not None:
                raise ValueError(
                    "calibration_groups were given, but the model was fitted without: fit it "
                    "with them."
                )
            return None
        if calibration_groups is None:
            calibration_groups = self.calibration_group_column
        if calibration_groups is None:
            raise ValueError(
                "The model was calibrated by group: give calibration_groups, a label for "
                "every row of X."
            )
        overlap = isinstance(self.calibrator, ConditionalCalibrator)
        n = _num_samples(table)
        return read_calibration_groups(calibration_groups, table, n, overlap=overlap)


@dataclass(frozen=True)
class Answers:
    """Made by `ClearRegressor.answers`; each method answers another question about these rows."""

    predictor: Predictor
    table: Any  # the rows
    encoded: Any
    components: Components  # before calibration
    calibrated: Components  # by the model: center (n,), both parts of the distances (n, 2, k)
    kind: FrameKind  # the kind of the predicted rows
    noise: np.ndarray | None = None  # (3, n, 2): noise over distance; None for given parts

    @property
    def levels(self) -> np.ndarray:
        """The levels of the fit (k,)."""
        return self.predictor.levels

    @property
    def targets(self) -> Targets:
        """The way from numbers of the model to targets."""
        return self.predictor.targets

    @property
    def can_tell_unfamiliar(self) -> bool:
        return self.predictor.familiar is not None

    def unfamiliar(self) -> np.ndarray:
        """Return whether each row (n,) is unlike those that the model has learned from."""
        return self.predictor.unfamiliar(self.table, self.encoded, self.components)

    @property
    def center(self) -> np.ndarray:
        """The centers (n,)."""
        return self.targets.center(self.calibrated.center)

    def interval(
        self,
        confidence_level: float | Sequence[float] | None = None,
        side: str = "both",
        tails: Any = None,
    ) -> np.ndarray:
        """Return the bounds (n, 2, q) at any levels, by default the fit's, or between tails."""
        if tails is not None:
            return self._interval_between(tails, confidence_level, side)
        other_levels = None if confidence_level is None else check_levels(confidence_level)
        center = self.calibrated.center
        levels = self.levels.tolist() if other_levels is None else other_levels
        places = (same_level(self.levels, level) for level in levels)
        columns = [j for j in places if j is not None]
        if side == "both" and len(columns) == len(levels) and not self._is_updated:
            bounds = make_interval(center, self._distances)[:, :, columns]
            return self.targets.points(bounds, center)
        bounds = self._other_levels().intervals(center, self._distances, levels, side=side)
        return self.targets.points(bounds, center)

    def _interval_between(self, tails: Any, confidence_level: Any, side: str) -> np.ndarray:
        if confidence_level is not None or side != "both":
            raise ValueError(
                "tails say the level and the side: leave out confidence_level and side, or tails."
            )
        center = self.calibrated.center
        bounds = self._other_levels().between(center, self._distances, check_tails(tails))
        return self.targets.points(bounds, center)

    def quantiles(self, levels: float | Sequence[float]) -> np.ndarray:
        """Return the values (n, q) that shares `levels` (q,), rising, of targets do not exceed."""
        shares = check_quantiles(np.atleast_1d(np.asarray(levels, float)).tolist()).tolist()
        center = self.calibrated.center
        points = self._other_levels().quantiles(center, self._distances, shares)
        return self.targets.points(points, center)

    def probability(self, *, above: Any = None, below: Any = None) -> np.ndarray:
        """Return the chance (n,) of a target above, or below, a value: a number or one per row."""
        if (above is None) == (below is None):
            raise ValueError("Give either above=t or below=t, and not both.")
        n, distribution = len(self.calibrated.center), self.distribution()
        if above is None:
            t = check_threshold(below, "below", n)
            return distribution.cdf(np.ceil(t) - 1 if self.targets.whole else t)
        return 1 - distribution.cdf(check_threshold(above, "above", n))

    def distribution(self) -> Distribution:
        """Return the distribution of the target of every row."""
        of_model = self._other_levels().distribution(self.calibrated.center, self._distances)
        return replace(of_model, targets=self.targets, center=self.calibrated.center)

    def uncertainty(self, confidence_level: float | None = None) -> Uncertainty:
        """Return both parts of the interval at one level, by default the first of the fit."""
        level = self.levels[0] if confidence_level is None else check_one_level(confidence_level)
        j = same_level(self.levels, level)
        center, aleatoric, epistemic = self.calibrated
        level = level if j is None else float(self.levels[j])
        if j is not None and not self._is_updated:
            parts = aleatoric[:, :, j], epistemic[:, :, j]
        else:
            parts = self._other_levels().parts(aleatoric, epistemic, level)
        support = self.targets.support
        if self.targets.are_plain:
            limited = support.limit(center, *parts)
            uncertainty = Uncertainty(center, *limited, level, self.kind, support)
        else:
            bounds = self.targets.points(make_interval(center, np.add(*parts)), center)
            split = self.targets.split(self.center, bounds, *parts)
            uncertainty = Uncertainty(self.center, *split, level, self.kind, support, bounds)
        return uncertainty if self.noise is None else uncertainty.split_by(self.noise)

    def uncertainties(self) -> tuple[Uncertainty, ...]:
        """Return the same at every level of the fit, in its order."""
        return tuple(self.uncertainty(level) for level in self.levels.tolist())

    @property
    def _is_updated(self) -> bool:
        """Whether the model was updated, so that bands answer at the levels of the fit, too."""
        return self.predictor.rolling is not None

    def _other_levels(self) -> AnyLevel:
        bands = self.predictor.bands()
        check_finite(bands, self._distances)
        return bands

    @property
    def _distances(self) -> np.ndarray:
        """Both parts of the distances together (n, 2, k)."""
        return np.add(self.calibrated.aleatoric, self.calibrated.epistemic)


def check_finite(bands: AnyLevel, distances: np.ndarray) -> None:
    """Raise an error if rows (n, 2, k) have infinite bounds where other rows have finite ones."""
    is_finite = np.isfinite(distances[:, :, bands.columns]).all(axis=(1, 2))
    if not is_finite.all():
        raise ValueError(
            f"The bounds of {row_name(int(np.argmin(is_finite)))} are infinite at a "
            "level of the fit, as in groups of too few calibration rows, so none are "
            "known at other levels: leave such rows out, or calibrate on more rows of their group."
        )
