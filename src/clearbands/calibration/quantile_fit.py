"""A quantile regression of scores on functions of the rows, with a new row among them.

With scores s (n,), functions F (n, p) of their rows and f (p,) of a new row, find b that minimises

    sum of l(s - F b)  -  u f b         l(r) = level * r for r > 0, (level - 1) * r else

The last term is what the new row adds when its score is far above (u = level) or below
(u = level - 1) its fit; u between them stands for a score that lies on the fit. f b is then the
largest score with which the new row counts as covered at u (Gibbs, Cherian and Candès 2025).

The fit passes through the scores of p rows, which determine it. The search goes from one choice of
p rows to a better one along a line on which all but one of them stay (the simplex method). From the
fit without the new row it takes a few steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

TOLERANCE = 1e-11
# "Usual" is the median of the positive finite scores.
SPREAD = 1e-10  # the distance put between equal scores for the search, in usual scores
FAR = 1e6  # the number that replaces infinity for the search, in units of the largest score
FINE = 1e-6  # below so many usual scores the distances of SPREAD may have changed the order
VAST = 1e100  # scores above so many usual ones count as infinite
ROUGH = 1e4  # after steps over scores above so many usual ones residuals are computed anew
MOST_REFRESHED = 10
MOST_STEPS = 100_000


class _SearchState(NamedTuple):
    """A state of the search; its arrays never change, so other searches can start from it."""

    on_fit: np.ndarray  # (p,) the numbers of the rows on the fit
    inverse: np.ndarray  # (p, p) the inverse of their functions
    residuals: np.ndarray  # (n,)
    above: np.ndarray  # (n,) whether rows lie above the fit; without meaning for those on it
    pull: np.ndarray  # (p,) the sum of the functions of the other rows times their slopes


class QuantileFit:
    """The quantile regression of scores (n,) from 0 to infinity on independent functions (n, p)."""

    def __init__(
        self,
        scores: np.ndarray,
        functions: np.ndarray,
        level: float,
        on_fit: np.ndarray | None = None,
    ) -> None:
        n, p = functions.shape
        positive = scores[np.isfinite(scores) & (scores > 0)]
        usual = float(np.median(positive)) if len(positive) else 1.0
        scores = np.where(scores > VAST * usual, np.inf, scores)
        self.scores, self.functions, self.level = scores, functions, level
        finite = np.isfinite(scores)
        largest = float(np.max(scores, where=finite, initial=usual))
        far, self._rounds = FAR * largest, largest > ROUGH * usual
        # Steps of the golden ratio make all equal scores differ. Each step is relative to its own
        # score, so that one score far beyond all others changes no other.
        golden = ((np.arange(n) * (math.sqrt(5) / 2 - 0.5)) % 1.0 + (scores > 0)) / 2
        known = np.where(finite, scores, far)
        self._scores = known + SPREAD * np.maximum(known, usual) * golden
        self._finest = FINE * usual
        if on_fit is None:
            on_fit = qr(functions.T, mode="r", pivoting=True)[1][:p]
        start = self._search(self._state_at(np.asarray(on_fit)), np.zeros(p))
        assert start is not None  # since no loss is below 0, it cannot fall without end
        self._start = start

    @property
    def on_fit(self) -> np.ndarray:
        """The rows (p,) on the fit without a new row, which determine it."""
        return self._start.on_fit

    def cutoffs(self, new: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the cutoffs f b (m,) for functions (m, p) and u (m,) of new rows."""
        cutoffs = np.empty(len(new))
        last, place = -1, self._search(self._start, np.zeros(new.shape[1]))
        for row in np.lexsort([u, *new.T]).tolist():
            is_same = last >= 0 and np.array_equal(new[row], new[last])
            if not is_same or u[row] != u[last]:
                start = place if is_same and place is not None else self._start
                place = self._search(start, u[row] * new[row])
            cutoffs[row] = math.copysign(math.inf, u[row])
            if place is not None:
                cutoffs[row] = self._value(place, new[row])
            last = row
        return cutoffs

    def _value(self, place: _SearchState, new: np.ndarray) -> float:
        shares = new @ place.inverse
        scores, counts = self.scores[place.on_fit], np.abs(shares) > TOLERANCE
        endless = counts & np.isinf(scores)
        if endless.any():  # the sign of their sum decides; it is + where they cancel out
            return math.inf if shares[endless].sum() > -TOLERANCE else -math.inf
        value = float(shares[counts] @ scores[counts])
        if 0 < value < self._finest:
            return max(value, float(shares @ self._scores[place.on_fit]))
        return value

    def _state_at(self, on_fit: np.ndarray) -> _SearchState:
        inverse = np.linalg.inv(self.functions[on_fit])
        residuals = self._scores - self.functions @ (inverse @ self._scores[on_fit])
        residuals[on_fit] = 0.0
        above = residuals > 0
        slopes = np.where(above, self.level, self.level - 1)
        slopes[on_fit] = 0.0
        return _SearchState(on_fit, inverse, residuals, above, slopes @ self.functions)

    def _search(self, place: _SearchState, extra: np.ndarray) -> _SearchState | None:
        """Return the best place for an additional pull; None where the loss falls without end."""
        refreshed, is_exact = 0, True
        for _ in range(MOST_STEPS):
            # At the minimum the pull of every row on the fit lies between the two slopes.
            pulls = -(place.pull + extra) @ place.inverse
            excess = np.maximum(pulls - self.level, self.level - 1 - pulls)
            leaving = int(np.argmax(excess))
            if excess[leaving] <= TOLERANCE * len(self.scores):
                if is_exact or not self._rounds or refreshed == MOST_REFRESHED:
                    return place
                # Steps over a score far beyond all others have rounded the other residuals.
                place, refreshed, is_exact = self._state_at(place.on_fit), refreshed + 1, True
                continue
            step = self._step(place, leaving, pulls[leaving] > self.level, excess[leaving])
            if step is None:
                return None
            place, is_exact = step, False
        raise RuntimeError("The quantile regression of the scores did not end.")  # never seen

    def _step(
        self, place: _SearchState, leaving: int, goes_above: bool, excess: float
    ) -> _SearchState | None:
        """Move along the line on which one row leaves the fit, until the loss stops falling."""
        direction = place.inverse[:, leaving] * (-1.0 if goes_above else 1.0)
        rates = self.functions @ direction
        rates[place.on_fit] = 0.0
        meets = np.flatnonzero(np.where(place.above, rates, -rates) > TOLERANCE)
        if len(meets) == 0:
            return None
        times, slopes = place.residuals[meets] / rates[meets], np.abs(rates[meets])
        first = int(np.argmin(times))
        passed = meets[:0]
        if slopes[first] < excess:  # the loss still falls beyond the first row that is met
            order = np.argsort(times, kind="stable")
            last = int(np.searchsorted(np.cumsum(slopes[order]), excess))
            if last == len(order):
                return None
            passed, first = meets[order[:last]], order[last]
        entering = meets[first]
        on_fit = place.on_fit.copy()
        out, on_fit[leaving] = on_fit[leaving], entering
        residuals, above = place.residuals - times[first] * rates, place.above.copy()
        residuals[out], residuals[entering] = times[first] * (1.0 if goes_above else -1.0), 0.0
        above[passed] = ~above[passed]
        above[out] = goes_above
        pull = place.pull + np.where(above[passed], 1.0, -1.0) @ self.functions[passed]
        pull = pull + (self.level - (not goes_above)) * self.functions[out]
        pull -= (self.level - (not place.above[entering])) * self.functions[entering]
        return _SearchState(on_fit, np.linalg.inv(self.functions[on_fit]), residuals, above, pull)
