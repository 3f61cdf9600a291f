"""Finite-sample promises of calibration with weights and groups, checked by exact ranks."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf
from typing import Any

import numpy as np

from clearbands import AdditiveCalibrator, FixedRatioCalibrator
from clearbands.calibration.groups import GroupCalibrator
from clearbands.calibration.guarantee import Guarantee
from tests.fuzz.campaign import Target

FACTORS = (0.1, 1 / 3, 0.7, 3.0, 50.0, 1e-9, 1e9)


def attempt(rng: np.random.Generator) -> None:
    n, percent = int(rng.integers(1, 200)), int(rng.integers(1, 100))
    y, ones = rng.standard_cauchy(n), np.ones((n, 2))
    data = (y, np.zeros(n), ones, 0 * ones)
    _a_common_factor_does_not_matter(rng, data, percent)
    _no_weight_makes_rows_more(rng, data, percent)
    _groups_have_their_own_ranks(rng, data, percent)


def _a_common_factor_does_not_matter(
    rng: np.random.Generator, data: tuple[np.ndarray, ...], percent: int
) -> None:
    """Equal weights give the rank without any, and a factor of whole weights changes nothing."""
    distances, n = np.abs(data[0]), len(data[0])
    factor = float(rng.choice(FACTORS))
    expected = _reaching(distances, np.ones(n, int), percent, 1)
    for name in ("sample_weight", "calibration_weight"):
        found = _reach(data, percent, **{name: np.full(n, factor)})
        assert found == expected, f"{name} of {factor:g}: {found!r}, not {expected!r}"
    whole = rng.integers(1, 5, n)
    expected = _reaching(distances, whole, percent, int(whole.max()))
    for name in ("sample_weight", "calibration_weight"):
        found = _reach(data, percent, **{name: factor * whole})
        assert found == expected, f"{factor:g} times {name}: {found!r}, not {expected!r}"
    fitted = FixedRatioCalibrator(percent / 100, ratio=0).fit(
        *data, validation=data, calibration_weight=factor * whole
    )
    new = int(rng.integers(1, 9))
    expected = _reaching(distances, whole, percent, new)
    found = fitted.scale(np.ones((1, 2)), np.zeros((1, 2)), weight=[factor * new])[0][0, 1, 0]
    assert found == expected, f"a new row of weight {new}: {found!r}, not {expected!r}"


def _no_weight_makes_rows_more(
    rng: np.random.Generator, data: tuple[np.ndarray, ...], percent: int
) -> None:
    """Rows that are too few without weights are too few with any weights."""
    n = len(data[0])
    weight = np.exp(rng.uniform(0, 3) * rng.normal(size=n)) * 10.0 ** rng.uniform(-5, 5)
    if percent * (n + 1) > 100 * n:
        found = _reach(data, percent, sample_weight=weight)
        assert found == inf, f"{n} rows are too few at {percent} %, and reach {found!r}"


def _groups_have_their_own_ranks(
    rng: np.random.Generator, data: tuple[np.ndarray, ...], percent: int
) -> None:
    """Groups have their own ranks if other rows choose lambda; else sharing groups are named."""
    n = len(data[0])
    groups = np.sort(rng.choice(list("abc"), n, p=rng.dirichlet(np.ones(3) / 2)))
    fitted = GroupCalibrator(FixedRatioCalibrator(ratio=0), confidence_level=percent / 100)
    split = fitted.fit(*data, calibration_groups=groups, validation=data)
    assert split.guarantee_ == Guarantee.GROUPS
    for group in split.calibration_groups_:
        own = np.abs(data[0])[groups == group.label]
        expected = _reaching(own, np.ones(len(own), int), percent, 1)
        assert group.gamma1[0] == expected, f"{group}, not {expected!r}"
    shared = fitted.fit(*data, calibration_groups=groups)
    for group in shared.calibration_groups_:
        if group.rows != "own":
            assert f" {group.label}" in shared.guarantee_, f"{shared.guarantee_} hides {group}"
    if shared.sharing_:
        assert not Guarantee.in_text(shared.guarantee_).is_finite_sample


def _reaching(distances: np.ndarray, weight: np.ndarray, percent: int, new: int) -> float:
    """Return the distance up to which rows have the level's share of the weight, exactly."""
    needed = ceil(Fraction(percent, 100) * (int(weight.sum()) + new))
    total = 0
    for row in np.argsort(distances):
        total += int(weight[row])
        if total >= needed:
            return float(distances[row])
    return inf


def _reach(data: tuple[np.ndarray, ...], percent: int, **weights: Any) -> float:
    """Return how far the intervals reach, by two calibrators that must agree."""
    level = percent / 100
    ratio = FixedRatioCalibrator(level, ratio=0).fit(*data, validation=data, **weights)
    additive = AdditiveCalibrator(level).fit(data[0], data[1], 0 * data[2], **weights)
    assert ratio.gamma1_ == additive.gamma2_, f"{ratio.gamma1_!r} and {additive.gamma2_!r}"
    return float(ratio.gamma1_)


TARGET = Target(
    "promises",
    "ranks are exact whatever the unit of the weights, and of each group's own rows",
    attempt,
)
