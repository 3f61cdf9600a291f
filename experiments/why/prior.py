"""How curves of real tables go: the numbers of `CurvePrior`, and how well designs forecast.

The numbers are those by which the beginnings of curves make what came likely: with 2, 4, 8 times
the rows of real tables, and without end where noise was simulated. Designs are judged on tables
that had no part in the numbers.

usage: python -m experiments.why.prior experiments/results/why_curves.csv
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from clearbands.prediction.curve_posterior import PRIOR, CurvePosterior, CurvePrior, extrapolate
from experiments.why.tables import SIMULATIONS, simulate

GUESS = {  # and how much a number may differ from it
    "half": (6.0, 3.0),
    "half_by_columns": (0.5, 0.5),
    "half_spread": (np.log(5.0), 0.5),
    "rate": (-0.4, 0.3),
    "rate_spread": (np.log(0.4), 0.4),
    "delayed": (0.0, 1.0),
    "scatter": (np.log(0.02), 0.5),
    "scatter_by_rows": (np.log(0.3), 0.7),
}
LOGS = ("half_spread", "rate_spread", "scatter", "scatter_by_rows")
LADDER_NOISE = 0.02  # of the logarithm of what came against now, both on 1,500 test rows
FLAT = CurvePrior(8, 0, 50, -0.36, 0.4, 1e-9, 0.01, 0.01, 0.4, 1.0)
"""As in the first prototype: all noise is as likely, rates around 0.7, no delay."""


class Case(NamedTuple):
    """The beginning of a curve, and how it went on."""

    table: str
    rows: int
    columns: int
    sizes: np.ndarray
    errors: np.ndarray
    covariance: np.ndarray
    came: dict[float, float]  # by how many times the rows: errors over those of now

    def posterior(self, prior: CurvePrior) -> CurvePosterior:
        known = self.sizes, self.errors, self.covariance
        return extrapolate(*known, rows=self.rows, error=None, n_columns=self.columns, prior=prior)


def cases(curves: pd.DataFrame) -> Iterator[Case]:
    """All beginnings whose table has a ladder that goes on."""
    steps = curves[curves.kind == "ladder"].set_index(["table", "seed", "rows"]).mae
    for row in curves[curves.kind == "curve"].itertuples():
        key = row.table, row.seed
        if (*key, row.rows) not in steps.index:
            continue
        now = steps[(*key, row.rows)]
        came = {
            times: float(steps[(*key, row.rows * times)] / now)
            for times in (2, 4, 8, 16)
            if (*key, row.rows * times) in steps.index
        }
        if row.table in SIMULATIONS:
            sd = simulate(row.table, 20_000, 0)[0].sd
            came[np.inf] = float(np.sqrt(2 / np.pi) * sd.mean() / now)
        details = json.loads(row.details)
        arrays = (np.array(details[name]) for name in ("sizes", "mae", "covariance"))
        if came:
            yield Case(row.table, row.rows, row.columns, *arrays, came)


def log_score(case: Case, prior: CurvePrior) -> float:
    """Of what came, under the mixture of likely curves; the mean over the steps."""
    posterior = case.posterior(prior)
    scores = []
    for times, came in case.came.items():
        left = 0.0
        if np.isfinite(times):
            left = posterior._left(times * case.rows) / posterior._left(case.rows)
        factor = 0.5 * np.log(posterior.noise**2 + (1 - posterior.noise**2) * left)
        away = (np.log(came) - factor) / LADDER_NOISE
        scores.append(np.log(np.mean(np.exp(-0.5 * np.minimum(away**2, 60)))))
    return float(np.mean(scores))


def prior_of(x: np.ndarray) -> CurvePrior:
    values = dict(zip(GUESS, x.tolist(), strict=True))
    values |= {name: float(np.exp(values[name])) for name in LOGS}
    values["delayed"] = float(1 / (1 + np.exp(-values["delayed"])))
    return PRIOR._replace(**values)


def fit(given: list[Case], evaluations: int = 250) -> CurvePrior:
    """The numbers under which what came is most likely, held a little by a guess before."""
    guess, spread = np.array(list(GUESS.values())).T

    def loss(z: np.ndarray) -> float:
        prior = prior_of(guess + z * spread)
        return -sum(log_score(case, prior) for case in given) + 0.5 * float(z @ z)

    simplex = np.vstack([np.zeros(len(guess)), 0.7 * np.eye(len(guess))])
    options = {"maxfev": evaluations, "initial_simplex": simplex}
    return prior_of(
        guess + minimize(loss, simplex[0], method="Nelder-Mead", options=options).x * spread
    )


def forecasts(given: list[Case], prior_for: dict[str, CurvePrior]) -> pd.DataFrame:
    """What came, and what designs said."""
    rows = []
    for case in given:
        slope = np.polyfit(np.log(case.sizes), np.log(case.errors), 1)[0]
        last = np.log(case.errors[-1] / case.errors[-2]) / np.log(2)
        own, flat = case.posterior(prior_for[case.table]), case.posterior(FLAT)
        for times, came in case.came.items():
            found = {"table": case.table, "n": case.rows, "times": times, "came": came}
            found |= {"nothing": 1.0, "line": min(1.0, times ** min(slope, 0.0))}
            found["last doubling"] = times ** min(last, 0.0)
            for name, posterior in (("posterior", own), ("flat", flat)):
                likely = posterior.factors(times)
                found |= {name: likely.middle, f"{name} low": likely.low}
                found[f"{name} high"] = likely.high
            rows.append(found)
    return pd.DataFrame(rows)


def interval_score(came: pd.Series, low: pd.Series, high: pd.Series) -> pd.Series:
    """Of ranges of 80 %."""
    return high - low + 10 * np.maximum(low - came, 0) + 10 * np.maximum(came - high, 0)


def tell(found: pd.DataFrame) -> None:
    designs = ["nothing", "line", "last doubling", "flat", "posterior"]
    off = pd.DataFrame({name: abs(found[name] / found.came - 1) for name in designs})
    where = [found.n, found.times]
    print("median of abs(forecast / came - 1)")
    print(
        off.groupby(where).median().assign(cases=found.groupby(where).size()).round(3).to_string()
    )
    for name in ("posterior", "flat"):
        low, high = found[f"{name} low"], found[f"{name} high"]
        held = (found.came >= low) & (found.came <= high)
        score = interval_score(found.came, low, high).mean()
        bias = np.log(found[name] / found.came).groupby(found.times).mean().round(3).to_dict()
        print(f"{name}: range holds {held.mean():.2f}, score {score:.3f}, mean log {bias}")
    for name in ("nothing", "line"):
        score = interval_score(found.came, found[name], found[name]).mean()
        print(f"{name}: score {score:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--evaluations", type=int, default=250)
    given = parser.parse_args()
    every = list(cases(pd.read_csv(given.file)))
    names = sorted({case.table for case in every})
    print(f"{len(every)} beginnings of {len(names)} tables, {len(SIMULATIONS)} of them simulated")
    print(fit(every, given.evaluations))
    prior_for = {}
    for part in np.array_split(np.random.RandomState(0).permutation(names), 4):
        others = fit([case for case in every if case.table not in part], given.evaluations)
        prior_for |= dict.fromkeys(part, others)
    for are_simulated in (False, True):
        some = [case for case in every if (case.table in SIMULATIONS) == are_simulated]
        print("simulated" if are_simulated else "real", "tables, that had no part in the numbers")
        tell(forecasts(some, prior_for))


if __name__ == "__main__":
    main()
