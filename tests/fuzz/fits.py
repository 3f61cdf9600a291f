"""Fits to rows with heavy tails, outliers, weights and groups, few or very few of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import betabinom

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles, fast
from clearbands.calibration.conformal import beta_parameters, rank
from clearbands.rows.bands import covered
from tests.fuzz.campaign import Target
from tests.fuzz.tables import is_refusal

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
NEW_ROWS = 200
UNLIKELY = 1e-7  # a probability that some thousand cases do not reach by chance
STANDARD_ERRORS = 5


class Measured(NamedTuple):
    """The coverage of new rows less the level of a finite-sample promise."""

    promise: str
    difference: float


def attempt(rng: np.random.Generator) -> Measured | None:
    world = World(rng)
    n = int(rng.integers(4, 40) if rng.random() < 0.5 else rng.integers(40, 250))
    X, y, groups = world.rows(n)
    labels: dict[str, Any] = {}
    if rng.random() < 0.3:
        labels["calibration_groups"] = groups
    if rng.random() < 0.3:  # independent of the row, so new rows are distributed alike
        name = str(rng.choice(["sample_weight", "calibration_weight"]))
        labels[name] = (
            rng.choice([1.0, 2.0, 50.0, 0.1], n) if rng.random() < 0.5 else np.full(n, 50)
        )
    X_new, y_new, groups_new = world.rows(NEW_ROWS)
    of_new = {"calibration_groups": groups_new} if "calibration_groups" in labels else {}
    model = _model(rng)
    try:
        point, intervals = model.fit(X, y, **labels).predict_interval(X_new, **of_new)
    except (ValueError, TypeError) as error:
        if not is_refusal(error):
            raise
        return None
    _check_intervals(point, intervals, model.levels_)
    _check_chances(model, X_new, y, of_new)
    j = int(rng.integers(len(model.levels_)))
    return _promised(model, float(model.levels_[j]), y_new, intervals[:, :, j], labels, groups_new)


class World:
    """A distribution from which both training rows and new rows are drawn."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n_columns = int(rng.integers(1, 4))
        self.noise = NOISES[str(rng.choice(list(NOISES)))]
        self.unit = 10.0 ** rng.uniform(-6, 6)
        self.outlier = 10.0 ** rng.uniform(1, 9) if rng.random() < 0.4 else 0.0
        self.rare = float(rng.choice([0.03, 0.1, 0.5]))
        self.more_noise = float(rng.choice([1.0, 10.0]))

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw X, y and two groups; the second is rare and may have ten times the noise."""
        X = self.rng.normal(size=(n, self.n_columns))
        group = (self.rng.random(n) < self.rare).astype(int)
        noise = self.noise(self.rng, n) * np.where(group == 1, self.more_noise, 1.0)
        y = X[:, 0] + np.abs(X[:, -1]) + noise + self.outlier * (self.rng.random(n) < 0.01)
        return X, self.unit * y, np.array(["common", "rare"])[group]


NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(0, 2.5, n),
    "Pareto": lambda rng, n: rng.pareto(0.8, n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "few values": lambda rng, n: rng.integers(-1, 2, n).astype(float),
    "none": lambda rng, n: np.zeros(n),
}


def _model(rng: np.random.Generator) -> ClearRegressor:
    levels = sorted(rng.choice(LEVELS, int(rng.integers(1, 4)), replace=False).tolist())
    calibration = str(rng.choice(["cross", "joint", "conformal", "conformal"]))
    asked = {"confidence_level": levels, "calibration": calibration, "random_state": 0, "n_jobs": 1}
    if rng.random() < 0.1:
        return fast(**asked)
    linear = LinearQuantiles()
    return ClearRegressor(
        PCSEnsemble({"linear": linear}, n_bootstraps=3), ResidualQuantiles(linear, 3), **asked
    )


def _check_intervals(point: np.ndarray, intervals: np.ndarray, levels: np.ndarray) -> None:
    assert np.isfinite(point).all(), "a point that is not finite"
    assert not np.isnan(intervals).any(), "a bound that is no number"
    inside = (intervals[:, 0] <= point[:, None]) & (point[:, None] <= intervals[:, 1])
    assert inside.all(), "a point outside its interval"
    rising = intervals[:, :, np.argsort(levels)]
    narrower, wider = rising[:, :, :-1], rising[:, :, 1:]
    nested = (wider[:, 0] <= narrower[:, 0]) & (narrower[:, 1] <= wider[:, 1])
    assert nested.all(), "a higher level with a narrower interval"


def _check_chances(model: ClearRegressor, X: np.ndarray, y: np.ndarray, of_new: dict) -> None:
    """Check that probabilities fall, quantiles rise and samples are finite, even far out."""
    of_new = {name: labels[:20] for name, labels in of_new.items()}
    try:
        distribution = model.predict_distribution(X[:20], **of_new)
    except ValueError as error:
        if not is_refusal(error):
            raise
        return
    spread = np.ptp(y) + np.abs(y).max()
    at = np.concatenate([np.sort(y), spread * 10.0 ** np.arange(8)])
    chances = np.stack(
        [
            model.predict_probability(X[:20], above=float(t), **of_new)
            for t in at[:: 1 + len(at) // 12]
        ]
    )
    assert not np.isnan(chances).any(), "a chance that is no number"
    assert ((chances >= 0) & (chances <= 1)).all(), "a chance outside 0 to 1"
    assert (np.diff(chances, axis=0) <= 1e-12).all(), "a chance that rises with its threshold"
    assert np.isfinite(distribution.sample(200, random_state=0)).all(), "a sample is not finite"
    quantiles = np.stack([distribution.ppf(p) for p in (0.01, 0.25, 0.5, 0.75, 0.99)], axis=-1)
    assert not np.isnan(quantiles).any(), "a quantile that is no number"
    assert (np.diff(quantiles, axis=-1) >= 0).all(), "quantiles that fall"


def _promised(
    model: ClearRegressor,
    level: float,
    y: np.ndarray,
    interval: np.ndarray,
    labels: dict[str, Any],
    groups: np.ndarray,
) -> Measured | None:
    """Return coverage less level, where `guarantee_` promises coverage in finite samples.

    With n calibration rows and no weights, the coverage follows a Beta distribution and the number
    of covered new rows a beta-binomial one: if too few are covered, this fit broke the promise.
    """
    if "finite-sample" not in model.guarantee_ or "without" in model.guarantee_:
        return None
    inside = covered(y, interval)
    if "calibration_groups" in labels:
        inside = inside[groups == "rare"]
        return Measured(model.guarantee_, inside.mean() - level) if len(inside) else None
    if not labels:
        n = model.n_calibration_
        if rank(n, level) > n:
            assert inside.all(), f"finite bounds from {n} rows at {level}"
        else:
            chance = betabinom.cdf(inside.sum(), len(y), *beta_parameters(n, level))
            assert chance > UNLIKELY, f"{inside.mean()} covered at {level}, from {n} rows"
    return Measured(model.guarantee_, inside.mean() - level)


def judge(measured: list[Measured | None]) -> None:
    """Check that the mean coverage of all fits is at least the level, up to standard errors."""
    by_promise: dict[str, list[float]] = {}
    for case in measured:
        if case is not None:
            by_promise.setdefault(case.promise, []).append(case.difference)
    for promise, differences in by_promise.items():
        if len(differences) >= 30:
            error = np.std(differences) / np.sqrt(len(differences))
            mean = np.mean(differences)
            assert mean > -STANDARD_ERRORS * error, (
                f"{promise!r}: coverage less level is {mean:.4f} ± {error:.4f} "
                f"over {len(differences)} fits"
            )


TARGET = Target(
    "fits",
    "no NaN, no infinite sample, no coverage below what `guarantee_` promises; or refused",
    attempt,
    judge,
)
