"""Simulated tables of many kinds, drawn at random, whose noise is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.why.tables import Simulated

Function = Callable[[np.ndarray], np.ndarray]

N_COLUMNS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30)
KINDS = {
    "linear": 0.12, "additive": 0.14, "products": 0.12, "waves": 0.12, "network": 0.12,
    "steps": 0.12, "categories": 0.08, "index": 0.06, "friedman": 0.08, "nothing": 0.04,
}  # fmt: skip
NOISES = {
    "even": 0.35, "by column": 0.2, "by two columns": 0.1, "by mean": 0.1, "heavy": 0.1,
    "skewed": 0.15,
}  # fmt: skip
NOISE_RATIOS = 0.03, 2.5
"""The range of the standard deviation of noise over that of the mean of y."""


def draw_family(seed: int, n: int) -> tuple[Simulated, np.ndarray, str]:
    """Draw n rows of the table with this number, their targets, and the kind of the table."""
    rng = np.random.RandomState(seed)
    d = int(rng.choice(N_COLUMNS))
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    noise = str(rng.choice(list(NOISES), p=list(NOISES.values())))
    draw_columns = _columns(rng, d)
    functions, weights = [_function(kind, rng, d)], [1.0]
    if rng.uniform() < 0.25:  # a function of another kind is added
        functions.append(_function(str(rng.choice(list(KINDS)[:-1])), rng, d))
        weights.append(rng.uniform(0.1, 0.6))
    ratio = float(np.exp(rng.uniform(*np.log(NOISE_RATIOS))))
    spread = _spread(noise, rng, d)
    probe = draw_columns(np.random.RandomState(seed + 10**6), 4_000)

    def mean(X: np.ndarray) -> np.ndarray:
        total = np.zeros(len(X))
        for function, weight in zip(functions, weights, strict=True):
            values = function(probe)
            total += weight * (function(X) - values.mean()) / (values.std() or 1.0)
        return total

    draw = np.random.RandomState(seed + 2 * 10**6)
    X = draw_columns(draw, n)
    typical = float(np.sqrt(np.mean(spread(probe, mean(probe)) ** 2)))
    scale = 1.0 if kind == "nothing" else ratio
    f, sd = mean(X), spread(X, mean(X)) / typical * scale
    if kind == "nothing":
        f = np.zeros(n)
    return Simulated(X, f, sd), f + sd * _shape(noise, draw, n), f"{kind}, {noise}"


def _columns(rng: np.random.RandomState, d: int) -> Callable[..., np.ndarray]:
    how = rng.choice(["uniform", "normal", "correlated", "skewed", "mixed"])
    factors = rng.normal(size=(max(1, d // 3), d))
    is_whole = rng.uniform(size=d) < 0.4

    def columns(draw: np.random.RandomState, n: int) -> np.ndarray:
        if how == "uniform":
            return draw.uniform(-1.7, 1.7, size=(n, d))
        Z = draw.normal(size=(n, d))
        if how == "correlated":
            return (draw.normal(size=(n, len(factors))) @ factors + 0.7 * Z) / 1.2
        if how == "skewed":
            return np.exp(0.8 * Z) - 1
        return np.where(is_whole, np.round(1.2 * Z), Z) if how == "mixed" else Z

    return columns


def _function(kind: str, rng: np.random.RandomState, d: int) -> Function:
    k = int(rng.randint(1, d + 1)) if rng.uniform() < 0.6 else d
    own = rng.permutation(d)[:k]
    if kind in _MAKERS:
        return _MAKERS[kind](rng, d, own)
    return lambda X: X[:, 0]


def _linear(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    k = len(own)
    w = rng.normal(size=k) * rng.choice([1.0, 0.3, 0.0], size=k, p=[0.5, 0.3, 0.2])
    w[0] = w[0] or 1.0
    return lambda X: X[:, own] @ w


def _additive(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    k = len(own)
    a, b, c = rng.uniform(0.5, 4, k), rng.uniform(0, 6, k), rng.exponential(size=k)
    is_wave = rng.uniform(size=k) < 0.5

    def additive(X: np.ndarray) -> np.ndarray:
        waves = np.sin(a * X[:, own] + b)
        return np.where(is_wave, waves, np.abs(X[:, own] - b / 6 + 0.5)) @ c

    return additive


def _products(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    pairs = np.array([rng.choice(d, size=2) for _ in range(int(rng.randint(1, 5)))])
    c, w = rng.normal(size=len(pairs)), 0.5 * rng.normal(size=d)
    return lambda X: X @ w + (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) @ c


def _waves(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    few = own[: int(rng.randint(1, 5))]
    W = rng.normal(size=(len(few), 60)) * rng.uniform(0.3, 2.0)
    b, c = rng.uniform(0, 2 * np.pi, 60), rng.normal(size=60)
    return lambda X: np.cos(X[:, few] @ W + b) @ c


def _network(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    h = int(rng.choice([4, 10, 30]))
    W = rng.normal(size=(len(own), h)) * rng.uniform(0.5, 2.0) / np.sqrt(len(own))
    V, c, b = rng.normal(size=(h, h)) / np.sqrt(h), rng.normal(size=h), rng.normal(size=h)
    is_deep = rng.uniform() < 0.5

    def network(X: np.ndarray) -> np.ndarray:
        hidden = np.tanh(X[:, own] @ W + b)
        return (np.tanh(1.5 * hidden @ V) if is_deep else hidden) @ c

    return network


def _steps(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    depth = int(rng.randint(1, 6))
    trees = [
        (rng.choice(own, depth), 0.8 * rng.normal(size=depth), rng.normal(size=2**depth))
        for _ in range(int(rng.choice([1, 5, 30])))
    ]

    def steps(X: np.ndarray) -> np.ndarray:
        total = np.zeros(len(X))
        for columns, cuts, leaves in trees:
            total += leaves[(X[:, columns] > cuts) @ 2 ** np.arange(depth)]
        return total

    return steps


def _categories(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    """Draw a function whose first column says to which of many groups a row belongs."""
    levels = int(rng.choice([10, 30, 100]))
    effect, w, slope = rng.normal(size=levels), 0.4 * rng.normal(size=d), rng.normal(size=levels)
    has_slopes = rng.uniform() < 0.4

    def categories(X: np.ndarray) -> np.ndarray:
        place = (np.tanh(X[:, 0] / 1.5) + 1) / 2 * levels
        group = np.clip(place.astype(int), 0, levels - 1)
        return effect[group] + X @ w + (slope[group] * X[:, -1] if has_slopes else 0)

    return categories


def _index(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    w, a = rng.normal(size=len(own)) / np.sqrt(len(own)), rng.uniform(1, 4)
    return lambda X: np.sin(a * (X[:, own] @ w)) + 0.3 * (X[:, own] @ w)


def _friedman(rng: np.random.RandomState, d: int, own: np.ndarray) -> Function:
    pick = rng.choice(d, 5)

    def friedman(X: np.ndarray) -> np.ndarray:
        Z = 1 / (1 + np.exp(-1.5 * X[:, pick]))
        waves = 10 * np.sin(np.pi * Z[:, 0] * Z[:, 1]) + 20 * (Z[:, 2] - 0.5) ** 2
        return waves + 10 * Z[:, 3] + 5 * Z[:, 4]

    return friedman


_MAKERS: dict[str, Callable[..., Function]] = {
    "linear": _linear,
    "additive": _additive,
    "products": _products,
    "waves": _waves,
    "network": _network,
    "steps": _steps,
    "categories": _categories,
    "index": _index,
    "friedman": _friedman,
}


def _spread(noise: str, rng: np.random.RandomState, d: int) -> Callable[..., np.ndarray]:
    """Draw how the standard deviation of noise, up to a factor, depends on X and the mean of y."""
    first, second, a = int(rng.randint(d)), int(rng.randint(d)), rng.uniform(0.3, 1.0)
    if noise == "by column":
        return lambda X, f: np.exp(a * np.clip(X[:, first], -3, 3))
    if noise == "by two columns":
        return lambda X, f: 0.3 + np.abs(np.clip(X[:, first], -3, 3)) + (X[:, second] > 0.5)
    if noise == "by mean":
        return lambda X, f: 0.3 + np.log1p(np.exp(np.clip(f, -4, 4)))
    return lambda X, f: np.ones(len(X))


def _shape(noise: str, draw: np.random.RandomState, n: int) -> np.ndarray:
    """Draw noise in units of its standard deviation."""
    if noise == "heavy":
        return draw.standard_t(4, n) / np.sqrt(2)
    if noise == "skewed":
        return draw.gamma(2.0, size=n) / np.sqrt(2) - np.sqrt(2)
    return draw.normal(size=n)
