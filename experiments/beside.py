"""Fits a cell of the paper's tables again, with other draws or models, beside the paper's value.

`python -m experiments beside computer a --seeds 777 --draws 5 --stock` tells whether models,
bootstraps or the definition of a method cause a difference. `--models` lets a model win that lost
narrowly. `--halves` shows how much the conformalized setting depends on which half of the
validation rows calibrates.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

from clearbands.models.pools import quantile_counterpart
from experiments import authors, datasets, methods, parts, protocol, published, results
from experiments.fitted import Fitted, Parts
from experiments.run import Cell, make_case, score

PAPER_NAMES = {
    "quantile_loss": "quantileloss",
    "interval_score": "intervalscoreloss",
    "authors_nciw": "nciw",
}
APART = 1000  # the distance between the seeds of draws, so that no two splits share a seed


def add_commands(commands) -> None:
    help_ = "fit a cell again with other bootstraps or stock models, beside the paper's value"
    parser = commands.add_parser("beside", help=help_, description=help_)
    parser.add_argument("dataset")
    parser.add_argument("variant", choices=("a", "b", "c"))
    parser.add_argument("--seeds", nargs="+", type=int, default=protocol.SEEDS[:1])
    parser.add_argument("--draws", type=int, default=1, help="times that PCS draws its bootstraps")
    parser.add_argument("--stock", action="store_true", help="XGBoost and quantile-forest besides")
    parser.add_argument(
        "--authors-draws", action="store_true", help="stock members on the authors' own bootstraps"
    )
    parser.add_argument("--halves", type=int, default=0, help="conformalized, so many halvings")
    parser.add_argument(
        "--metric", default="quantile_loss", choices=[*results.METRICS, "authors_nciw"]
    )
    parser.add_argument("--bootstraps", type=int, default=protocol.BOOTSTRAPS)
    parser.add_argument(
        "--models", nargs="+", default=(), help="those of the pool that compete, by default all"
    )
    parser.set_defaults(command=show)


def show(args: argparse.Namespace) -> int:
    pool, _ = parts.variant_models(args.variant, stock=False)
    if unknown := [name for name in args.models if name not in pool]:
        raise datasets.DatasetError(
            f"Variant ({args.variant}) has no model {', '.join(map(repr, unknown))}; there are: "
            f"{', '.join(pool)}."
        )
    X, y = datasets.load(args.dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the values show what the calibrators warn about
        if args.halves:
            print(as_markdown(by_halves(X, y, args), "{:.3f}"))
        else:
            values = pd.DataFrame([row for seed in args.seeds for row in by_draw(X, y, seed, args)])
            print(as_markdown(least_and_largest(values), "{:.4g}"))
    return 0


def by_draw(
    X: np.ndarray, y: np.ndarray, seed: int, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the paper's value of one split for every method, and ours for every draw."""
    split = protocol.split_rows(len(y), seed)
    paper = paper_values(args, seed)
    for method, value in paper.items():
        yield {"seed": seed, "method": method, "models": "paper", "draw": 0, "value": value}
    for models, draw, fitted in fits(X, y, split, seed, args):
        for method, value in scores(X, y, split, fitted, seed, "standard", args):
            if method in paper:
                row = {"seed": seed, "method": method, "models": models}
                yield row | {"draw": draw, "value": value}


def fits(
    X: np.ndarray, y: np.ndarray, split: protocol.Split, seed: int, args: argparse.Namespace
) -> Iterator[tuple[str, int, Parts]]:
    """Yield the name of the models, the number of the draw, and the fitted parts."""
    for stock in (False, True)[: 1 + args.stock]:
        for draw in range(args.draws):
            fitted = fit(X, y, {"": split}, seed + APART * draw, args, stock=stock)[""]
            yield "stock" if stock else "ours", draw, fitted
    if args.authors_draws:
        yield "authors' draws", 0, fit_on_authors_draws(X, y, split, seed, args)


def least_and_largest(values: pd.DataFrame) -> pd.DataFrame:
    """Return the least and the largest value over the draws, by seed and method.

    With several seeds there are also their means.
    """
    means = values.groupby(["method", "models", "draw"])["value"].mean().reset_index()
    if values["seed"].nunique() > 1:
        values = pd.concat([values, means.assign(seed="mean")])
    found = values.groupby(["seed", "method", "models"], sort=False)["value"].agg(["min", "max"])
    found = found.rename(columns={"min": "least", "max": "largest"}).unstack("models")
    models = list(dict.fromkeys(values["models"]))
    table = pd.DataFrame({"paper": found["least", "paper"]})
    for name in models[1:]:
        for which in ("least", "largest"):
            table[f"{name}, {which}"] = found[which, name]
    return table


