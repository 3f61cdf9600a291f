"""The numbers of `CurvePrior`, learned from the curves of many tables, and how well it forecasts.

With these numbers the beginnings of curves make likely what came: the errors with 2, 4, 8, 16
times the rows of real tables, and with infinitely many rows where noise was simulated. Designs are
judged on tables that had no part in the numbers, and on the named simulations, which never have.
How models differ from the search of their curve is learned from the fits of families by `check`.

usage: python -m experiments why prior [FILE.csv] [--evaluations 250] [--designs]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import ndtri

from clearbands.prediction.curve_posterior import (
    PRIOR,
    RANGE,
    SEARCH_SCATTER,
    CurveMeans,
    CurvePrior,
    fall,
    grid,
    left_at,
    log_weights,
    weigh,
)
from experiments.why.check import RESULTS as FITS
from experiments.why.check import evidence_of, interval_score, table_of
from experiments.why.curves import RESULTS
from experiments.why.tables import PAPER

GUESS = {  # each number before the fit, and how much it may differ
    "level": (-1.5, 1.5),
    "level_spread": (np.log(1.5), 0.4),
    "rate": (-0.24, 0.3),
    "rate_spread": (np.log(0.4), 0.4),
    "scatter": (np.log(0.8), 0.6),
    "chance_scatter": (np.log(0.25), 0.5),
}
GUESS_OF_OWN = {  # the same for numbers that are learned from fits, with the level once more
    "level": (-1.0, 1.0),
    "level_spread": (np.log(3.0), 0.4),
    "own": (0.0, 0.4),
    "better_spread": (np.log(0.3), 0.6),
    "worse_spread": (np.log(0.5), 0.6),
    "own_scatter": (np.log(0.06), 0.6),
    "own_scatter_by_rows": (np.log(1.0), 0.6),
    "gain": (np.log(0.04), 0.6),
}
LOGS = [
    name
    for name in (*GUESS, *GUESS_OF_OWN)
    if name.endswith(("spread", "scatter", "by_rows", "gain"))
]
STEPS = (2.0, 4.0, 8.0, 16.0, np.inf)
NOISE = 0.03
"""The scatter of the logarithm of what came over the error now: each is one search on few rows."""

SURPRISE = 0.02, 0.15
"""The chance that a curve goes on unlike all likely ones, and the likelihood that it then has."""

PAPER_WEIGHT = 2.0
"""The weight of a table of the paper: most other tables are nearly all noise."""

N_PARTS = len(PAPER)
"""The parts of the tables that are left out: one per set of the paper, with a few other tables."""


class Cases(NamedTuple):
    """Beginnings of curves, and how they went on."""

    rows: pd.DataFrame  # table, kind, rows
    means: CurveMeans  # the means of all cases at once
    came: np.ndarray  # (n, steps): logarithms of later errors over those of now, or NaN

    def take(self, some: np.ndarray) -> Cases:
        means = CurveMeans(*(None if each is None else each[some] for each in self.means[:-1]))
        return Cases(self.rows.iloc[some].reset_index(drop=True), means, self.came[some])


def read(path: Path) -> Cases:
    frame = pd.read_csv(path)
    curves = frame["curve"].map(json.loads).tolist()
    names = CurveMeans._fields[:-1]
    means = CurveMeans(*(np.array([each[name] for each in curves]) for name in names))
    came = [
        [np.log(max(each.get(f"{step:g}", np.nan), 0.05)) for step in STEPS]
        for each in frame["came"].map(json.loads)
    ]
    return Cases(frame[["table", "kind", "rows"]], means, np.array(came))


class Curves(NamedTuple):
    """The likelihood of each curve of the grid in each case, and how the curve would go on."""

    weights: np.ndarray  # (n, g), which sum to 1 in each case
    factors: np.ndarray  # (n, steps, g): logarithms

    @classmethod
    def of(cls, cases: Cases, prior: CurvePrior) -> Curves:
        return cls(weights_of_curves(cases, prior), factors_of(cases))

    def quantiles(self) -> np.ndarray:
        """Return the median, the low and the high end of what comes, (n, steps, 3)."""
        order = np.argsort(self.factors, axis=2)
        weights = np.broadcast_to(self.weights[:, None], self.factors.shape)
        reached = np.take_along_axis(weights, order, 2).cumsum(axis=2)
        factors = np.take_along_axis(self.factors, order, 2)
        found = []
        for q in (0.5, *RANGE):
            place = np.minimum((reached < q).sum(axis=2), factors.shape[2] - 1)
            found.append(np.exp(np.take_along_axis(factors, place[:, :, None], 2)[:, :, 0]))
        doublings = np.log2(np.where(np.isfinite(STEPS), STEPS, 1.0))
        reach = np.exp(SEARCH_SCATTER * doublings * ndtri(RANGE[1]))
        # Two spreads are combined: that of curves, and that of what comes around each of them.
        middle, low, high = np.stack(found)
        low = middle * np.exp(-np.hypot(np.log(middle / low), np.log(reach)))
        high = middle * np.exp(np.hypot(np.log(high / middle), np.log(reach)))
        return np.stack([middle, low, high], axis=2)


def weights_of_curves(cases: Cases, prior: CurvePrior) -> np.ndarray:
    logs = log_weights(cases.means, prior)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def factors_of(cases: Cases) -> np.ndarray:
    rows = cases.rows["rows"].to_numpy(float)
    now = np.log1p(left_at(rows))
    then = [np.log1p(left_at(step * rows)) if np.isfinite(step) else 0 * now for step in STEPS]
    return 0.5 * (np.stack(then, axis=1) - now[:, None])


def weights_of(cases: Cases) -> np.ndarray:
    """Return weights by which a table counts with the root of the number of its cases."""
    table = cases.rows["table"]
    counts = table.map(table.value_counts()).to_numpy(float)
    return np.where(table.isin(PAPER), PAPER_WEIGHT, 1.0) / np.sqrt(counts)


def prior_of(x: np.ndarray, names: list[str], prior: CurvePrior) -> CurvePrior:
    values = dict(zip(names, x.tolist(), strict=True))
    values |= {name: float(np.exp(values[name])) for name in LOGS if name in values}
    return prior._replace(**values)


def fit(cases: Cases, evaluations: int) -> CurvePrior:
    """Return the numbers under which what came is most likely, close to a guess made before."""
    weight = 2 * weights_of(cases)
    away = (cases.came[:, :, None] - factors_of(cases)) / NOISE
    likely = np.exp(-0.5 * np.nan_to_num(away) ** 2)
    chance, height = SURPRISE

    def score(prior: CurvePrior) -> float:
        reached = np.einsum("ng,nsg->ns", weights_of_curves(cases, prior), likely)
        logs = np.log((1 - chance) * reached + chance * height)
        return float(weight @ np.nanmean(np.where(np.isnan(away[:, :, 0]), np.nan, logs), axis=1))

    return _most_likely(score, PRIOR, GUESS, evaluations)


def fit_own(fits: pd.DataFrame, prior: CurvePrior, evaluations: int) -> CurvePrior:
    """Learn how models differ from the search of their curve, and how large their ignorance is.

    The numbers make likely the true noise of families and the widths that came with ten times the
    rows of real tables. The errors of a model and of the search are measured, so they scatter: a
    model with an error below the noise of a curve says little against this curve.
    """
    fits = fits[fits["kind"].isin(["families", "forecast"]) & fits["own"].notna()]
    is_forecast = (fits["kind"] == "forecast").to_numpy()
    came = np.where(is_forecast, fits["came"], fits["true_noise"]) / fits["width"]
    came = np.where(is_forecast, came, np.minimum(came, 1))
    search = SEARCH_SCATTER * np.log2(fits["times"])
    chances = np.hypot(
        prior.width_scatter / np.sqrt(fits["rows"]), np.where(is_forecast, search, NOISE)
    )
    weight = np.where(is_forecast, PAPER_WEIGHT, 1.0)
    weight = weight / fits["table"].map(fits["table"].value_counts())
    chance, height = SURPRISE
    rate = grid()[1]

    def score(prior: CurvePrior) -> float:
        total = 0.0
        for row, factor, sd, counts in zip(fits.itertuples(), came, chances, weight, strict=True):
            evidence = evidence_of(row)
            narrower = np.exp(-evidence.pop("excess"))
            logs, noise = weigh(**evidence, prior=prior)
            if row.kind == "forecast":
                noise = fall(noise, rate, row.times, prior.gain)
                narrower **= 1 - 1 / row.times
            away = np.log(factor / noise / narrower) / sd
            near = np.exp(logs - logs.max() - 0.5 * away**2)
            likely = near.sum() / np.exp(logs - logs.max()).sum()
            total += counts * np.log((1 - chance) * likely + chance * height)
        return total

    return _most_likely(score, prior, GUESS_OF_OWN, evaluations)


def _most_likely(
    score: Callable[[CurvePrior], float],
    prior: CurvePrior,
    guess: dict[str, tuple[float, float]],
    evaluations: int,
) -> CurvePrior:
    names, (middle, spread) = list(guess), np.array(list(guess.values())).T

    def loss(z: np.ndarray) -> float:
        return 0.5 * float(z @ z) - score(prior_of(middle + z * spread, names, prior))

    options = {"maxfun": evaluations, "eps": 1e-3}
    z = minimize(loss, np.zeros(len(names)), method="L-BFGS-B", options=options).x
    return prior_of(middle + z * spread, names, prior)


def without_own_tables(cases: Cases, fits: pd.DataFrame, evaluations: int) -> dict[str, CurvePrior]:
    """Return numbers for each table that are learned from other tables, without simulations."""
    others = cases.rows["table"][~cases.rows["table"].isin(PAPER)].unique()
    tables = [*PAPER, *np.random.RandomState(1).permutation(others)]
    part = {table: place % N_PARTS for place, table in enumerate(tables)}
    numbers = cases.rows["table"].map(part).to_numpy()
    is_named = (cases.rows["kind"] == "simulated").to_numpy()
    priors = []
    for own in range(N_PARTS):
        prior = fit(cases.take(np.flatnonzero((numbers != own) & ~is_named)), evaluations)
        is_other = fits["table"].map(part) != own
        priors.append(fit_own(fits[is_other], prior, evaluations // 2))
    return {table: priors[own] for table, own in part.items()}


def forecasts(cases: Cases, priors: dict[str, CurvePrior]) -> np.ndarray:
    """Return the forecasts (n, steps, 3) of each case by the numbers for its table."""
    quantiles = []
    for number, table in enumerate(cases.rows["table"]):
        prior = priors[table]
        curves = Curves.of(cases.take(np.array([number])), prior)
        quantiles.append(curves.quantiles()[0])
    return np.stack(quantiles)


def lines(cases: Cases) -> dict[str, np.ndarray]:
    """Return the forecasts (n, steps) of simple rules, which hold for finite numbers of rows."""
    sizes, errors = np.log(cases.means.sizes), np.log(cases.means.errors)
    slopes = [np.polyfit(x, y, 1)[0] for x, y in zip(sizes, errors, strict=True)]
    last = (errors[:, -1] - errors[:, -2]) / (sizes[:, -1] - sizes[:, -2])
    steps = np.array(STEPS)
    return {
        "nothing changes": np.ones(cases.came.shape),
        "line": steps ** np.minimum(slopes, 0.0)[:, None],
        "last doubling": steps ** np.minimum(last, 0.0)[:, None],
    }


def tell(cases: Cases, designs: dict[str, np.ndarray]) -> None:
    """Print a line for every kind of table, step and design."""
    came, kinds = np.exp(cases.came), cases.rows["kind"].to_numpy()
    kinds = np.where(cases.rows["table"].isin(PAPER), "the 15 sets", kinds)
    for kind in np.unique(kinds):
        print(f"\n{kind}")
        for number, step in enumerate(STEPS):
            some = (kinds == kind) & np.isfinite(came[:, number])
            for name, quantiles in designs.items():
                if not some.any() or (not np.isfinite(step) and quantiles.ndim == 2):
                    continue
                own, own_came = quantiles[some, number], came[some, number]
                middle = own if own.ndim == 1 else own[:, 0]
                low, high = (own, own) if own.ndim == 1 else own[:, 1:].T
                off = np.median(np.abs(middle / own_came - 1))
                held = np.mean((own_came >= low) & (own_came <= high))
                score = interval_score(own_came, low, high).mean()
                print(
                    f"{step:4g} times, {some.sum():3d} curves, {name:16s}: off {off:.3f}, "
                    f"bias {np.mean(middle - own_came):+.3f}, held {held:.2f}, score {score:.3f}"
                )
    tell_shares(cases, designs)


def tell_shares(cases: Cases, designs: dict[str, np.ndarray]) -> None:
    """Print the mean shares of the named simulations beside the true ones."""
    some = (cases.rows["kind"] == "simulated").to_numpy()
    shares = cases.rows[some].assign(true=1 - np.exp(cases.came[some, -1]))
    names = [name for name, quantiles in designs.items() if quantiles.ndim == 3]
    for name in names:
        shares[name] = 1 - designs[name][some, -1, 0]
    means = shares.groupby(["table", "rows"])[["true", *names]].mean()
    print(f"\nshares\n{means.round(3).to_string()}")
    for name in names:
        off = (means[name] - means["true"]).abs().groupby("rows").mean().round(3).to_dict()
        print(f"{name}: mean of abs(mean share - true) by rows {off}")


def add_command(commands: Any) -> None:
    help_ = "the numbers of CurvePrior, and how well designs forecast without them"
    parser = commands.add_parser("prior", help=help_, description=help_)
    parser.add_argument("file", type=Path, nargs="?", default=RESULTS)
    parser.add_argument("--fits", type=Path, default=FITS, help="the file that `check` writes")
    parser.add_argument("--evaluations", type=int, default=250)
    parser.add_argument("--own", action="store_true", help="fit only how models differ from curves")
    parser.add_argument("--designs", action="store_true", help="judge designs, fit no numbers")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    cases, fits = read(args.file), pd.read_csv(args.fits)
    counts = cases.rows.groupby("kind")["table"].agg(["nunique", "size"])
    print(f"tables and curves\n{counts.to_string()}; the grid has {len(grid()[0]):,} curves")
    if not args.designs:
        trains = np.flatnonzero(cases.rows["kind"] != "simulated")
        prior = PRIOR if args.own else fit(cases.take(trains), args.evaluations)
        print(fit_own(fits, prior, args.evaluations // 2))
        return 0
    designs, priors = lines(cases), without_own_tables(cases, fits, args.evaluations)
    designs["this forecast"] = forecasts(cases, priors)
    tell(cases, designs)
    print(f"\nfitted models, by numbers of other tables\n{table_of(fits, priors)}")
    return 0
