"""The cost of the default, stage by stage, and its loss: `python -m benchmarks.stages`

Without options it prints the CPU seconds of every stage for simulated tables. With `--out` it fits
the prepared tables instead (at most 6,000 training rows of each) and appends loss, coverage and CPU
seconds to a file as they finish; existing rows are not run again. `--rules` are parameters of the
`ModelSearch`, such as `--rules n_centers=1 repeats=3`.
"""

from __future__ import annotations

import argparse
import ast
import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import cpu_seconds, measure
from clearbands import ClearRegressor, ModelSearch, fast, metrics
from experiments import datasets
from experiments.protocol import FIRST_SEED, LEVEL, split_rows

SIZES = ((300, 4), (5_000, 10), (20_000, 8), (100_000, 20))
MOST_ROWS = 6_000
KEY = ["label", "dataset", "seed"]


class StageTimes:
    """A listener of `fit` that adds CPU seconds since the last report to the reporting stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._last = cpu_seconds()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = cpu_seconds()
        self.seconds[stage] += now - self._last
        self._last = now


def made_table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate waves, steps, and noise that grows along one column."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows, n_columns))
    signal = np.sin(6 * X[:, 0]) + 2 * (X[:, 1] > 0.5) * X[:, 2] + X[:, 3] ** 2
    return X, signal + (0.1 + 0.3 * X[:, 2]) * rng.standard_normal(n_rows)


def made_model(rules: dict[str, Any]) -> ClearRegressor:
    if rules.pop("preset", None) == "fast":
        return fast(**rules)
    return ClearRegressor(search=ModelSearch(**rules)) if rules else ClearRegressor()


def by_stage(rules: dict[str, Any], sizes: list[tuple[int, int]]) -> None:
    warm_up()
    for size in sizes:
        times = StageTimes()
        X, y = made_table(*size)
        model = made_model(dict(rules)).set_params(random_state=0, n_jobs=1)
        _, cost = measure(lambda m=model, X=X, y=y, t=times: m.fit(X, y, progress=t))
        print(f"{size[0]:,} x {size[1]}: {cost.cpu_seconds:.1f} CPU s, {cost.above_mb:.0f} MB")
        for stage, seconds in sorted(times.seconds.items(), key=lambda item: -item[1]):
            print(f"  {stage:<24}{seconds:8.2f}")
        print(f"  {'the rest':<24}{cost.cpu_seconds - sum(times.seconds.values()):8.2f}")
        for n_rows, repeats in ((1, 100), (100_000, 2)):
            rows = np.resize(X, (n_rows, size[1]))
            seconds = predict_seconds(model, rows, repeats)
            print(f"  predict_interval of {n_rows:,} rows: {1e3 * seconds:.2f} CPU ms", flush=True)


def predict_seconds(model: ClearRegressor, rows: np.ndarray, repeats: int) -> float:
    """Return the mean CPU seconds of `predict_interval` over repeats, after a first call."""
    model.predict_interval(rows)
    _, cost = measure(lambda: [model.predict_interval(rows) for _ in range(repeats)])
    return cost.cpu_seconds / repeats


def on_set(name: str, seed: int, rules: dict[str, Any]) -> dict[str, Any]:
    """Return loss, coverage and CPU seconds on one split: 80 % train, and the other rows judge."""
    X, y = datasets.load(name)
    *used, _, test = split_rows(len(y), seed)
    rng = np.random.default_rng(seed)
    train = rng.permutation(np.union1d(*used))[:MOST_ROWS]
    test = test[:MOST_ROWS]
    model = made_model(dict(rules))
    model.set_params(confidence_level=LEVEL, random_state=seed, n_jobs=1)
    _, cost = measure(lambda: model.fit(X[train], y[train]))
    center, intervals = model.predict_interval(X[test])
    scores = metrics.evaluate(y[test], center, intervals[:, :, 0], LEVEL)
    kept = [f"{s.center} / {s.noise}" for s in model.leaderboard_ if s.selected]
    return {
        "loss": scores["quantile_loss"],
        "coverage": scores["picp"],
        "width": scores["niw"],
        "rmse": float(np.sqrt(np.mean((y[test] - center) ** 2))),
        "cpu_seconds": cost.cpu_seconds,
        "chosen": "; ".join(kept),
    }


def over_sets(path: Path, label: str, rules: dict[str, Any], sets: list[str], seeds: int) -> None:
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[KEY].itertuples(index=False, name=None))
    warm_up()
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for name in sets:
            if (label, name, seed) in done:
                continue
            row = {**dict(zip(KEY, (label, name, seed), strict=True)), **on_set(name, seed, rules)}
            is_new = not path.exists()
            with path.open("a", newline="") as file:
                writer = csv.DictWriter(file, row)
                if is_new:
                    writer.writeheader()
                writer.writerow(row)


def compare(path: Path, before: str) -> str:
    """Write loss, coverage and CPU of each label relative to `before`, on the same splits."""
    rows = pd.read_csv(path)
    is_whole = rows["label"].str.endswith("whole sets")  # other rows of the same sets and seeds
    rows = rows[is_whole == before.endswith("whole sets")]
    first = rows[rows["label"] == before].set_index(["dataset", "seed"])
    both = rows.join(first, on=["dataset", "seed"], rsuffix="_before")
    paired = both.dropna(subset="loss_before")
    paired["loss %"] = 100 * (paired["loss"] / paired["loss_before"] - 1)
    paired["cpu share"] = paired["cpu_seconds"] / paired["cpu_seconds_before"]
    columns = ["loss %", "coverage", "cpu_seconds", "cpu share"]
    each = paired.groupby(["dataset", "label"])[columns].mean()
    mean = each.groupby("label").mean()  # a data set counts once, however many splits it has
    return f"{each.unstack().round(3).to_string()}\n\n{mean.round(3).to_string()}"


def warm_up() -> None:
    """Compile or load the kernels, which is measured elsewhere."""
    X, y = made_table(2_100, 4)
    ClearRegressor(random_state=0, n_jobs=1).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--sizes", nargs="*", default=[], metavar="ROWSxCOLUMNS")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--label", default="default")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--against", metavar="LABEL", help="only compare what --out holds")
    args = parser.parse_args()
    rules: dict[str, Any] = {}
    for rule in args.rules:
        name, value = rule.split("=", 1)
        rules[name] = value if name == "preset" else ast.literal_eval(value)
    if args.against:
        print(compare(args.out, args.against))
    elif args.out:
        over_sets(args.out, args.label, rules, args.sets or datasets.available()[0], args.seeds)
    else:
        sizes = [tuple(map(int, size.split("x"))) for size in args.sizes]
        by_stage(rules, sizes or list(SIZES))


if __name__ == "__main__":
    main()
