"""The reasons why an interval is wide: its two parts, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC, SHARE
from clearbands.rows.bands import make_interval
from clearbands.rows.checks import check_count
from clearbands.rows.display import GAP, Preview, count, level, number, percent
from clearbands.rows.levels import level_name
from clearbands.rows.targets import ANYWHERE, Support
from clearbands.rows.typed import TableLike
from clearbands.tables.native import FrameKind, make_frame

MOST_SHOWN = 8
UNCLEAR = "unclear"


@dataclass(frozen=True, repr=False)
class Uncertainty:
    """The parts of calibrated intervals at one level.

    `center - aleatoric[:, 0] - epistemic[:, 0]` is the lower bound, and the upper bound follows in
    the same way. Both hold up to the last digits, which `interval` rounds outwards.

    If parts competed, aleatoric is noise, the width of the best possible interval from these
    columns. Epistemic is ignorance, the rest of the interval, which more rows or a better model
    would take away. How much of all widths is noise follows from the learning curve, within a range
    (`share_low` to `share_high`); how it differs between rows follows from how much members
    disagree. Parts that were given keep the paper's split, gamma1 x aleatoric and gamma2 x
    epistemic, without a range.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty
    >>> parts = Uncertainty(
    ...     center=np.array([10.0, 20.0]),
    ...     aleatoric=np.array([[1.0, 1.0], [1.0, 2.0]]),
    ...     epistemic=np.array([[3.0, 3.0], [1.0, 0.0]]),
    ...     confidence_level=0.9,
    ... )
    >>> parts
    2 rows at 90 %, 58 % epistemic share of the mean width
      row  center  lower  upper  aleatoric  epistemic  epistemic_share
        1      10      6     14          2          6             75 %
        2      20     18     22          3          1             25 %
    >>> parts.ratio.round(2).tolist()
    [3.0, 0.33]
    >>> parts.dominant.tolist()
    ['ignorance', 'noise']
    """

    center: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n, 2) calibrated distances below and above
    epistemic: np.ndarray  # (n, 2)
    confidence_level: float
    kind: FrameKind = field(default=FrameKind(), compare=False)  # the kind of the predicted rows
    support: Support = ANYWHERE  # the range of targets
    bounds: np.ndarray | None = None  # (n, 2) if they are not sums, as for transformed targets
    noise_range: np.ndarray | None = None  # (2, n): the least and the largest share of noise

    def __len__(self) -> int:
        return len(self.center)

    def take(self, rows: np.ndarray) -> Uncertainty:
        """Return the same for some rows, given by numbers or booleans."""
        index = self.kind.index
        kind = self.kind._replace(index=None if index is None else index[rows])
        parts = (self.center[rows], self.aleatoric[rows], self.epistemic[rows])
        bounds = None if self.bounds is None else self.bounds[rows]
        likely = None if self.noise_range is None else self.noise_range[:, rows]
        return Uncertainty(*parts, self.confidence_level, kind, self.support, bounds, likely)

    def split_by(self, noise: np.ndarray) -> Uncertainty:
        """Split the same intervals by noise over distance (3, n, 2): likely, least and most."""
        distances = self.aleatoric + self.epistemic
        with np.errstate(invalid="ignore"):  # infinite distances are all ignorance
            likely, *ends = np.where(np.isfinite(distances), noise * distances, 0.0)
        whole = distances.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            least, most = (np.minimum(each.sum(axis=1) / whole, 1.0) for each in ends)
        nothing = whole == 0  # an interval without width, all or nothing of which may be noise
        noise_range = np.stack([np.where(nothing, 0.0, least), np.where(nothing, 1.0, most)])
        return replace(
            self,
            aleatoric=likely,
            epistemic=distances - likely,
            bounds=self.interval,
            noise_range=noise_range,
        )

    @property
    def interval(self) -> np.ndarray:
        """Lower and upper bounds (n, 2), the same as those of `predict_interval`."""
        if self.bounds is not None:
            return self.bounds
        return self.support.clip(make_interval(self.center, self.aleatoric + self.epistemic))

    @property
    def widths(self) -> np.ndarray:
        """The aleatoric and the epistemic width (n, 2), each below and above together."""
        return np.stack([self.aleatoric.sum(axis=1), self.epistemic.sum(axis=1)], axis=1)

    @property
    def ratio(self) -> np.ndarray:
        """Epistemic over aleatoric width (n,)."""
        aleatoric, epistemic = self.widths.T
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(np.isinf(epistemic), 1.0, epistemic / aleatoric)
        return np.where((epistemic == 0) & (aleatoric == 0), 1.0, ratio)

    @property
    def dominant(self) -> np.ndarray:
        """The larger part by squares (n,): "noise", "ignorance", or "unclear" if either may be.

        Widths add like standard deviations that go together, not like variances: where noise and
        the errors of the model are of equal size, the share of ignorance is 0.29.
        """
        likely = None if self.noise_range is None else 1 - self.noise_range[::-1]
        return _dominant_part(self.epistemic_share, likely)

    @property
    def epistemic_share(self) -> np.ndarray:
        """The epistemic width over the whole width of each row (n,), between 0 and 1."""
        return 1 - 1 / (1 + self.ratio)

    @property
    def mean_share(self) -> float:
        """The epistemic share of the mean width of all rows together, between 0 and 1.

        Rows count by their widths. Reports, pages and pictures call this the share of ignorance.
        Rows of infinite width are left out; if no width is left, the share is a half.
        """
        finite = self.widths[np.isfinite(self.widths).all(axis=1)]
        aleatoric, epistemic = finite.sum(axis=0)
        return float(epistemic / (aleatoric + epistemic)) if aleatoric + epistemic > 0 else 0.5

    @property
    def mean_dominant(self) -> str:
        """The same as `dominant`, for all rows together."""
        likely = None if self.noise_range is None else (self.share_low, self.share_high)
        return str(_dominant_part(self.mean_share, likely))

    @property
    def share_low(self) -> float | None:
        """A lower bound of `mean_share` that holds with a chance of 90 %; None for given parts."""
        return self._share_at(1)

    @property
    def share_high(self) -> float | None:
        """An upper bound of `mean_share` that holds with a chance of 90 %; None for given parts."""
        return self._share_at(0)

    def _share_at(self, end: int) -> float | None:
        if self.noise_range is None:
            return None
        widths = self.widths.sum(axis=1)
        finite = np.isfinite(widths)
        total = float(widths[finite].sum())
        noise = float(widths[finite] @ self.noise_range[end, finite])
        return max(0.0, 1 - noise / total) if total > 0 else float(end == 0)

    @property
    def center_interval(self) -> np.ndarray:
        """A band (n, 2) for the mean of y, see `ClearRegressor.predict_center_interval`."""
        reach = np.sqrt(self.epistemic * (2 * self.aleatoric + self.epistemic))
        reach = np.where(np.isfinite(self.epistemic), reach, np.inf)
        return self.support.clip(make_interval(self.center, reach))

    def to_frame(self) -> Any:
        """Return a frame with a row per prediction, of the kind of the rows that were predicted.

        Its columns are those of `predict_frame` at this level, without `unfamiliar`, and after them
        the calibrated distances below and above. A pandas frame has the index of the predicted one.
        For rows that came as an array, the frame is one of pandas, or of polars if pandas is not
        installed.
        """
        lower, upper = self.interval.T
        name = level_name(self.confidence_level)
        columns = {
            "prediction": self.center,
            f"lower_{name}": lower,
            f"upper_{name}": upper,
            "aleatoric": self.widths[:, 0],
            "epistemic": self.widths[:, 1],
            "epistemic_share": self.epistemic_share,
            "dominant": self.dominant,
            "aleatoric_below": self.aleatoric[:, 0],
            "aleatoric_above": self.aleatoric[:, 1],
            "epistemic_below": self.epistemic[:, 0],
            "epistemic_above": self.epistemic[:, 1],
        }
        return make_frame(columns, self.kind)

    def __repr__(self) -> str:
        return self._preview().text()

    def _repr_html_(self) -> str:
        return self._preview().html()

    def _preview(self) -> Preview:
        rows = range(min(len(self), MOST_SHOWN))
        aleatoric, epistemic = self.widths.T
        lower, upper = self.interval.T
        columns = {
            "row": [f"{row + 1:,}" for row in rows],
            "center": [number(self.center[row]) for row in rows],
            "lower": [number(lower[row]) for row in rows],
            "upper": [number(upper[row]) for row in rows],
            "aleatoric": [number(aleatoric[row]) for row in rows],
            "epistemic": [number(epistemic[row]) for row in rows],
            "epistemic_share": [_plain(percent(self.epistemic_share[row])) for row in rows],
        }
        share = percent(self.mean_share)
        title = f"{count(len(self))} at {level(self.confidence_level)}, {share} {SHARE}"
        left = len(self) - len(rows)
        return Preview(_plain(title), columns, f"{count(left, 'more row')}" if left else "")


def _dominant_part(share: Any, likely: Any) -> np.ndarray:
    """Name the part with the larger square, given shares and, if there are any, their ranges."""
    is_ignorance = (1 - np.asarray(share)) ** 2 < 0.5
    named = np.where(is_ignorance, EPISTEMIC.plain, ALEATORIC.plain)
    if likely is None:
        return named
    low, high = ((1 - np.asarray(end)) ** 2 < 0.5 for end in likely)
    return np.where(low == high, named, UNCLEAR)


def _plain(words: str) -> str:
    return words.replace(GAP, " ")


def rank_by_epistemic(model: Any, X: TableLike, n: int) -> np.ndarray:
    """Rank the n rows of X whose targets would teach the model most; return their numbers (n,).

    The first is the row with the largest epistemic width of `components`, on which the members of
    the model disagree most. Each further one has the largest product of its width and its distance
    to the nearest row that was chosen before, so that the model is not taught the same twice;
    distances are those of the encoded columns, each divided by its standard deviation.

    Parameters
    ----------
    model : a fitted ClearRegressor
    X : rows without targets
    n : how many to choose

    Examples
    --------
    A line that was learned between -1 and 1 is known least at the far ends:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from clearbands import ClearRegressor, FoldedEnsemble, LinearQuantiles, ResidualQuantiles
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (100, 1))
    >>> y = 3 * X[:, 0] + rng.normal(size=100)
    >>> parts = FoldedEnsemble(LinearRegression()), ResidualQuantiles(LinearQuantiles())
    >>> model = ClearRegressor(*parts, random_state=0).fit(X, y)
    >>> rank_by_epistemic(model, [[0.0], [5.0], [5.1], [-4.0]], 2).tolist()
    [2, 3]
    """
    widths = model.components(X).epistemic[:, :, 0].sum(axis=1)
    check_count(n, "n", largest=len(widths))
    return rank_apart(widths, np.asarray(model.encode(X), float), n)


def rank_apart(worth: np.ndarray, places: np.ndarray, n: int) -> np.ndarray:
    """Rank n rows by their worth (rows,) times the distance to the nearest row chosen before."""
    places = _standardised(places)
    nearest = np.full(len(worth), np.inf)
    left = np.ones(len(worth), bool)
    chosen: list[int] = []
    while len(chosen) < n:
        value = worth * (nearest if chosen else 1.0)
        best = int(np.argmax(np.where(left, value, -1.0)))
        chosen.append(best)
        left[best] = False
        nearest = np.minimum(nearest, np.linalg.norm(places - places[best], axis=1))
    return np.array(chosen)


def _standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0)
