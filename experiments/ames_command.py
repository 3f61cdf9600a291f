"""The commands `ames` and `ames-advice`, which import heavy modules only when they run."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments import datasets, results
from experiments.protocol import FIRST_SEED


def add_commands(commands) -> None:
    add_study(commands)
    add_advice(commands)


def add_study(commands) -> None:
    help_ = "the Ames case study beside the paper's two tables; goes on where it stopped"
    parser = commands.add_parser("ames", help=help_, description=help_)
    parser.add_argument("--scenarios", nargs="+", help="by default the paper's four")
    parser.add_argument("--jobs", type=int, default=1, help="scenarios run at once")
    parser.add_argument("--results", type=Path, help="file of the rows")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="of bootstraps and rows drawn")
    parser.add_argument("--figure", type=Path, help="where to draw the ratios")
    parser.set_defaults(command=run_study)


def run_study(args: argparse.Namespace) -> int:
    from experiments import ames, ames_report

    names = args.scenarios or list(ames.SCENARIOS)
    if unknown := [name for name in names if name not in ames.SCENARIOS]:
        raise datasets.DatasetError(
            f"There is no scenario {', '.join(map(repr, unknown))}; choose from "
            f"{', '.join(map(repr, ames.SCENARIOS))}."
        )
    # A file holds one seed, because its rows do not name it.
    default = (
        ames.ROWS.path if args.seed == FIRST_SEED else results.FOLDER / f"ames-{args.seed}.csv"
    )
    path = args.results or default
    ames.run(names, path, n_jobs=args.jobs, seed=args.seed)
    rows = results.read(path, ames.ROWS)
    print(f"\n{ames_report.scores(rows)}\n\n{ames_report.factors(rows)}")
    if args.figure is not None:
        ames_report.draw_ratios(rows, args.figure)
        print(f"\n{args.figure}")
    return 0


def add_advice(commands) -> None:
    help_ = "the plain ClearRegressor on Ames: what more rows and more features do to its parts"
    parser = commands.add_parser("ames-advice", help=help_, description=help_)
    parser.add_argument("--jobs", type=int, default=1, help="fits run at once")
    parser.add_argument("--results", type=Path, help="file of the rows")
    parser.add_argument("--figure", type=Path, help="where to draw them")
    parser.set_defaults(command=check_advice)


def check_advice(args: argparse.Namespace) -> int:
    from experiments import ames_advice

    path = args.results or ames_advice.ROWS.path
    ames_advice.run(path, n_jobs=args.jobs)
    rows = results.read(path, ames_advice.ROWS)
    print(f"\n{ames_advice.table(rows)}")
    if args.figure is not None:
        ames_advice.draw(rows, args.figure)
        print(f"\n{args.figure}")
    return 0
