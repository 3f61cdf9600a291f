"""The command `simulate`, and where its rows are.

Everything heavy is imported by the command that needs it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments import results


def add_commands(commands) -> None:
    help_ = "simulate, fit and score by distance and under shift; goes on where it stopped"
    parser = commands.add_parser("simulate", help=help_, description=help_)
    parser.add_argument(
        "--noise", nargs="+", default=NOISES, choices=NOISES, help="by default all three"
    )
    parser.add_argument(
        "--dimensions",
        nargs="+",
        type=int,
        help="by default the paper's: 1, and with noise homo also 2, 3 or 20, by seed in turn",
    )
    parser.add_argument("--seeds", nargs="+", type=int, help="by default 0 to 99")
    parser.add_argument("--jobs", type=int, default=1, help="data sets run at once")
    parser.add_argument("--retry", action="store_true", help="run rows with an error again")
    parser.add_argument("--results", type=Path, default=results.SIMULATIONS)
    parser.add_argument("--shift-results", type=Path, default=results.SHIFT)
    parser.add_argument("--rows", type=int, help="of each data set; by default 5000")
    parser.add_argument("--bootstraps", type=int, help="by default 50")
    parser.set_defaults(command=simulate)


NOISES = ("homo", "hetero1", "hetero2")


def simulate(args: argparse.Namespace) -> int:
    from experiments import simulate

    seeds = simulate.SEEDS if args.seeds is None else args.seeds
    if args.dimensions is None:
        cells = simulate.paper_cells(args.noise, seeds)
    else:
        cells = [
            simulate.Cell(noise, d, seed)
            for seed in seeds
            for noise in args.noise
            for d in args.dimensions
        ]
    options = simulate.Options(
        {"radius": args.results, "scale": args.shift_results},
        args.rows or simulate.N_ROWS,
        args.bootstraps or simulate.BOOTSTRAPS,
    )
    simulate.run(cells, options, n_jobs=args.jobs, retry=args.retry)
    return 0
