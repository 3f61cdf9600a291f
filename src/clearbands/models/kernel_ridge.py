"""A smooth function of all columns at once, which trees would have to build from steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import clone
from sklearn.utils import check_random_state

from clearbands.engine.threads import one_blas_thread, run_threads
from clearbands.models.center_model import CenterModel
from clearbands.models.coordinates import Coordinates, learn_linear_map
from clearbands.models.kernels import KERNELS, Kernel, Name, distances_between, stretches_in_cache
from clearbands.rows.checks import check_count
from clearbands.rows.draws import Draws, compact_unseen, few_missing_rows
from clearbands.rows.typed import Seed

Some = np.ndarray | slice  # the numbers of some rows
ROWS_AT_ONCE = 2**12
MOST_KEPT = 2**25  # the most numbers kept in memory: 256 MB
RIDGES = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
SMALLEST = 1e-10  # directions of the landmarks with a smaller share of the largest are noise
MOST_LEVERAGE = 0.99


class KernelRidge(CenterModel):
    """Kernel ridge regression around landmarks, with a distance that is learned.

    The distance is turned and stretched along the directions in which y changes, as seen by up to
    `turn_rows` rows (recursive feature machines: Radhakrishnan et al. 2024). Landmarks are rows of
    the training set; if every row is a landmark, the model is exact. Each member of a bag is the
    closed-form solution for the rows that it drew.

    Members share landmarks, ridge and distance, so a distance that was learned from all rows would
    tell a member of rows that it did not draw. There are two surfaces instead, each with a distance
    learned from other rows. A training row that taught one of them is predicted by the other, and
    all other rows are predicted by the mean of both.

    Parameters
    ----------
    kernel : {"gaussian", "matern"}
        The function of the distance that says how alike two rows are.
    by_rank : bool
        Whether the model sees the ranks of values instead of the values, which suits columns with
        long tails.
    n_landmarks : int
        How many landmarks there are at most. The cost of a fit grows with their square times the
        number of rows.
    turn_rows : int
        From how many rows, at most, each of the two distances is learned. The cost grows with the
        cube of their number.
    random_state : int, RandomState or None
        The seed that decides which rows are landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> model = KernelRidge(random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(3)) < 0.01)
    True
    """

    def __init__(
        self,
        kernel: Name = "gaussian",
        *,
        by_rank: bool = False,
        n_landmarks: int = 1_000,
        turn_rows: int = 400,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.by_rank = by_rank
        self.n_landmarks = n_landmarks
        self.turn_rows = turn_rows
        self.random_state = random_state

    def check_parameters(self) -> None:
        if self.kernel not in KERNELS:
            allowed = " or ".join(map(repr, KERNELS))
            raise ValueError(f"kernel must be {allowed}, got {self.kernel!r}.")
        check_count(self.n_landmarks, "n_landmarks", smallest=2)
        check_count(self.turn_rows, "turn_rows", smallest=2)

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> SurfaceBag:
        """Fit one member per row of `counts` (b, n): how often each row of X counts."""
        own = np.ones(len(y)) if weight is None else weight
        seen = own * counts.mean(axis=0)
        origin = float(np.average(y, weights=seen))
        unit = float(np.sqrt(np.average((y - origin) ** 2, weights=seen))) or 1.0
        t = (y - origin) / unit
        surfaces: dict[int, Surface] = {}
        with one_blas_thread():
            teaches, bases = self._bases(X, t, seen)

            def fit_one(number: int, stop: np.ndarray) -> None:
                surfaces[number] = _fit_surface(bases(number), X, t, own, counts)

            run_threads(fit_one, 2, n_jobs=n_jobs, stage=stage)
        return SurfaceBag([surfaces[0], surfaces[1]], teaches, origin, unit)

    def finer(self, n_columns: int) -> KernelRidge:
        """Return the model, unfitted, around twice as many landmarks."""
        return clone(self).set_params(n_landmarks=2 * self.n_landmarks)

    def coarser(self) -> KernelRidge:
        """Return the model, unfitted, around so few landmarks that it is fitted quickly."""
        return clone(self).set_params(n_landmarks=min(500, self.n_landmarks))

    def _bases(
        self, X: np.ndarray, t: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, Callable[[int], Basis]]:
        """Choose the rows that teach each distance, booleans (2, n), and landmarks.

        The second result is a function that learns a distance by its number and returns its basis.
        """
        rng = check_random_state(self.random_state)
        kernel = Kernel(self.kernel)
        coordinates = Coordinates.from_data(X, weight, by_rank=self.by_rank)
        # Distinct rows are drawn, so that neither weights nor the order of rows matter.
        distinct, number = np.unique(X, axis=0, return_inverse=True)
        number = number.reshape(-1)
        mean = np.bincount(number, weight * t) / np.maximum(np.bincount(number, weight), 1e-300)
        order = rng.permutation(len(distinct))
        landmarks = distinct[order[: self.n_landmarks]]

        teachers = [order[half::2][: self.turn_rows] for half in (0, 1)]

        def learn(half: int) -> Basis:
            few = teachers[half]
            turn, scale = learn_linear_map(coordinates.standard(distinct[few]), mean[few], kernel)
            return Basis.around(replace(coordinates, turn=turn), landmarks, kernel, scale)

        return np.array([np.isin(number, few) for few in teachers]), learn


def _fit_surface(
    basis: Basis, X: np.ndarray, t: np.ndarray, own: np.ndarray, counts: np.ndarray
) -> Surface:
    values, typical = Values.of(basis, X), counts.mean(axis=0)
    sums = Sums.of(values, t, own)
    ridge, leverage = _choose_ridge(values, t, own * typical, *sums.drawn(typical))
    coefficients = np.empty((basis.mix.shape[1], len(counts)))
    for member, drawn in enumerate(counts):
        gram, moment = sums.drawn(drawn)
        gram[np.diag_indices_from(gram)] += ridge
        coefficients[:, member] = cho_solve(cho_factor(gram, overwrite_a=True), moment)
    return Surface(basis.landmarks, basis.mix @ coefficients, ridge, leverage)


@dataclass(frozen=True)
class KernelLandmarks:
    """Rows with which other rows are compared."""

    coordinates: Coordinates
    places: np.ndarray  # (m, d): the coordinates of the landmarks
    kernel: Kernel
    scale: float

    def similarities(self, X: np.ndarray) -> np.ndarray:
        """Return the kernel (n, m) between rows and landmarks."""
        distance = distances_between(self.coordinates.apply(X), self.places)
        for rows in stretches_in_cache(distance):
            distance[rows] = self.kernel(distance[rows] / self.scale)
        return distance


@dataclass(frozen=True)
class Basis:
    """Functions of size 1 that span the same as the kernel around the landmarks."""

    landmarks: KernelLandmarks
    mix: np.ndarray  # (m, k): maps kernel values at the landmarks to the functions

    @classmethod
    def around(cls, coordinates: Coordinates, X: np.ndarray, kernel: Kernel, scale: float) -> Basis:
        landmarks = KernelLandmarks(coordinates, coordinates.apply(X), kernel, scale)
        size, vectors = np.linalg.eigh(landmarks.similarities(X))
        is_large = size > SMALLEST * size[-1]
        return cls(landmarks, vectors[:, is_large] / np.sqrt(size[is_large]))


@dataclass(frozen=True)
class Values:
    """The values of the functions at the training rows: kept, or computed again if too many."""

    basis: Basis
    X: np.ndarray
    held: np.ndarray | None  # (n, k)

    @classmethod
    def of(cls, basis: Basis, X: np.ndarray) -> Values:
        values = cls(basis, X, None)
        if len(X) * values.n_functions > MOST_KEPT:
            return values
        held = np.empty((len(X), values.n_functions))
        for rows in _slices(len(X)):
            held[rows] = values.at(rows)
        return replace(values, held=held)

    @property
    def n_functions(self) -> int:
        return self.basis.mix.shape[1]

    def at(self, rows: Some) -> np.ndarray:
        """Return the values (rows, k) at some training rows."""
        if self.held is not None:
            return self.held[rows]
        return self.basis.landmarks.similarities(self.X[rows]) @ self.basis.mix


@dataclass(frozen=True)
class Sums:
    """Sums of products of the functions over all rows, from which those of members are derived."""

    values: Values
    t: np.ndarray
    weight: np.ndarray
    gram: np.ndarray  # (k, k): over all rows
    moment: np.ndarray  # (k,)

    @classmethod
    def of(cls, values: Values, t: np.ndarray, weight: np.ndarray) -> Sums:
        return cls(values, t, weight, *_sum_up(values, t, weight, _slices(len(t))))

    def drawn(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gram (k, k) and the moment (k,) of rows that count `counts` (n,) times."""
        if counts.min() == counts.max():
            return counts[0] * self.gram, counts[0] * self.moment
        out = few_missing_rows(counts)
        if out is not None:
            gram, moment = _sum_up(self.values, self.t, self.weight, _pieces(out))
            return self.gram - gram, self.moment - moment
        rows = _pieces(np.flatnonzero(counts))
        return _sum_up(self.values, self.t, self.weight * counts, rows)


