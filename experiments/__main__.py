"""The command line `python -m experiments <command>`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import version
from platform import python_version

import joblib

from experiments import (
    ames_command,
    authors,
    benchmark,
    beside,
    beyond,
    choosing,
    class_networks,
    classes,
    conditional,
    datasets,
    distributions,
    duplicates,
    labelling,
    mixed,
    outside,
    overlapping,
    protocols,
    published,
    results,
    results_page,
    series,
    shifted,
    simulations,
    small_samples,
    standing,
    updates,
)
from experiments.why import command as why

CHECKED = ("quantileloss", "nciw", "picp")
HEADER = (
    f"{'dataset':<17} seed  {'method':<13}  {'metric':<17}  {'ours':>10} {'paper':>10}  difference"
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments")
    commands = parser.add_subparsers(required=True, metavar="command")
    add_authors(commands)
    benchmark.add_commands(commands)
    choosing.add_commands(commands)
    outside.add_commands(commands)
    mixed.add_commands(commands)
    beside.add_commands(commands)
    results_page.add_commands(commands)
    simulations.add_commands(commands)
    standing.add_commands(commands)
    ames_command.add_commands(commands)
    small_samples.add_commands(commands)
    beyond.add_commands(commands)
    classes.add_commands(commands)
    series.add_commands(commands)
    updates.add_commands(commands)
    distributions.add_commands(commands)
    protocols.add_commands(commands)
    conditional.add_commands(commands)
    overlapping.add_commands(commands)
    duplicates.add_commands(commands)
    shifted.add_commands(commands)
    labelling.add_commands(commands)
    class_networks.add_commands(commands)
    why.add_commands(commands)
    args = parser.parse_args(arguments)
    try:
        code = args.command(args)
        sys.stdout.flush()
        return code
    except (datasets.DatasetError, results.RowsError) as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # such as `standing | head`: whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def add_authors(commands) -> None:
    help_ = "run variant (b) the authors' way and compare with the paper's values per seed"
    parser = commands.add_parser("authors", help=help_, description=help_)
    parser.add_argument("--datasets", nargs="+", default=["airfoil", "concrete", "powerplant"])
    parser.add_argument("--seed-indices", nargs="+", type=int, default=[0], choices=range(10))
    parser.add_argument("--methods", nargs="+", default=["CLEAR"], choices=authors.METHODS)
    parser.add_argument("--jobs", type=int, default=1, help="data sets and seeds run at once")
    parser.add_argument(
        "--tolerance",
        type=float,
        help=f"exit with 1 when {', '.join(CHECKED)} are relatively further off than this",
    )
    parser.set_defaults(command=compare_with_authors)


def compare_with_authors(args: argparse.Namespace) -> int:
    values = published.per_seed("b")
    runs = [(name, index) for name in args.datasets for index in args.seed_indices]
    for name in args.datasets:
        if name not in values.index.get_level_values("dataset"):
            raise datasets.DatasetError(f"The paper has no data set {name!r}.")
        datasets.load(name)  # a missing data set should be reported before the long work
    print(describe_environment())
    print(HEADER)
    results = joblib.Parallel(n_jobs=args.jobs, return_as="generator")(
        joblib.delayed(run_one)(name, index, args.methods) for name, index in runs
    )
    checked = []
    for (name, index), result in zip(runs, results, strict=True):
        lines = published.compare(result, values, name, index)
        print("\n".join(map(as_row, lines)), flush=True)
        checked += [line for line in lines if line.metric in CHECKED]
    worst = max(checked, key=lambda line: abs(line.relative_difference))
    print(
        f"Largest relative difference in {', '.join(CHECKED)}: {worst.relative_difference:+.1e} "
        f"({worst.dataset}, seed index {worst.seed_index}, {worst.method}, {worst.metric})."
    )
    return int(args.tolerance is not None and abs(worst.relative_difference) > args.tolerance)


def run_one(name: str, seed_index: int, methods: list[str]) -> dict[str, dict[str, float]]:
    return authors.run(*datasets.load(name), seed_index, methods)


def as_row(line: published.Comparison) -> str:
    return (
        f"{line.dataset:<17} {line.seed_index:>4}  {line.method:<13}  {line.metric:<17}"
        f"  {line.ours:10.6g} {line.published:10.6g}  {line.relative_difference:+10.1e}"
    )


def describe_environment() -> str:
    import xgboost

    packages = ("numpy", "scipy", "scikit-learn")
    found = [f"Python {python_version()}", *(f"{name} {version(name)}" for name in packages)]
    return ", ".join([*found, f"xgboost {xgboost.__version__}"])


if __name__ == "__main__":
    sys.exit(main())
