"""The command `labelling`: five rules that choose rows to label, and what a model learns by each.

The default knows 100 rows and may ask for the targets of 100 more, twice. A file has a row for each
data set, seed, rule and number of labelled rows: `dataset, seed, rule, labelled, quantile_loss,
rmse`, always on the same test rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from clearbands import ClearRegressor, metrics, rank_by_epistemic
from clearbands.prediction.uncertainty import rank_apart
from experiments import datasets, rows
from experiments.protocol import SEEDS

RESULTS = Path(__file__).parent / "results" / "labelling.csv"
SETS = ("airfoil", "concrete", "energy_efficiency", "kin8nm", "powerplant")
FIELDS = ("dataset", "seed", "rule", "labelled", "quantile_loss", "rmse")
LEVEL = 0.9
START, STEP, STEPS = 100, 100, 2
POOL = 2_000  # of larger data sets, targets of at most so many rows may be asked for

Rule = Callable[[ClearRegressor, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def by_members(model, pool, labelled, rng) -> np.ndarray:
    return rank_by_epistemic(model, pool, STEP)


def by_ignorance(model, pool, labelled, rng) -> np.ndarray:
    """Do the same by the ignorance that `predict_uncertainty` shows."""
    ignorance = model.predict_uncertainty(pool).epistemic.sum(axis=1)
    return rank_apart(ignorance, model.encode(pool), STEP)


def by_chance(model, pool, labelled, rng) -> np.ndarray:
    return rng.permutation(len(pool))[:STEP]


def by_width(model, pool, labelled, rng) -> np.ndarray:
    """Choose the rows with the widest intervals, whatever makes them wide."""
    _, intervals = model.predict_interval(pool)
    return np.argsort(intervals[:, 0, 0] - intervals[:, 1, 0], kind="stable")[:STEP]


def by_distance(model, pool, labelled, rng) -> np.ndarray:
    """Choose greedily the rows that are farthest from all that are labelled or chosen."""
    spread = pool.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    places, chosen = pool / scale, []
    nearest = np.min([np.linalg.norm(places - row, axis=1) for row in labelled / scale], axis=0)
    for _ in range(STEP):
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return np.array(chosen)


RULES: dict[str, Rule] = {
    "members' spread": by_members,
    "ignorance": by_ignorance,
    "chance": by_chance,
    "widest interval": by_width,
    "farthest": by_distance,
}


def add_commands(commands) -> None:
    help_ = "what rows teach that are chosen by ignorance, by chance, by width or by distance"
    parser = commands.add_parser("labelling", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=list(SETS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), choices=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args.datasets, args.seeds, args.results)
    found = pd.read_csv(args.results)
    print(f"{table(found)}\n\n{curves(found)}")
    return 0


def run_missing(names: list[str], seeds: list[int], path: Path) -> None:
    done = rows.known(path, ("dataset", "seed", "rule"))
    for seed in seeds:
        for name in names:
            missing = [rule for rule in RULES if (name, seed, rule) not in done]
            if missing:
                with threadpool_limits(1):
                    trial = Trial(*datasets.load(name), seed)
                    for rule in missing:
                        key = {"dataset": name, "seed": seed, "rule": rule}
                        points = curve(trial, RULES[rule])
                        rows.append(path, FIELDS, [key | point for point in points])


class Trial:
    """The rows at the beginning, and the model that knows the first of them."""

    def __init__(self, X: np.ndarray, y: np.ndarray, seed: int) -> None:
        self.X, self.y, self.seed = X, y, seed
        rest, self.test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
        rest = np.random.default_rng(seed).permutation(rest)[: START + POOL]
        self.labelled, self.pool = rest[:START], rest[START:]
        self.model = self.fit(self.labelled)

    def fit(self, labelled: np.ndarray) -> ClearRegressor:
        model = ClearRegressor(confidence_level=LEVEL, random_state=self.seed)
        return model.fit(self.X[labelled], self.y[labelled])

    def scores(self, model: ClearRegressor, n: int) -> dict[str, float]:
        y = self.y[self.test]
        center, intervals = model.predict_interval(self.X[self.test])
        loss = metrics.quantile_loss(y, intervals[:, :, 0], LEVEL)
        rmse = float(np.sqrt(np.mean((y - center) ** 2)))
        return {"labelled": n, "quantile_loss": loss, "rmse": rmse}


def curve(trial: Trial, rule: Rule) -> list[dict[str, float]]:
    """Return the scores on the test rows before the first question and after each answer."""
    rng = np.random.default_rng([trial.seed, 1])
    labelled, pool, model = trial.labelled, trial.pool, trial.model
    points = [trial.scores(model, len(labelled))]
    for _ in range(STEPS):
        asked = rule(model, trial.X[pool], trial.X[labelled], rng)
        labelled, pool = np.concatenate([labelled, pool[asked]]), np.delete(pool, asked)
        model = trial.fit(labelled)
        points.append(trial.scores(model, len(labelled)))
    return points


def table(found: pd.DataFrame) -> str:
    """Write the change against chance after all questions, in percent, with its standard error."""
    last = found[found["labelled"] == found["labelled"].max()]
    names = [name for name in SETS if name in set(last["dataset"])]
    lines = [
        f"| rule | number | {' | '.join(names)} | mean |",
        f"|---|---|{'---:|' * (len(names) + 1)}",
    ]
    for value, words in (("quantile_loss", "quantile loss"), ("rmse", "RMSE")):
        wide = last.pivot_table(index=["dataset", "seed"], columns="rule", values=value)
        change = 100 * wide.div(wide["chance"], axis=0) - 100
        for rule in RULES:
            if rule == "chance":
                continue
            by_set = change[rule].groupby("dataset")
            cells = [f"{by_set.mean()[name]:+.1f} ± {by_set.sem()[name]:.1f}" for name in names]
            mean = by_set.mean()[names].mean()
            lines.append(f"| {rule} | {words} | {' | '.join(cells)} | {mean:+.1f} |")
    return "\n".join(lines)


def curves(found: pd.DataFrame) -> str:
    """Write the test quantile loss at every step, in percent of that before the first question.

    They are means over the seeds, for each data set and rule.
    """
    steps = sorted(set(found["labelled"]))
    keys = ["dataset", "rule", "seed"]
    wide = found.pivot_table(index=keys, columns="labelled", values="quantile_loss")
    share = 100 * wide.div(wide[steps[0]], axis=0)
    means = share.groupby(["dataset", "rule"]).mean()
    lines = [
        f"| set | rule | {' | '.join(f'{step}' for step in steps)} |",
        f"|---|---|{'---:|' * len(steps)}",
    ]
    for name in (name for name in SETS if name in set(found["dataset"])):
        for rule in RULES:
            cells = [f"{means.loc[(name, rule), step]:.0f}" for step in steps]
            lines.append(f"| {name} | {rule} | {' | '.join(cells)} |")
    return "\n".join(lines)
