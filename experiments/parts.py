"""The parts that the methods share, fitted once per data set, variant, seed and winning model.

Variants a, b and c are fitted as the authors do, because their results are compared with the
paper's: the center f(x) is appended to the features of the residual models, and the widths are
differences of the medians over bootstraps. The models are the library's own kernels, or XGBoost and
quantile-forest with `stock`. The variant `deep` is the paper's networks (`networks.py`), and
`default` is a plain ClearRegressor with parts of its own (`default.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from clearbands import ForestQuantiles, PCSEnsemble
from clearbands.models.bagging import fit_bag
from clearbands.models.pools import (
    boosted_quantiles,
    mean_pool,
    quantile_counterpart,
    quantile_pool,
)
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.seeds import seed_missing
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.draws import Bootstraps
from clearbands.rows.levels import curve_levels
from experiments.fitted import Fitted, Parts
from experiments.protocol import BOOTSTRAPS, FIRST_SEED, LEVEL, Split


def fit_parts(
    variant: str,
    X: np.ndarray,
    y: np.ndarray,
    splits: dict[str, Split],
    seed: int,
    *,
    stock: bool = False,
    n_bootstraps: int = BOOTSTRAPS,
    fitted: dict[tuple[str, str], Parts] | None = None,
    models: Sequence[str] = (),
) -> dict[str, Parts]:
    """Fit the parts of every setting; settings that choose the same model share one fit.

    `fitted` carries fits, by their models, from one variant of the same rows and seed to the next:
    if boosting wins in (a), (b) is the same. Only `models` compete, if any are named.
    """
    if variant == "deep":
        from experiments.networks import fit_networks

        return fit_networks(X, y, splits, seed)
    pool, forest = variant_models(variant, stock=stock, only=models)
    train = next(iter(splits.values())).train
    choices, choosing = choose(pool, X, y, train, splits)
    fitted = {} if fitted is None else fitted
    found: dict[str, Parts] = {}
    for name in dict.fromkeys(choices.values()):
        held_out = splits[next(s for s in splits if choices[s] == name)].held_out
        aleatoric = quantile_counterpart(pool[name]) if forest is None else forest
        key = (repr(pool[name]), repr(aleatoric))
        if key not in fitted:
            fitted[key] = fit_authors_way(
                pool[name], aleatoric, X, y, train, held_out, seed, n_bootstraps, variant == "c"
            )
        seconds = fitted[key].seconds
        found[name] = fitted[key]._replace(seconds={**seconds, "pcs": seconds["pcs"] + choosing})
    return {setting: found[name] for setting, name in choices.items()}


def variant_models(
    variant: str, *, stock: bool, only: Sequence[str] = ()
) -> tuple[dict[str, Any], Any]:
    """Return the pool of centers, and the aleatoric model or None for the winner's type."""
    forest = None
    if variant == "a":
        pool = quantile_pool(stock=stock)
    elif variant == "b":
        pool = {"boosting": boosted_quantiles(stock=stock)}
    elif variant == "c":
        pool = mean_pool()
        forest = ForestQuantiles(backend="quantile-forest" if stock else "native")
    else:
        raise ValueError(f"variant must be a, b, c, deep or default, got {variant!r}.")
    return {name: pool[name] for name in only or pool}, forest


def choose(
    pool: dict[str, Any], X: np.ndarray, y: np.ndarray, train: np.ndarray, splits: dict[str, Split]
) -> tuple[dict[str, str], float]:
    """Choose the model of the best R2 on each setting's validation rows; return CPU seconds too."""
    if len(pool) == 1:
        return dict.fromkeys(splits, next(iter(pool))), 0.0
    started = time.process_time()
    errors: dict[str, dict[str, float]] = {setting: {} for setting in splits}
    for name, model in pool.items():
        fitted = one_median(model).fit(X[train], y[train])
        for setting, split in splits.items():
            wrong_by = y[split.validation] - fitted.predict(X[split.validation])
            errors[setting][name] = float(np.mean(wrong_by**2))
    seconds = time.process_time() - started
    return {
        setting: min(found, key=found.__getitem__) for setting, found in errors.items()
    }, seconds


