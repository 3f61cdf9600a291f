"""A quantile regression of scores on functions of the rows, with one more row that is to come.

With scores s (n,), functions F (n, p) of their rows and f (p,) of a new row, find b that minimises

    sum of l(s - F b)  -  u f b         l(r) = level * r for r > 0, (level - 1) * r else

The last term is what the new row adds when its score is far above (u = level) or below
(u = level - 1) its fit; u between them stands for a score that lies on it. f b is then the largest
score that the new row may have to be counted as covered at u (Gibbs, Cherian and Candès 2025).

p rows lie on the fit; all else follows from them. The search goes from one such choice of rows to
a better one along a line on which all but one of them stay (the simplex method). From the fit
without the new row that is a few steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

TOLERANCE = 1e-11
SPREAD = 1e-10  # by which equal scores are parted while searching, in units of a usual one
FAR = 1e6  # what stands for infinite scores while searching, in units of the largest
FINE = 1e-6  # of a usual score: below, what parts scores may have changed their order
VAST = 1e100  # scores beyond so many usual ones count as infinite
ROUGH = 1e4  # usual scores: what steps over larger ones round is computed anew
MOST_REFRESHED = 10
MOST_STEPS = 100_000


class _Place(NamedTuple):
    """Where a search stands; no array is changed, so that others can go on from here."""

    on_fit: np.ndarray  # (p,) numbers of the rows
    inverse: np.ndarray  # (p, p) of their functions
    residuals: np.ndarray  # (n,)
    above: np.ndarray  # (n,) of bool; means nothing for rows on the fit
    pull: np.ndarray  # (p,): functions of the other rows, times their slopes, summed


class QuantileFit:
    """Scores (n,), from 0 to infinity, on independent functions (n, p), to ask about new rows."""

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
        # Golden steps: no two scores that were equal stay so, whichever they are. A step is small
        # beside its own score, too, so that one score far beyond all others moves no other.
        golden = ((np.arange(n) * (math.sqrt(5) / 2 - 0.5)) % 1.0 + (scores > 0)) / 2
        known = np.where(finite, scores, far)
        self._scores = known + SPREAD * np.maximum(known, usual) * golden
        self._finest = FINE * usual
        if on_fit is None:
            on_fit = qr(functions.T, mode="r", pivoting=True)[1][:p]
        start = self._search(self._at(np.asarray(on_fit)), np.zeros(p))
        assert start is not None  # no loss is below 0
        self._start = start

    @property
    def on_fit(self) -> np.ndarray:
        """(p,): the rows on the fit without a new row, from which it can be made again."""
        return self._start.on_fit

    def cutoffs(self, new: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(m,): f b for functions (m, p) and u (m,) of new rows."""
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

    def _value(self, place: _Place, new: np.ndarray) -> float:
        shares = new @ place.inverse
        scores, counts = self.scores[place.on_fit], np.abs(shares) > TOLERANCE
        endless = counts & np.isinf(scores)
        if endless.any():  # as what stands for them would, and infinite where they cancel out
            return math.inf if shares[endless].sum() > -TOLERANCE else -math.inf
        value = float(shares[counts] @ scores[counts])
        if 0 < value < self._finest:
            return max(value, float(shares @ self._scores[place.on_fit]))
        return value

    def _at(self, on_fit: np.ndarray) -> _Place:
        inverse = np.linalg.inv(self.functions[on_fit])
        residuals = self._scores - self.functions @ (inverse @ self._scores[on_fit])
        residuals[on_fit] = 0.0
        above = residuals > 0
        slopes = np.where(above, self.level, self.level - 1)
        slopes[on_fit] = 0.0
        return _Place(on_fit, inverse, residuals, above, slopes @ self.functions)

    def _search(self, place: _Place, extra: np.ndarray) -> _Place | None:
        """The best place for an additional pull; None where the loss falls without end."""
        refreshed, is_exact = 0, True
        for _ in range(MOST_STEPS):
            # What rows on the fit must pull for the loss to be least: between the two slopes.
            pulls = -(place.pull + extra) @ place.inverse
            excess = np.maximum(pulls - self.level, self.level - 1 - pulls)
            leaving = int(np.argmax(excess))
            if excess[leaving] <= TOLERANCE * len(self.scores):
                if is_exact or not self._rounds or refreshed == MOST_REFRESHED:
                    return place
                # Steps over a score far beyond all others have rounded what is left of these.
                place, refreshed, is_exact = self._at(place.on_fit), refreshed + 1, True
                continue
            step = self._step(place, leaving, pulls[leaving] > self.level, excess[leaving])
            if step is None:
                return None
            place, is_exact = step, False
        raise RuntimeError("The quantile regression of the scores did not end.")  # never seen

    def _step(self, place: _Place, leaving: int, goes_above: bool, excess: float) -> _Place | None:
        """Along the line on which one row leaves the fit, to where the loss stops falling."""
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
        return _Place(on_fit, np.linalg.inv(self.functions[on_fit]), residuals, above, pull)
