"""What is known of targets: their support, the scale they are learned on, and if they are whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import numpy as np

from clearbands.rows.messages import row_name
from clearbands.rows.target_transform import Shifted, Transform, check_domain


class Support(NamedTuple):
    """The smallest and the largest value that a target can have, both included.

    >>> Support(0.0, 1.0).clip(np.array([-0.2, 0.4, 1.7]))
    array([0. , 0.4, 1. ])
    """

    low: float = -math.inf
    high: float = math.inf

    def clip(self, values: np.ndarray) -> np.ndarray:
        return values if self == ANYWHERE else np.clip(values, self.low, self.high)

    def limit(
        self, center: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Shorten both parts (n, 2) of widths that leave the support, so that they end there."""
        if self == ANYWHERE:
            return aleatoric, epistemic
        room = np.stack([center - self.low, self.high - center], axis=1)
        reach = aleatoric + epistemic
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.isinf(reach), 0.5, np.where(reach > 0, epistemic / reach, 0.0))
        leaves = reach > room
        room = np.where(leaves, room, 0.0)  # room may be infinite, but then nothing leaves
        return (
            np.where(leaves, room - share * room, aleatoric),
            np.where(leaves, share * room, epistemic),
        )


ANYWHERE = Support()


def check_support(support: object) -> Support:
    """Return the support as two numbers, where None stands for no end; raise if it is invalid."""
    if support is None:
        return ANYWHERE
    pair = tuple(support) if np.iterable(support) and not isinstance(support, str) else ()
    if len(pair) == 2 and all(end is None or isinstance(end, Real) for end in pair):
        low, high = pair
        ends = Support(-math.inf if low is None else float(low), math.inf if high is None else high)
        if ends.low < ends.high:
            return Support(*map(float, ends))
    raise ValueError(
        "support must be two rising numbers, the smallest and the largest target there can be, "
        f"such as (0, 1) or (0, None); got {support!r}."
    )


def check_inside(y: np.ndarray, support: Support) -> None:
    """Raise for targets that the support excludes."""
    outside = (y < support.low) | (y > support.high)
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"support={(support.low, support.high)} excludes {int(outside.sum())} of the targets, "
            f"such as {y[row]:g} in {row_name(row)}: widen it, or remove such rows."
        )


NEARLY = 1e-9  # a bound that is relatively so near a whole number counts as that number
MOST_SLACK = 0.25  # a bound farther from a whole number never counts as that number
OFTEN = 0.05  # a support_hint is worth while if the bounds of more rows than this share call for it
NARROW = 10.0  # intervals shorter than this become much shorter by rounding to whole numbers
FEWEST = 100  # fewer targets tell too little about the range of all