def one_median(model: Any) -> Any:
    model = seed_missing(clone(model), np.random.RandomState(FIRST_SEED))
    return model.set_params(quantiles=(0.5,)) if isinstance(model, QuantileModel) else model


def fit_authors_way(
    model: Any,
    aleatoric_model: Any,
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    rows: np.ndarray,
    seed: int,
    n_bootstraps: int,
    keep_members: bool,
) -> Parts:
    """Fit PCS of one model, bagged quantiles of its residuals, and bagged quantiles of y."""
    fit = fit_center_and_noise(
        model, aleatoric_model, X[train], y[train], seed, n_bootstraps, LEVEL
    )
    started = time.process_time()
    of_y = Curves(aleatoric_model, n_bootstraps, LEVEL).fit(X[train], y[train])
    seconds = {**fit.seconds, "quantiles of y": time.process_time() - started}
    fitted = Fitted(
        y[rows],
        *fit.predict(X[rows]),
        of_y.widths(X[rows]),
        of_y.members(X[rows]) if keep_members else None,
    )
    return Parts(rows, fitted, seconds)


class CenterAndNoise(NamedTuple):
    """PCS of one model, bagged quantiles of its residuals, and the CPU seconds of both."""

    pcs: PCSEnsemble
    of_residuals: Curves
    seconds: dict[str, float]

    def predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return center, epistemic and aleatoric widths, in the order of `Fitted`."""
        center, epistemic = self.pcs.predict_with_widths(X)
        aleatoric = self.of_residuals.widths(np.column_stack([X, center]))
        return center, epistemic[:, :, 0], aleatoric


def fit_center_and_noise(
    model: Any,
    aleatoric_model: Any,
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
    n_bootstraps: int,
    level: float,
) -> CenterAndNoise:
    """Fit as the authors do: residual models see the rows that trained the center, and f(x)."""
    started = time.process_time()
    pcs = PCSEnsemble(
        {"winner": one_median(model)},
        n_bootstraps=n_bootstraps,
        confidence_level=level,
        random_state=seed,
    ).fit(X, y)
    center = pcs.predict(X)
    seconds = {"pcs": time.process_time() - started}
    started = time.process_time()
    of_residuals = Curves(aleatoric_model, n_bootstraps, level).fit(
        np.column_stack([X, center]), y - center
    )
    seconds["residuals"] = time.process_time() - started
    return CenterAndNoise(pcs, of_residuals, seconds)


class Curves:
    """Bagged lower, middle and upper quantile curves, whose medians are taken one by one."""

    def __init__(self, model: Any, n_bootstraps: int, level: float) -> None:
        rng = np.random.RandomState(FIRST_SEED)  # the seed is equal for all splits, as the authors'
        self.model = seed_missing(clone(model), rng).set_params(quantiles=curve_levels([level]))
        self.n_bootstraps, self.rng = n_bootstraps, rng

    def fit(self, X: np.ndarray, target: np.ndarray) -> Curves:
        draws = Bootstraps.draw(len(target), self.n_bootstraps, self.rng)
        self.bag = fit_bag(
            self.model, np.ascontiguousarray(X), target, draws, n_jobs=1, stage="aleatoric"
        )
        return self

    def members(self, X: np.ndarray) -> np.ndarray:
        return concatenate(list(self._members(X)))

    def widths(self, X: np.ndarray) -> np.ndarray:
        return concatenate(list(map(widths_of_medians, self._members(np.ascontiguousarray(X)))))

    def _members(self, X: np.ndarray) -> Iterator[np.ndarray]:
        return map(self.bag.predict_members, chunks(X, 3 * self.n_bootstraps))


def widths_of_medians(members: np.ndarray) -> np.ndarray:
    """Return widths (n, 2) from members (n, 3, B): uncross each, take medians, and subtract."""
    lower, middle, upper = members[:, 0], members[:, 1], members[:, 2]
    median = np.median(middle, axis=1)
    below = median - np.median(np.minimum(lower, middle), axis=1)
    above = np.median(np.maximum(upper, middle), axis=1) - median
    return np.stack([below, above], axis=1)
