"""Fits on tables larger than memory, and with several workers, as docs/scaling.md reports them.

    python -m benchmarks.scaling table 10000000 big.parquet
    python -m benchmarks.scaling fit big.parquet --work big.work --limit-gb 4 --save big.clear
    python -m benchmarks.scaling predict big.clear big.parquet bands.parquet --limit-gb 4
    python -m benchmarks.scaling fit million.parquet --how memory
    python -m benchmarks.scaling members

Each run is appended to `benchmarks/results/scaling.csv`, with the load of the machine at its start.
CPU seconds can be compared between runs, but wall-clock seconds only on a calm machine.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import load_average, measure

RESULTS = Path(__file__).parent / "results" / "scaling.csv"
COLUMNS = (
    *("started", "what", "how", "rows", "columns", "members", "trees", "engine", "workers"),
    *("limit_gb", "cpu_seconds", "wall_seconds", "peak_mb", "picp", "width", "load"),
)
CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings that reduce Dask's monitoring, which takes time from workers without a spare core."""
N_COLUMNS = 20
ROWS_AT_ONCE = 250_000
TEST_ROWS = 100_000
GROUPS = Path("/sys/fs/cgroup/memory")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("table", help="write a table of so many rows")
    table.add_argument("rows", type=int)
    table.add_argument("out", type=Path)
    table.add_argument("--seed", type=int, default=0)
    table.set_defaults(command=write_table)
    fit = commands.add_parser("fit", help="fit on a table, predict rows that it does not have")
    fit.add_argument("table", type=Path)
    fit.add_argument("--how", choices=["files", "memory"], default="files")
    fit.add_argument("--work")
    fit.add_argument("--engine", choices=["threads", "processes", "dask"], default="threads")
    fit.add_argument("--workers", type=int, default=2)
    fit.add_argument("--trees", type=int, default=100)
    fit.add_argument("--folds", type=int, default=10)
    fit.add_argument("--repeats", type=int, default=2)
    fit.add_argument("--limit-gb", type=float, default=0, help="a hard limit, by a control group")
    fit.add_argument("--save", type=Path, help="a file for the model")
    fit.set_defaults(command=fit_table)
    predict = commands.add_parser("predict", help="all rows of a table, by the command clearbands")
    predict.add_argument("model", type=Path)
    predict.add_argument("table", type=Path)
    predict.add_argument("out", type=Path)
    predict.add_argument("--workers", type=int, default=2)
    predict.add_argument("--limit-gb", type=float, default=0)
    predict.set_defaults(command=predict_table)
    stages = commands.add_parser("stages", help="CPU seconds of every step, on one thread")
    stages.add_argument("table", type=Path)
    stages.add_argument("--trees", type=int, default=100)
    stages.set_defaults(command=time_stages)
    members = commands.add_parser("members", help="coverage by how many members speak of a row")
    members.set_defaults(command=cover_by_members)
    args = parser.parse_args(arguments)
    return args.command(args)


