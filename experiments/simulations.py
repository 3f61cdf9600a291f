"""The commands `simulate` and `laws`, and the tables and figures of simulated rows.

Heavy modules are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import datasets, results
from experiments.simulation_data import BOOTSTRAPS, N_ROWS, NOISES, SEEDS

if TYPE_CHECKING:
    import pandas as pd

    from experiments.table import Table


def add_commands(commands) -> None:
    add_simulate(commands)
    add_laws(commands)


def add_simulate(commands) -> None:
    help_ = "simulate, fit and score by distance and under shift; goes on where it stopped"
    parser = commands.add_parser("simulate", help=help_, description=help_)
    parser.add_argument("--noise", nargs="+", default=list(NOISES), choices=list(NOISES))
    parser.add_argument(
        "--dimensions",
        nargs="+",
        type=at_least(1),
        help="by default the paper's: 1, and with noise homo also 2, 3 or 20, by seed in turn",
    )
    parser.add_argument("--seeds", nargs="+", type=at_least(0), default=SEEDS, help="0 to 99")
    parser.add_argument("--jobs", type=int, default=1, help="data sets run at once")
    parser.add_argument("--retry", action="store_true", help="run rows with an error again")
    parser.add_argument("--results", type=Path, default=results.SIMULATIONS)
    parser.add_argument("--shift-results", type=Path, default=results.SHIFT)
    parser.add_argument("--rows", type=at_least(10), default=N_ROWS, help="of each data set")
    parser.add_argument("--bootstraps", type=at_least(1), default=BOOTSTRAPS)
    parser.set_defaults(command=run_simulations)


def at_least(lowest: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        if int(text) < lowest:
            raise argparse.ArgumentTypeError(f"{text} is less than {lowest}")
        return int(text)

    return whole_number


def run_simulations(args: argparse.Namespace) -> int:
    from experiments import simulate

    if args.dimensions is None:
        cells = simulate.paper_cells(args.noise, args.seeds)
    else:
        cells = [
            simulate.Cell(noise, d, seed)
            for seed in args.seeds
            for noise in args.noise
            for d in args.dimensions
        ]
    paths = {"radius": args.results, "scale": args.shift_results}
    options = simulate.Options(paths, args.rows, args.bootstraps)
    simulate.run(cells, options, n_jobs=args.jobs, retry=args.retry)
    return 0


def add_laws(commands) -> None:
    help_ = "population optimality and finite-sample coverage of CLEAR, on simulated data"
    parser = commands.add_parser("laws", help=help_, description=help_)
    parser.add_argument("--calibration-rows", type=at_least(100), default=20_000)
    parser.add_argument("--draws", type=at_least(2), default=500, help="of calibration sets")
    parser.set_defaults(command=show_laws)


def show_laws(args: argparse.Namespace) -> int:
    from experiments import laws

    for line in laws.report(args.calibration_rows, args.draws):
        print(line, flush=True)
    return 0


def tables(path: Path | None) -> Iterator[Table]:
    """Yield the tables of the rows in one file, or of all kept rows."""
    from experiments import simulation_summary

    makers = {
        "simulation": simulation_summary.distance_tables,
        "shift": simulation_summary.shift_tables,
    }
    paths = [path] if path else [results.newest(p) for p in (results.SIMULATIONS, results.SHIFT)]
    for found in paths:
        what, rows = read_rows(found, tuple(makers))
        yield from makers[what](rows)


def draw_figures(path: Path | None, out: Path, format_: str) -> None:
    from experiments import simulation_figure, simulation_summary

    _, rows = read_rows(path or results.newest(results.SIMULATIONS), ("simulation",))
    for case, chosen in simulation_summary.split(rows).items():
        drawn = out / f"simulation-{case}.{format_}"
        simulation_figure.draw(chosen, case, drawn)
        print(drawn)


def read_rows(path: Path, kinds: tuple[str, ...]) -> tuple[str, pd.DataFrame]:
    """Return the kind of rows in a file, and the rows without errors."""
    if not path.exists():
        raise datasets.DatasetError(
            f"There are no rows in {path}; `python -m experiments simulate` makes them."
        )
    schema, rows = results.read_any(path)
    if schema.what not in kinds:
        raise results.RowsError(f"{path} has {schema.what} rows, not {' or '.join(kinds)} rows.")
    return schema.what, rows[rows["error"] == ""]