def by_halves(X: np.ndarray, y: np.ndarray, args: argparse.Namespace) -> pd.DataFrame:
    """Return by halving and method the mean over seeds, relative to CLEAR's in "standard"."""
    lines = []
    for seed in args.seeds:
        whole = protocol.split_rows(len(y), seed)
        splits = {"standard": whole} | {
            k: protocol.Split(whole.train, *halves_of(whole.validation, seed + k), whole.test)
            for k in range(args.halves)
        }
        fitted = fit(X, y, splits, seed, args)
        for k, split in splits.items():
            setting = "standard" if k == "standard" else "conformalized"
            found = scores(X, y, split, fitted[k], seed, setting, args)
            lines += [{"halving": k, "method": name, "value": value} for name, value in found]
    means = pd.DataFrame(lines).groupby(["halving", "method"])["value"].mean()
    ratios = means.drop("standard", level=0).unstack() / means["standard", "CLEAR"]
    ratios = ratios[["CLEAR-c", "ALEATORIC-R-c", "PCS-EPISTEMIC-c"]]
    summary = ratios.agg(["mean", "std", "min", "max"])
    return pd.concat([ratios, summary]).rename_axis("halving with seed +")


def halves_of(rows: np.ndarray, seed: int) -> Sequence[np.ndarray]:
    return train_test_split(rows, test_size=0.5, random_state=seed)


def fit(
    X: np.ndarray,
    y: np.ndarray,
    splits: dict[Any, protocol.Split],
    seed: int,
    args: argparse.Namespace,
    *,
    stock: bool = False,
) -> dict[Any, Parts]:
    return parts.fit_parts(
        args.variant,
        X,
        y,
        splits,
        seed,
        stock=stock,
        n_bootstraps=args.bootstraps,
        models=args.models,
    )


def fit_on_authors_draws(
    X: np.ndarray, y: np.ndarray, split: protocol.Split, seed: int, args: argparse.Namespace
) -> Parts:
    """Fit center and epistemic widths as the authors' program does, and residuals as we do."""
    pool, forest = parts.variant_models(args.variant, stock=True, only=args.models)
    winner = parts.choose(pool, X, y, split.train, {"": split})[0][""]
    print(f"seed {seed}: the winner is {winner}", flush=True)
    train, rows = split.train, split.held_out
    members = [
        parts.one_median(pool[winner]).fit(*resample(X[train], y[train], random_state=seed + i))
        for i in range(args.bootstraps)
    ]
    center, epistemic = authors.epistemic_part(members, X)
    own, own_forest = parts.variant_models(args.variant, stock=False)
    model = quantile_counterpart(own[winner]) if forest is None else own_forest
    seen = np.column_stack([X, center])
    curves = parts.Curves(model, args.bootstraps, protocol.LEVEL).fit(
        seen[train], (y - center)[train]
    )
    fitted = Fitted(y[rows], center[rows], epistemic[rows], curves.widths(seen[rows]))
    return Parts(rows, fitted, {})


def scores(
    X: np.ndarray,
    y: np.ndarray,
    split: protocol.Split,
    fitted: Parts,
    seed: int,
    setting: str,
    args: argparse.Namespace,
) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of every method that needs only these parts."""
    cell, case = Cell(args.dataset, args.variant, seed), make_case(X, y, split, fitted, seed)
    has_quantiles = fitted.fitted.aleatoric_of_y is not None
    for name, method in methods.of(args.variant, setting).items():
        if method.setting or method.alone or ("quantiles of y" in method.parts) > has_quantiles:
            continue
        if args.metric == "authors_nciw":
            found = method.run(case)
            center = case.test.center if found.center is None else found.center
            yield name, authors.authors_nciw(case.test.y, center, found.intervals)
        else:
            yield name, score(cell, setting, name, method, case, {})[args.metric]


def paper_values(args: argparse.Namespace, seed: int) -> pd.Series:
    values = published.per_seed(args.variant)
    metric = PAPER_NAMES.get(args.metric, args.metric)
    return values[args.dataset, seed - protocol.FIRST_SEED].unstack()[metric]


def as_markdown(table: pd.DataFrame, form: str) -> str:
    n_labels = table.index.nlevels
    header = [*(name or "" for name in table.index.names), *table.columns]
    lines = [
        f"| {' | '.join(map(str, header))} |",
        "|---" * n_labels + "|---:" * table.shape[1] + "|",
    ]
    for label, values in zip(table.index, table.to_numpy(), strict=True):
        labels = label if n_labels > 1 else (label,)
        lines.append(f"| {' | '.join([*map(str, labels), *map(form.format, values)])} |")
    return "\n".join(lines)
