"""How curves of other tables go: the numbers of `CurvePrior`, and how well designs forecast.

The numbers are those by which the beginnings of curves make what came likely: with 2, 4, 8, 16
times the rows of real tables, and without end where noise was simulated. Designs are judged on
tables that had no part in the numbers, and on the named simulations, which never have.

usage: python -m experiments why prior [FILE.csv] [--evaluations 600] [--designs]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import ndtri

from clearbands.prediction.curve_posterior import (
    PRIOR,
    RANGE,
    CurveMeans,
    CurvePrior,
    grid,
    left_at,
    log_weights,
)
from experiments.why.curves import RESULTS
from experiments.why.tables import PAPER

GUESS = {  # and how much a number may differ from it
    "level": (-1.5, 1.5),
    "level_by_columns": (0.2, 0.2),
    "level_spread": (np.log(1.5), 0.4),
    "rate": (-0.24, 0.3),
    "rate_spread": (np.log(0.4), 0.4),
    "delayed": (0.0, 1.0),
    "scatter": (np.log(0.0275), 0.5),
    "scatter_by_rows": (np.log(0.8), 0.6),
    "chance": (-0.8, 0.5),
    "chance_spread": (np.log(0.8), 0.5),
    "chance_scatter": (np.log(0.25), 0.5),
    "chance_scatter_by_rows": (np.log(1.0), 0.7),
}
LOGS = [name for name in GUESS if name.endswith(("spread", "scatter", "by_rows"))]
STEPS = (2.0, 4.0, 8.0, 16.0, np.inf)
NOISE = 0.03
"""Of the logarithm of what came against now: both are of one search each, on few test rows."""

SURPRISE = 0.02, 0.15
"""The chance that a curve goes on as none of the likely ones, and how likely that makes it."""

PAPER_WEIGHT = 2.0
"""There are fewer of them than of tables where nearly all is noise."""

N_PARTS = 4


class Cases(NamedTuple):
    """Beginnings of curves, and how they went on."""

    rows: pd.DataFrame  # table, kind, rows, columns
    means: CurveMeans  # of all at once
    came: np.ndarray  # (n, steps): logarithms of errors over those of now, NaN where not known

    def take(self, some: np.ndarray) -> Cases:
        means = CurveMeans(*(None if each is None else each[some] for each in self.means[:-1]))
        return Cases(self.rows.iloc[some].reset_index(drop=True), means, self.came[some])

    def without_differences(self) -> Cases:
        """The same for a design that knows errors alone."""
        return self._replace(means=CurveMeans(*self.means[:3]))


def read(path: Path) -> Cases:
    frame = pd.read_csv(path)
    curves = frame["curve"].map(json.loads).tolist()
    names = CurveMeans._fields[:-1]
    means = CurveMeans(*(np.array([each[name] for each in curves]) for name in names))
    came = [
        [np.log(max(each.get(f"{step:g}", np.nan), 0.05)) for step in STEPS]
        for each in frame["came"].map(json.loads)
    ]
    return Cases(frame[["table", "kind", "rows", "columns"]], means, np.array(came))


class Curves(NamedTuple):
    """Of each case, how likely each curve of the grid is, and how it would go on."""

    weights: np.ndarray  # (n, g), of sum 1
    factors: np.ndarray  # (n, steps, g): logarithms

    @classmethod
    def of(cls, cases: Cases, prior: CurvePrior) -> Curves:
        logs = log_weights(cases.means, cases.rows["columns"].to_numpy(float), prior)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        rows = cases.rows["rows"].to_numpy(float)
        now = np.log1p(left_at(rows))
        then = [np.log1p(left_at(step * rows)) if np.isfinite(step) else 0 * now for step in STEPS]
        return cls(
            weights / weights.sum(axis=1, keepdims=True),
            0.5 * (np.stack(then, axis=1) - now[:, None]),
        )

    def scores(self, came: np.ndarray) -> np.ndarray:
        """(n,): the logarithm of how likely what came is, the mean over the steps."""
        away = (came[:, :, None] - self.factors) / NOISE
        likely = np.einsum("ng,nsg->ns", self.weights, np.exp(-0.5 * np.nan_to_num(away) ** 2))
        chance, height = SURPRISE
        logs = np.log((1 - chance) * likely + chance * height)
        return np.nanmean(np.where(np.isnan(came), np.nan, logs), axis=1)

    def quantiles(self, scatter: float) -> np.ndarray:
        """(n, steps, 3): the median, the low and the high end of what comes."""
        order = np.argsort(self.factors, axis=2)
        weights = np.broadcast_to(self.weights[:, None], self.factors.shape)
        reached = np.take_along_axis(weights, order, 2).cumsum(axis=2)
        factors = np.take_along_axis(self.factors, order, 2)
        found = []
        for q in (0.5, *RANGE):
            place = np.minimum((reached < q).sum(axis=2), factors.shape[2] - 1)
            found.append(np.exp(np.take_along_axis(factors, place[:, :, None], 2)[:, :, 0]))
        reach = np.exp(scatter * ndtri(RANGE[1]) * np.isfinite(STEPS))
        # Both spread: of curves, and of what comes around each of them.
        middle, low, high = np.stack(found)
        low = middle * np.exp(-np.hypot(np.log(middle / low), np.log(reach)))
        high = middle * np.exp(np.hypot(np.log(high / middle), np.log(reach)))
        return np.stack([middle, low, high], axis=2)


def weights_of(cases: Cases) -> np.ndarray:
    """Tables count by the root of how often they stand there."""
    table = cases.rows["table"]
    counts = table.map(table.value_counts()).to_numpy(float)
    return np.where(table.isin(PAPER), PAPER_WEIGHT, 1.0) / np.sqrt(counts)


def prior_of(x: np.ndarray, names: list[str]) -> CurvePrior:
    values = dict(zip(names, x.tolist(), strict=True))
    values |= {name: float(np.exp(values[name])) for name in LOGS if name in values}
    values["delayed"] = float(1 / (1 + np.exp(-values["delayed"])))
    return PRIOR._replace(**values)


def fit(cases: Cases, evaluations: int) -> CurvePrior:
    """The numbers under which what came is most likely, held a little by a guess before."""
    is_whole = cases.means.differences is not None
    names = [name for name in GUESS if is_whole or not name.startswith("chance")]
    guess, spread = np.array([GUESS[name] for name in names]).T
    weight = 2 * weights_of(cases)

    def loss(z: np.ndarray) -> float:
        prior = prior_of(guess + z * spread, names)
        scores = Curves.of(cases, prior).scores(cases.came)
        return -float(weight @ scores) + 0.5 * float(z @ z)

    options = {"maxfun": evaluations, "eps": 1e-3}
    z = minimize(loss, np.zeros(len(names)), method="L-BFGS-B", options=options).x
    return prior_of(guess + z * spread, names)


def forecasts(cases: Cases, evaluations: int) -> np.ndarray:
    """(n, steps, 3): of each case by the numbers of tables without its own."""
    quantiles = np.full((*cases.came.shape, 3), np.nan)
    tables = cases.rows["table"].unique()
    part = dict(
        zip(tables, np.random.RandomState(1).permutation(len(tables)) % N_PARTS, strict=True)
    )
    numbers = cases.rows["table"].map(part).to_numpy()
    is_named = (cases.rows["kind"] == "simulated").to_numpy()
    for own in range(N_PARTS):
        others, some = np.flatnonzero((numbers != own) & ~is_named), np.flatnonzero(numbers == own)
        prior = fit(cases.take(others), evaluations)
        quantiles[some] = Curves.of(cases.take(some), prior).quantiles(np.sqrt(2) * prior.scatter)
    return quantiles


def lines(cases: Cases) -> dict[str, np.ndarray]:
    """(n, steps) each: what simple rules say, of numbers of rows that have an end."""
    sizes, errors = np.log(cases.means.sizes), np.log(cases.means.errors)
    slopes = [np.polyfit(x, y, 1)[0] for x, y in zip(sizes, errors, strict=True)]
    last = (errors[:, -1] - errors[:, -2]) / (sizes[:, -1] - sizes[:, -2])
    steps = np.array(STEPS)
    return {
        "nothing changes": np.ones(cases.came.shape),
        "line": steps ** np.minimum(slopes, 0.0)[:, None],
        "last doubling": steps ** np.minimum(last, 0.0)[:, None],
    }


def interval_score(came: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Of ranges of 80 %."""
    return high - low + 10 * np.maximum(low - came, 0) + 10 * np.maximum(came - high, 0)


def tell(cases: Cases, designs: dict[str, np.ndarray]) -> None:
    """A line for every kind of table, step and design."""
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
    """Of the named simulations, the mean share against the true one."""
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
    parser.add_argument("--evaluations", type=int, default=600)
    parser.add_argument("--designs", action="store_true", help="judge designs, fit no numbers")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    cases = read(args.file)
    counts = cases.rows.groupby("kind")["table"].agg(["nunique", "size"])
    print(f"tables and curves\n{counts.to_string()}; the grid has {len(grid()[0]):,} curves")
    if not args.designs:
        trains = np.flatnonzero(cases.rows["kind"] != "simulated")
        print(fit(cases.take(trains), args.evaluations))
        return 0
    designs = lines(cases)
    designs["errors alone"] = forecasts(cases.without_differences(), args.evaluations)
    designs["this forecast"] = forecasts(cases, args.evaluations)
    tell(cases, designs)
    return 0