def _sum_up(
    values: Values, t: np.ndarray, weight: np.ndarray, pieces: Iterator[Some]
) -> tuple[np.ndarray, np.ndarray]:
    gram, moment = np.zeros((values.n_functions,) * 2), np.zeros(values.n_functions)
    root = np.sqrt(weight)
    for some in pieces:
        # The product of an array and its own transpose costs half of any other product.
        weighted = values.at(some) * root[some, None]
        gram += weighted.T @ weighted
        moment += weighted.T @ (root[some] * t[some])
    return gram, moment


def _slices(n: int) -> Iterator[slice]:
    """Yield n rows in slices."""
    for start in range(0, n, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, n))


def _pieces(rows: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]


def _choose_ridge(
    values: Values,
    t: np.ndarray,
    weight: np.ndarray,
    gram: np.ndarray,
    moment: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Choose the ridge by the leave-one-out errors; return it and the leverage (n,) of the rows."""
    size, vectors = np.linalg.eigh(gram)
    projected = vectors.T @ moment
    inverse = 1 / (np.maximum(size, 0)[:, None] + np.array(RIDGES))  # (k, ridges)
    error, leverages = np.zeros(len(RIDGES)), np.empty((len(t), len(RIDGES)))
    for rows in _slices(len(t)):
        turned = values.at(rows) @ vectors
        leverages[rows] = np.minimum(turned**2 @ inverse, MOST_LEVERAGE)
        left = t[rows, None] - turned @ (inverse * projected[:, None])
        error += weight[rows] @ (left / (1 - leverages[rows])) ** 2
    best = int(np.argmin(error))
    return RIDGES[best], leverages[:, best].copy()


@dataclass(frozen=True)
class Surface:
    """Members around the same landmarks with the same distance, in the units of the bag."""

    landmarks: KernelLandmarks
    weights: np.ndarray  # (m, b)
    ridge: float
    leverage: np.ndarray  # (n,): how much each training row draws the fit to itself

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, b) of the members."""
        members = np.empty((len(X), self.weights.shape[1]))
        for rows in _slices(len(X)):
            members[rows] = self.landmarks.similarities(X[rows]) @ self.weights
        return members


@dataclass(frozen=True)
class SurfaceBag:
    """Two surfaces, whose distances were learned from different training rows."""

    surfaces: Sequence[Surface]
    teaches: np.ndarray  # (2, n) booleans: whether a training row taught a surface its distance
    origin: float
    unit: float

    @property
    def leverage(self) -> np.ndarray:
        """The leverage (n,) of each training row in the surfaces that predict it."""
        return np.sum([each.leverage for each in self.surfaces] * self._shares, axis=0)

    @property
    def _shares(self) -> np.ndarray:
        """The shares (2, n) of the surfaces in the prediction of each training row.

        A surface has no share for rows that taught it its distance.
        """
        speaks = ~self.teaches
        return speaks / speaks.sum(axis=0)

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, 1, b) of the members."""
        return self._in_units(np.mean([each.predict(X) for each in self.surfaces], axis=0))

    def predict_training(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, 1, b) of the training rows, in the order of the fit.

        Each row is predicted by surfaces whose distance other rows taught.
        """
        members = np.zeros((len(X), self.surfaces[0].weights.shape[1]))
        for share, surface in zip(self._shares, self.surfaces, strict=True):
            own = share > 0
            members[own] += share[own, None] * surface.predict(X[own])
        return self._in_units(members)

    def predict_unseen(self, X: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the unseen predictions (n, r), as `SymmetricBag.predict_unseen` does."""
        return compact_unseen(self.predict_training(X), Draws(counts))[:, 0]

    def _in_units(self, members: np.ndarray) -> np.ndarray:
        return (self.origin + self.unit * members)[:, None, :]