@dataclass(frozen=True)
class Targets:
    """The way between the scale of the model and that of the targets.

    The points of a row are its bounds, quantiles and samples. They stay on their side of the
    center. If targets are whole numbers, points are rounded towards the center: between 2.3 and
    5.8 lie the counts 3, 4 and 5, so the interval from 3 to 5 covers as much.

    >>> counts = Targets(Support(0.0), whole=True)
    >>> counts.points(np.array([[2.3, 5.8]]), np.array([4.1]))
    array([[3., 5.]])
    """

    support: Support = ANYWHERE
    transform: Transform | None = None
    whole: bool = False

    @property
    def are_plain(self) -> bool:
        """Whether both scales are the same, except for the support."""
        return self.transform is None and not self.whole

    @property
    def inner(self) -> Support:
        """The support on the scale of the model."""
        if self.transform is None or self.support == ANYWHERE:
            return self.support
        ends = self.transform.forward(np.array(self.support)[np.isfinite(self.support)])
        finite_ends = iter(ends.tolist())
        return Support(*(next(finite_ends) if np.isfinite(end) else end for end in self.support))

    def to_model(self, y: np.ndarray) -> np.ndarray:
        return y if self.transform is None else self.transform.forward(y)

    def check(self, y: np.ndarray) -> np.ndarray:
        """Return targets on the scale of the model; raise for invalid ones and name one."""
        check_inside(y, self.support)
        if self.whole:
            check_whole(y)
        z = self.to_model(y)
        check_domain(self.transform, y, z)
        return z

    def center(self, z: np.ndarray) -> np.ndarray:
        """Return centers (n,) of the model on the scale of the targets."""
        y = self._back(z)
        return np.rint(y) if self.whole else y

    def points(self, z: np.ndarray, z_center: np.ndarray) -> np.ndarray:
        """Return points (n, ...) of the model around its centers (n,) on the targets' scale."""
        if self.are_plain:
            return self.support.clip(z)
        z_center = z_center.reshape(-1, *(1,) * (z.ndim - 1))
        center, y, below = self.center(z_center), self._back(z), z < z_center
        slack = self._rounding_error(y)
        with np.errstate(invalid="ignore"):
            y = np.where(np.isinf(y) | (z == z_center), y, np.where(below, y - slack, y + slack))
        if self.whole:
            y = np.where(below, np.ceil(y), np.floor(y))
        y = self.support.clip(y)
        return np.where(below, np.minimum(y, center), np.maximum(y, center))

    def thresholds(self, t: np.ndarray, z_center: np.ndarray) -> np.ndarray:
        """Return up to where points of the model (n,) become targets of at most t (n,)."""
        if self.whole:
            t = np.floor(t)
            t = np.where(t >= self.center(z_center), t + 1, t)
        return self.to_model(t)

    def split(
        self, center: np.ndarray, bounds: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Split the distances from the center to the bounds (n, 2) into noise and ignorance (n, 2).

        Center and bounds are on the scale of the targets. The proportion of the parts is that of
        `aleatoric` and `epistemic` on the scale of the model.
        """
        reach = aleatoric + epistemic
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.isinf(reach), 0.5, np.where(reach > 0, epistemic / reach, 0.0))
        total = np.abs(bounds - center[:, None])
        with np.errstate(invalid="ignore"):
            ignorance = np.where(share == 0, 0.0, share * total)
            noise = np.where(share == 1, 0.0, np.where(np.isinf(total), total, total - ignorance))
        return noise, ignorance

    def unshifted(self, z: np.ndarray) -> np.ndarray:
        """Return centers (n,) of the model without a shift by `Shifted`, but on its scale."""
        return self.transform.back(z) if isinstance(self.transform, Shifted) else z

    def _rounding_error(self, y: np.ndarray) -> np.ndarray:
        """Return the largest rounding error of points (n, ...)."""
        if self.whole:
            return np.minimum(NEARLY * np.abs(y), MOST_SLACK)
        return np.abs(y) * (0.0 if self.transform is None else self.transform.rounding)

    def unrounded(self) -> Targets:
        return replace(self, whole=False)

    def _back(self, z: np.ndarray) -> np.ndarray:
        y = z if self.transform is None else self.transform.back(z)
        return self.support.clip(y)


PLAIN = Targets()


class TargetWarning(UserWarning):
    """Bounds leave the range of all targets, which a `support` would tell the model."""


def check_whole(y: np.ndarray) -> None:
    """Raise for targets that are no whole numbers."""
    broken = y != np.rint(y)
    if broken.any():
        row = int(np.argmax(broken))
        raise ValueError(
            f"whole_numbers=True, but the target is {y[row]:g} in {row_name(row)}: round the "
            "targets, or leave whole_numbers out."
        )


def support_hint(y: np.ndarray, bounds: np.ndarray, targets: Targets) -> str | None:
    """Return a hint if bounds (n, 2) leave what all targets y have in common, otherwise None."""
    hints: list[str] = []
    if len(y) < FEWEST:
        return None
    negative = float(np.mean(bounds[:, 0] < 0))
    if y.min() >= 0 and negative > OFTEN:
        logs = ' or target_transform="log"' if y.min() > 0 else ""
        hints.append(
            f"no target is negative, but {negative:.0%} of the lower bounds are: if no target "
            f"can be negative, set support=(0, None){logs}"
        )
    finite = bounds[np.isfinite(bounds).all(axis=1)]
    is_narrow = len(finite) > 0 and np.median(finite[:, 1] - finite[:, 0]) < NARROW
    if not targets.whole and is_narrow and np.array_equal(y, np.rint(y)) and len(np.unique(y)) > 2:
        hints.append(
            "all targets are whole numbers, but bounds are not: if they count something, set "
            "whole_numbers=True"
        )
    if not hints:
        return None
    text = "; ".join(hints)
    return f"{text[0].upper()}{text[1:]}."