def write_table(args: argparse.Namespace) -> int:
    """Write a table of numbers and small whole numbers, with an interaction and uneven noise."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for start in range(0, args.rows, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, args.rows - start)
        columns = make_rows(size, np.random.default_rng([args.seed, start]))
        batch = pa.table(columns)
        writer = pq.ParquetWriter(args.out, batch.schema) if writer is None else writer
        writer.write_table(batch)
    assert writer is not None
    writer.close()
    return 0


def make_rows(size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    numbers = rng.normal(size=(16, size)).astype(np.float32)
    whole = rng.integers(0, 12, size=(4, size)).astype(np.int16)
    noise = 0.3 + 0.5 * (numbers[4] > 0.5) + 0.05 * whole[1]
    y = (
        2 * np.sin(2 * numbers[0])
        + numbers[1] * numbers[2]
        + 0.2 * whole[0]
        + np.maximum(numbers[3], 0)
        + noise * rng.normal(size=size)
    )
    columns = {f"x{j}": column for j, column in enumerate(numbers)}
    columns |= {f"k{j}": column for j, column in enumerate(whole)}
    return {**columns, "y": y.astype(np.float64)}


def fit_table(args: argparse.Namespace) -> int:
    """Fit a model and predict new rows; append a row of results for each of the two."""
    if args.limit_gb:
        limit_memory(args.limit_gb)
    import polars as pl

    model = make_model(args.trees, args.folds, args.repeats, args.workers)
    n_rows = int(pl.scan_parquet(args.table).select(pl.len()).collect().item())
    row: dict[str, Any] = {
        "started": datetime.now().isoformat(timespec="seconds"),
        "how": args.how,
        "rows": n_rows,
        "columns": N_COLUMNS,
        "members": args.folds * args.repeats,
        "trees": args.trees,
        "engine": args.engine if args.how == "files" else "",
        "workers": args.workers,
        "limit_gb": args.limit_gb,
        "load": round(load_average(), 1),
    }
    if args.how == "files":
        with workers(args) as engine:
            _, cost = measure(
                lambda: model.fit(str(args.table), "y", work=args.work, engine=engine)
            )
    else:
        table = pl.read_parquet(args.table)
        X, y = table.drop("y").cast(pl.Float64).to_numpy(), table["y"].to_numpy()
        del table
        _, cost = measure(lambda: model.fit(X, y))
    append({**row, "what": "fit", **shown(cost)})
    if args.save is not None:
        from clearbands import save

        save(model, args.save)
    new = make_rows(TEST_ROWS, np.random.default_rng([1, 0]))
    target = new.pop("y")
    rows = pl.DataFrame(new)
    given = rows if args.how == "files" else rows.cast(pl.Float64).to_numpy()
    (_, intervals), cost = measure(lambda: model.predict_interval(given))
    inside = (intervals[:, 0, 0] <= target) & (target <= intervals[:, 1, 0])
    quality = {
        "picp": round(float(inside.mean()), 4),
        "width": round(float((intervals[:, 1, 0] - intervals[:, 0, 0]).mean()), 4),
    }
    append({**row, "what": "predict", "rows": TEST_ROWS, **shown(cost), **quality})
    return 0


def predict_table(args: argparse.Namespace) -> int:
    """Predict a whole table; append a row of results, with the share of targets inside."""
    if args.limit_gb:
        limit_memory(args.limit_gb)
    import polars as pl

    from clearbands.apps.cli.commands import app

    started, load = datetime.now().isoformat(timespec="seconds"), round(load_average(), 1)
    files = [str(args.model), str(args.table), "--out", str(args.out)]
    command = ["predict", *files, "--jobs", str(args.workers)]
    _, cost = measure(lambda: app(command, standalone_mode=False))
    bounds, y = pl.scan_parquet(args.out), pl.scan_parquet(args.table).select("y")
    inside = pl.col("y").is_between("lower", "upper")
    facts = pl.concat([bounds.select("lower", "upper"), y], how="horizontal").select(
        rows=pl.len(), picp=inside.mean(), width=(pl.col("upper") - pl.col("lower")).mean()
    )
    found = facts.collect(engine="streaming").row(0, named=True)
    same = {"started": started, "how": "files", "columns": N_COLUMNS, "engine": "threads"}
    given = {"workers": args.workers, "limit_gb": args.limit_gb, "load": load}
    quality = {name: round(found[name], 4) for name in ("rows", "picp", "width")}
    append({**same, **given, "what": "predict", **shown(cost), **quality})
    return 0


def make_model(trees: int, folds: int, repeats: int, n_jobs: int) -> Any:
    """Return a model whose center has folds x repeats members, and half as many for the noise."""
    from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals, SymmetricTrees

    return ClearRegressor(
        FoldedEnsemble(SymmetricTrees(n_trees=trees), folds, repeats),
        ScaledResiduals(SymmetricTrees(n_trees=trees, max_depth=4, learning_rate=0.1)),
        show_center=True,
        n_jobs=n_jobs,
        random_state=0,
    )


def time_stages(args: argparse.Namespace) -> int:
    """Print the CPU seconds of every step, with which `benchmarks.scaling_model` computes."""
    seconds: dict[str, float] = {}
    counts: dict[str, int] = {}
    last = time.process_time()

    def listen(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.process_time()
        name = stage if done else "in the driver alone"  # the time before a step began
        seconds[name] = seconds.get(name, 0.0) + now - last
        counts[stage] = total
        last = now

    model = make_model(args.trees, 10, 2, 1)
    model.fit(str(args.table), "y", engine="threads", progress=listen)
    seconds["in the driver alone"] += time.process_time() - last
    print("| step | tasks | CPU seconds in all | of one |\n| --- | ---: | ---: | ---: |")
    for name, taken in seconds.items():
        count = counts.get(name, 1)
        print(f"| {name} | {count} | {taken:.1f} | {taken / count:.2f} |")
    return 0


def cover_by_members(args: argparse.Namespace) -> int:
    """Print the coverage around the center of all members, and around that of two members."""
    (X, y), (X_new, y_new) = (_arrays(TEST_ROWS, seed) for seed in (0, 1))
    model = make_model(100, 10, 2, 1).fit(X, y)
    point, intervals = model.predict_interval(X_new)
    members = model.epistemic_.predict_members(X_new)
    centers = {"20": point, "2": members[:, [0, 10]].mean(axis=1)}
    print("| members | coverage at 90 % | RMSE of the center |\n| ---: | ---: | ---: |")
    for name, center in centers.items():
        low, high = (intervals[:, :, 0] + (center - point)[:, None]).T
        inside, error = (low <= y_new) & (y_new <= high), y_new - center
        print(f"| {name} | {inside.mean():.3f} | {np.sqrt(np.mean(error**2)):.4f} |")
    return 0


def _arrays(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    columns = make_rows(size, np.random.default_rng([seed, 0]))
    y = columns.pop("y")
    return np.column_stack([*columns.values()]).astype(float), y


def workers(args: argparse.Namespace) -> Any:
    """Return a context manager of the engine, which starts a cluster if Dask is asked for."""
    from contextlib import contextmanager

    @contextmanager
    def made():
        if args.engine != "dask":
            yield args.engine
            return
        import dask
        from distributed import Client, LocalCluster

        from clearbands.scaling.engines import DaskCluster

        with (
            dask.config.set(CALM),
            LocalCluster(
                n_workers=args.workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            Client(cluster) as client,
        ):
            yield DaskCluster(client=client)

    return made()


def limit_memory(gigabytes: float) -> None:
    """Put this process, and those that it starts, into a control group with this memory limit."""
    group = GROUPS / f"clearbands-{os.getpid()}"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(int(gigabytes * 2**30)))
    (group / "cgroup.procs").write_text(str(os.getpid()))


def shown(cost: Any) -> dict[str, float]:
    return {
        "cpu_seconds": round(cost.cpu_seconds, 1),
        "wall_seconds": round(cost.wall_seconds, 1),
        "peak_mb": round(cost.peak_mb),
    }


def append(row: dict[str, Any]) -> None:
    is_new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print({name: value for name, value in row.items() if value != ""}, flush=True)


if __name__ == "__main__":
    sys.exit(main())
