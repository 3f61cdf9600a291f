"""The commands list, download, run, pack, table, figure and compare.

Heavy modules are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from clearbands.scaling.engines import ENGINES, DaskCluster, Engine, LostWorkers, choose_engine
from experiments import datasets, protocol, results, simulations
from experiments.sources import PAPER_SETS, SOURCES


def add_commands(commands) -> None:
    add_list(commands)
    add_download(commands)
    add_run(commands)
    add_pack(commands)
    add_table(commands)
    add_figure(commands)
    add_compare(commands)


def add_list(commands) -> None:
    help_ = "show the data sets, where they come from and whether they are there"
    parser = commands.add_parser("list", help=help_, description=help_)
    parser.set_defaults(command=show_list)


def show_list(args: argparse.Namespace) -> int:
    print(f"{'set':<18} {'n':>6} {'d':>5}  {'target':<22} {'source':<26} status")
    for name, source in SOURCES.items():
        print(
            f"{name:<18} {source.n:>6} {source.d:>5}  {source.target:<22} "
            f"{source.short_origin:<26} {datasets.status(name)}"
        )
    try:
        datasets.folder()
    except datasets.DatasetError as error:
        print(f"\n{error}")
    path = results.newest()
    if path.exists():
        rows = results.read(path)
        print(f"\n{len(rows)} result rows in {path.name}; seeds per cell:")
        seeds = rows.groupby(["variant", "setting", "dataset"])["seed"].nunique().unstack()
        print(seeds.fillna(0).astype(int).T.to_string())
    return 0


def add_run(commands) -> None:
    help_ = "fit and score every method; goes on where an earlier run stopped"
    parser = commands.add_parser("run", help=help_, description=help_)
    parser.add_argument(
        "--datasets", nargs="+", help="by default all of the paper that are there; `list` has them"
    )
    parser.add_argument(
        "--variants", nargs="+", choices=protocol.VARIANTS, default=protocol.QUICK_VARIANTS
    )
    parser.add_argument(
        "--settings", nargs="+", choices=protocol.SETTINGS, default=protocol.SETTINGS
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=protocol.SEEDS)
    parser.add_argument("--jobs", type=int, default=1, help="cells run at once")
    parser.add_argument("--engine", choices=ENGINES, help="who runs the cells, instead of --jobs")
    parser.add_argument("--scheduler", help="address of a Dask cluster, whose workers see the data")
    parser.add_argument("--stock", action="store_true", help="XGBoost and quantile-forest models")
    parser.add_argument("--retry", action="store_true", help="run rows with an error again")
    parser.add_argument("--results", type=Path, help="file of the rows")
    parser.add_argument("--bootstraps", type=int, default=protocol.BOOTSTRAPS)
    parser.add_argument(
        "--methods", nargs="+", default=(), help="by default all, such as CLEAR, lambda=1 or crepes"
    )
    parser.add_argument("--methods-from", nargs="+", default=(), help="files that add methods")
    parser.set_defaults(command=run_benchmark)


def engine_for(args: argparse.Namespace) -> Engine | None:
    """Return the engine that was asked for, or None to let joblib run the cells."""
    if args.scheduler is not None:
        return DaskCluster(args.scheduler)
    return None if args.engine is None else choose_engine(args.engine, args.jobs)


def run_benchmark(args: argparse.Namespace) -> int:
    from experiments import run

    names, missing = args.datasets, []
    if names is None:
        names, missing = datasets.available()
    said = f"MISSING data sets, not run: {', '.join(missing)} (of the paper's {len(PAPER_SETS)})."
    if missing:
        print(said)
    default = results.FOLDER / "benchmark-stock.csv" if args.stock else results.BENCHMARK
    options = run.Options(
        args.results or default,
        tuple(args.settings),
        args.stock,
        args.bootstraps,
        tuple(args.methods_from),
        tuple(args.methods),
    )
    engine = engine_for(args)
    try:
        run.run(
            names,
            args.variants,
            args.seeds,
            options,
            n_jobs=args.jobs,
            retry=args.retry,
            engine=engine,
        )
    except LostWorkers as error:
        raise datasets.DatasetError(
            f"{error} The rows that were finished are there; the same command goes on."
        ) from error
    finally:
        if engine is not None:
            engine.close()
    if missing:
        print(said)
    return 0


def add_download(commands) -> None:
    help_ = "fetch data sets from their public sources into the cache"
    parser = commands.add_parser("download", help=help_, description=help_)
    parser.add_argument("datasets", nargs="*", help="by default all of the paper")
    parser.set_defaults(command=download_sets)


def download_sets(args: argparse.Namespace) -> int:
    from experiments.download import download

    failures = []
    for name in args.datasets or PAPER_SETS:
        try:
            print(f"{name}: {download(name)}", flush=True)
        except datasets.DatasetError as error:
            failures.append(str(error))
    if failures:
        raise datasets.DatasetError("\n".join(failures))
    return 0


def add_pack(commands) -> None:
    help_ = "join files of rows into one sorted csv or parquet file; of rows run again, the last"
    parser = commands.add_parser("pack", help=help_, description=help_)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="by default results/<kind of rows>.parquet")
    parser.set_defaults(command=pack_rows)


def pack_rows(args: argparse.Namespace) -> int:
    n_rows, out = results.pack(args.files, args.out)
    print(f"{n_rows} rows in {out}")
    if out.resolve() == results.BENCHMARK.with_suffix(".parquet").resolve():
        print("`python -m experiments summary` brings RESULTS.md and summary.json up to them.")
    return 0


def add_rows_of(parser) -> None:
    parser.add_argument(
        "of",
        nargs="?",
        default="benchmark",
        choices=["benchmark", "simulations"],
        help="which rows",
    )


def add_rows_options(parser) -> None:
    parser.add_argument("--results", type=Path, help="file of the rows, csv or parquet")
    for name, choices in (("--variants", protocol.VARIANTS), ("--settings", protocol.SETTINGS)):
        parser.add_argument(name, nargs="+", choices=choices, default=choices)


def read_rows(args: argparse.Namespace):
    path = args.results or results.newest()
    if not path.exists():
        raise datasets.DatasetError(
            f"There are no rows in {path}; `python -m experiments run` makes them."
        )
    rows = results.read(path)
    return rows[rows["variant"].isin(args.variants) & rows["setting"].isin(args.settings)]


def add_table(commands) -> None:
    help_ = "the paper's tables from the result rows"
    parser = commands.add_parser("table", help=help_, description=help_)
    add_rows_of(parser)
    add_rows_options(parser)
    parser.add_argument("--format", default="markdown", choices=["markdown", "latex", "csv"])
    parser.add_argument("--out", type=Path, help="a folder for one file per table")
    parser.add_argument("--across", action="store_true", help="variants beside each other instead")
    parser.set_defaults(command=show_tables)


def show_tables(args: argparse.Namespace) -> int:
    from experiments import table

    if args.of == "simulations":
        found = simulations.tables(args.results)
    elif args.across:
        found = table.tables_across(read_rows(args), tuple(args.settings))
    else:
        found = table.tables(read_rows(args), tuple(args.variants), tuple(args.settings))
    table.write(found, args.format, args.out)
    return 0


def add_figure(commands) -> None:
    help_ = "the paper's figures from the result rows"
    parser = commands.add_parser("figure", help=help_, description=help_)
    add_rows_of(parser)
    add_rows_options(parser)
    parser.add_argument("--out", type=Path, default=results.FOLDER / "figures")
    parser.add_argument("--format", default="png", choices=["png", "pdf", "svg"])
    parser.set_defaults(command=draw_figures)


def draw_figures(args: argparse.Namespace) -> int:
    if args.of == "simulations":
        simulations.draw_figures(args.results, args.out, args.format)
    else:
        draw_benchmark(args)
    return 0


def draw_benchmark(args: argparse.Namespace) -> None:
    from experiments import figure, summary

    rows = read_rows(args)
    for variant in args.variants:
        for setting in args.settings:
            if not summary.select(rows, variant, setting).empty:
                path = args.out / f"{variant}-{setting}.{args.format}"
                figure.draw_variant(rows, variant, setting, path)
                print(path)
    if rows.loc[rows["setting"] == "standard", "variant"].nunique() > 1:
        path = args.out / f"variants.{args.format}"
        figure.draw_comparison(rows, path)
        print(path)
    draw_paired(rows, args)


def draw_paired(rows, args: argparse.Namespace) -> None:
    """Draw the pictures over seeds, for the variants whose values per seed are published."""
    from experiments import paired_figures

    there = set(rows.loc[rows["setting"] == "standard", "variant"])
    variants = tuple(name for name in protocol.PUBLISHED if name in there)
    for name, draw in (
        ("agreement", paired_figures.draw_agreement),
        ("ranks", paired_figures.draw_ranks),
    ):
        if variants:
            path = args.out / f"{name}.{args.format}"
            draw(rows, variants, path)
            print(path)
    if {"default", "a"} <= set(rows["variant"]):
        path = args.out / f"time.{args.format}"
        paired_figures.draw_time(rows, path)
        print(path)


def add_compare(commands) -> None:
    help_ = "our rows against the paper's tables and values per seed"
    parser = commands.add_parser("compare", help=help_, description=help_)
    add_rows_options(parser)
    parser.set_defaults(command=show_comparison)


def show_comparison(args: argparse.Namespace) -> int:
    from experiments import compare

    for line in compare.report(read_rows(args)):
        print(line)
    return 0
