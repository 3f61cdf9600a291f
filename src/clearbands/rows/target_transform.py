"""Transforms to the scale on which targets are learned, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.rows.messages import row_name

COMES_BACK = 1e-6  # the largest error of transform and inverse, in units of the range of y
ROUNDING = 1e-13  # the relative rounding error of both ways; bounds are moved outwards by it
FAR = 1e5  # targets so many spreads from zero leave floats few digits for their differences


class Transform(Protocol):
    """A rising transform of targets and its inverse."""

    @property
    def rounding(self) -> float:
        """The rounding error of transform and inverse, as a share of y."""

    def forward(self, y: np.ndarray) -> np.ndarray:
        """Return y on the scale of the model; it is not finite where y is outside the domain."""

    def back(self, z: np.ndarray) -> np.ndarray:
        """Return z on the scale of y."""


Pair = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]
NAMED: dict[str, Pair] = {
    "log": (np.log, np.exp),
    "log1p": (np.log1p, np.expm1),
    "sqrt": (np.sqrt, lambda z: np.square(np.maximum(z, 0))),  # no root is below 0
}


NEEDS = {"log": "above 0", "log1p": "above -1", "sqrt": "of at least 0"}


@dataclass(frozen=True)
class Named:
    """A transform that is chosen by its name in `NAMED`.

    >>> Named("sqrt").back(np.array([-1.0, 3.0]))
    array([0., 9.])
    """

    name: str
    rounding: ClassVar[float] = ROUNDING

    def forward(self, y: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            z = NAMED[self.name][0](y)
        return np.where(np.isnan(z), -np.inf, z)  # below the domain

    def back(self, z: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return NAMED[self.name][1](z)


@dataclass(frozen=True)
class FittedTransform:
    """A transformer of scikit-learn that was fitted on training targets."""

    transformer: BaseEstimator
    middle: float  # the median target; lower targets outside the domain become minus infinity
    rounding: ClassVar[float] = ROUNDING

    def forward(self, y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            z = _column(self.transformer.transform(y.reshape(-1, 1)), y.shape)
        return np.where(np.isnan(z), np.where(y < self.middle, -np.inf, np.inf), z)

    def back(self, z: np.ndarray) -> np.ndarray:
        y, finite = z.astype(float), np.isfinite(z)  # infinity stays itself
        if finite.any():
            with np.errstate(over="ignore"):
                values = self.transformer.inverse_transform(z[finite].reshape(-1, 1))
            y[finite] = _column(values, (-1,))
        return y


@dataclass(frozen=True)
class Shifted:
    """A shift by one of the targets, so that their differences have all digits of a float.

    >>> Shifted(1e12).forward(np.array([1e12 + 0.5]))
    array([0.5])
    """

    origin: float
    rounding: ClassVar[float] = float(np.finfo(float).eps)

    def forward(self, y: np.ndarray) -> np.ndarray:
        return y - self.origin

    def back(self, z: np.ndarray) -> np.ndarray:
        return z + self.origin


def shift_large_targets(y: np.ndarray) -> Shifted | None:
    """Return a shift for targets (n,) whose spread is tiny beside their size, otherwise None.

    Models that would round such targets, as those in single precision do, then see only their
    differences.

    >>> shift_large_targets(np.array([1e9, 1e9 + 1, 1e9 + 3]))
    Shifted(origin=1000000001.0)
    >>> shift_large_targets(np.array([20.0, 21.0])) is None
    True
    """
    origin = float(np.sort(y)[len(y) // 2])
    spread = float(np.mean(np.abs(y - origin)))
    return Shifted(origin) if 0 < FAR * spread < abs(origin) else None


def check_transform(transform: BaseEstimator | str | None) -> None:
    """Raise unless the transform is None, a known name, or a transformer with an inverse."""
    if transform is None or (isinstance(transform, str) and transform in NAMED):
        return
    if isinstance(transform, str) or not (
        hasattr(transform, "fit") and hasattr(transform, "transform")
    ):
        names = ", ".join(f'"{name}"' for name in NAMED)
        raise ValueError(
            f"target_transform must be None, {names} or a transformer of scikit-learn, got "
            f"{transform!r}."
        )
    if not hasattr(transform, "inverse_transform"):
        raise ValueError(
            f"{type(transform).__name__} has no inverse_transform, so answers could not be given "
            "on the scale of y: choose a target_transform that has one."
        )


def fit_target_transform(
    target_transform: BaseEstimator | str | None, y: np.ndarray
) -> Transform | None:
    """Fit the transform to training targets (n,); raise unless it rises and has an inverse."""
    if target_transform is None:
        return None
    if isinstance(target_transform, str):
        return Named(target_transform)
    fitted = clone(target_transform).fit(y.reshape(-1, 1))
    transform = FittedTransform(fitted, float(np.median(y)))
    ordered = np.unique(y)
    z, name = transform.forward(ordered), type(target_transform).__name__
    if not np.isfinite(z).all():
        lost = ordered[~np.isfinite(z)][0]
        raise ValueError(f"target_transform {name} has no finite value for y = {lost:g}.")
    if np.any(np.diff(z) < 0) or (len(z) > 1 and z[-1] <= z[0]):
        raise ValueError(f"target_transform must rise with y, but {name} does not.")
    ways = np.abs(transform.back(z) - ordered)
    if np.any(ways > COMES_BACK * max(float(np.ptp(ordered)), np.finfo(float).tiny)):
        row = int(np.argmax(ways))
        raise ValueError(
            f"The inverse of target_transform {name} does not lead back to y: {ordered[row]:g} "
            f"becomes {transform.back(z)[row]:g}. Give the inverse, too."
        )
    return transform


def check_domain(transform: Transform | None, y: np.ndarray, z: np.ndarray) -> None:
    """Raise for targets for which the transform has no finite value."""
    if np.isfinite(z).all():
        return
    row = int(np.argmin(np.isfinite(z)))
    if isinstance(transform, Named):
        name = transform.name
        raise ValueError(
            f'target_transform="{name}" needs targets {NEEDS[name]}, got {y[row]:g} in '
            f"{row_name(row)}."
        )
    name = type(getattr(transform, "transformer", transform)).__name__
    raise ValueError(
        f"target_transform {name} has no finite value for {y[row]:g} in {row_name(row)}."
    )


def _column(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(values, float).reshape(shape)
