"""What becomes of a fitted model as rows come: calibration goes on, and nothing is fitted."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.calibration_set import scale
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.calibration.guarantee import Guarantee
from clearbands.calibration.rolling import Pace, RefitWarning, Rolling, four_errors
from clearbands.prediction.answering import AnsweringRegressor
from clearbands.prediction.answers import check_finite
from clearbands.rows.levels import normal_distances
from clearbands.rows.renamed import renamed
from clearbands.rows.telling import warn
from clearbands.rows.time_order import check_later, check_time, show_time
from clearbands.rows.typed import TableLike

SURPRISING = 0.8  # of the rows that should lie outside, so many fewer do


class Placed(NamedTuple):
    """Rows with their targets, as the fit sees them."""

    positions: np.ndarray  # (n,): the bands that just contain them, see `AnyLevel`
    strange: np.ndarray | None  # (n,): which of them are unfamiliar; None where nobody knows


class UpdatingRegressor(AnsweringRegressor):
    """Subclasses keep `last_time_`, None where `fit` was given no times."""

    guarantee_: str
    gap: int

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
        """Calibrate on with rows whose targets became known, in the order of time.

        Each row is first judged by the interval it would have got, then joins the window of the
        last rows that intervals are calibrated on. Bounds below and above are quantiles of their
        errors, each at a share that adapts, so that in the long run the coverage is met for any
        sequence of rows (adaptive conformal inference). Quantiles and distributions, and their
        median with them, move to where the last rows are. `predict` does not: center and widths are
        not fitted again, and intervals reach to the center wherever it is. A `RefitWarning` says
        when the model should be fitted anew. What is kept is `rolling_`, and saved with the model;
        all later answers use it. Several threads may update one model: rows join in the order in
        which the calls are done.

        Parameters
        ----------
        time : (n,), optional
            Where the model knows the time of its last row: rows must be later.
        calibration_groups
            As in `predict_interval`.
        window : int, optional
            How many of the last rows count, at first 1,000; calibration rows fill it to begin with.
        rate : float, optional
            By how much one row moves the share of its side: by default a twentieth of
            (1 - level) / 2, and less with a lead of more than 10; 0 moves the window alone.
        lead : int, optional
            How many rows pass until the target of a row is known, at first `gap` + 1; with
            forecasts 24 hours ahead, made every hour, 24. Each row is judged with what was known
            then.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals
        >>> X = np.arange(300.0)[:, None]
        >>> y = X[:, 0] + np.resize([-1.0, 0.0, 1.0, 2.0, -2.0], 300)
        >>> parts = FoldedEnsemble(LinearRegression()), ScaledResiduals(LinearRegression())
        >>> model = ClearRegressor(*parts, split="time", random_state=0).fit(X[:200], y[:200])
        >>> model = model.update(X[200:], y[200:])
        >>> model.rolling_.n_rows, model.rolling_.coverage.shape
        (100, (1,))
        """
        found = self.placed(X, y, calibration_groups=calibration_groups)
        self._warn_if_seen(found.positions)
        with self._one_update:
            before = self._at_pace(window=window, rate=rate, lead=lead)
            times = self._check_later(time, len(found.positions))
            after = before.after(found.positions, found.strange, times)
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

    def _warn_if_seen(self, positions: np.ndarray) -> None:
        """What trained lies inside its intervals more often than new rows do."""
        n, reach = len(positions), normal_distances(self.levels_)[0]
        level, covered = float(self.levels_[0]), float(np.mean(np.abs(positions) <= reach))
        if covered - level > max(SURPRISING * (1 - level), four_errors(level, n)):
            warn(
                f"{covered:.0%} of these {n} rows lie inside the intervals of the fit at level "
                f"{level:g}. If the model was trained on them, intervals become too short: update "
                "with rows that it has not seen.",
                CalibrationWarning,
            )

    def placed(self, X: TableLike, y: Any, *, calibration_groups: Any = None) -> Placed:
        """Where rows lie in the bands of the fit, whatever was updated since."""
        with self._door(X) as (table, encoded):
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

    def _at_pace(self, **asked: Any) -> Rolling:
        """How far calibration has come, from now on at this pace."""
        given = {name: value for name, value in asked.items() if value is not None}
        if self._rolling is not None:
            return self._rolling.at_pace(replace(self._rolling.pace, **given))
        fitted = self._bands()
        if fitted.weight is not None:
            raise ValueError(
                "The model was calibrated with weights, which new rows do not have: it cannot be "
                "updated. Fit it again with the new rows."
            )
        pace = replace(self.first_pace(), **given)
        return Rolling.begin(self.levels_, fitted.positions, pace)

    def first_pace(self) -> Pace:
        """That of the first update: what the gap kept from the fit, updates do not know either."""
        return Pace(lead=1 + self.gap)

    def _check_later(self, time: ArrayLike | None, n: int) -> np.ndarray | None:
        """The times of new rows, which come after all that the model knows."""
        rolling, last = self._rolling, getattr(self, "last_time_", None)
        if rolling is not None and rolling.last_time is not None:
            last = rolling.last_time
        if time is None:
            if last is None:
                return None
            raise ValueError(
                f"The model knows the time of its last row, {show_time(last)}: give time, so that "
                "no row is counted twice."
            )
        times = check_time(time, n)
        if last is None:
            return times
        known = None if rolling is None or rolling.n_rows < rolling.pace.window else rolling.times
        check_later(times, last, None if known is None else known[0])
        return times
