"""The cost of whole fits of the default: `python -m benchmarks.whole [SECTION ...]`

The sections are the cost of data of several shapes, each in a process of its own that has warmed
up; the default beside the former one; and the time until an interrupt ends a fit.
CPU seconds are those of all threads together.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sklearn.datasets import make_friedman1

from benchmarks.engine import in_process, smooth
from benchmarks.measure import Cost, load_average, measure
from benchmarks.tables import markdown
from clearbands import ClearRegressor
from experiments.defaults import former_default

SHAPES = ((4_000, 30), (1_000, 2_000), (500, 10_000), (200, 10_000), (100_000, 20))
FIT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have made us deaf
from benchmarks.engine import smooth
from clearbands import ClearRegressor
X, y = smooth(4_000, 30)
ClearRegressor(random_state=0).fit(X[:100], y[:100])
print("fits", flush=True)
ClearRegressor(random_state=0).fit(X, y)
"""
AFTER = (0.5, 2.0, 5.0)  # the seconds after which a fit is interrupted


def fit_cost(n_rows: int, n_columns: int) -> tuple[Cost, float]:
    """Return the cost of a fit, and the CPU seconds of predicting some of its rows."""
    X, y = smooth(n_rows, n_columns)
    ClearRegressor(random_state=0).fit(X[:100, :10], y[:100])
    model, cost = measure(lambda: ClearRegressor(random_state=0).fit(X, y))
    return cost, measure(lambda: model.predict_interval(X[:1000]))[1].cpu_seconds


def shapes(asked: Sequence[tuple[int, int]] = SHAPES) -> str:
    rows = []
    for shape in asked:
        cost, prediction = in_process(fit_cost, *shape)
        rows.append(
            (
                " x ".join(f"{n:,}" for n in shape),
                f"{cost.cpu_seconds:.0f}",
                f"{cost.wall_seconds:.0f}",
                f"{cost.peak_mb:,.0f}",
                f"{cost.above_mb:,.0f}",
                f"{1e3 * prediction / min(shape[0], 1000):.2f}",
                f"{load_average():.1f}",
            )
        )
    header = ("data", "CPU, s", "wall, s", "peak memory, MB", "of it above the inputs, MB")
    return markdown((*header, "predicting a row, CPU, ms", "load"), rows)


def interrupt() -> str:
    """Return a table of the times from the signal to the end of the process."""
    rows = []
    for after in AFTER:
        fitting = subprocess.Popen(
            [sys.executable, "-c", FIT],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert fitting.stdout is not None
        fitting.stdout.readline()
        time.sleep(after)
        fitting.send_signal(signal.SIGINT)
        start, used = time.perf_counter(), _cpu_seconds(fitting.pid)
        _, status, usage = os.wait4(fitting.pid, 0)
        took, used = time.perf_counter() - start, usage.ru_utime + usage.ru_stime - used
        ended = "interrupted" if status else "had ended before"
        rows.append((f"{after:g}", f"{took:.1f}", f"{used:.1f}", ended, f"{load_average():.1f}"))
    return markdown(("after, s", "until the end, s", "of CPU, s", "the fit", "load"), rows)


def _cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process of Linux has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


BESIDE = ((20_000, 8), (100_000, 20))
NEW_ROWS = 100_000
SINGLE_ROWS = 50


def beside_cost(which: str, n_rows: int, n_columns: int) -> tuple[float, float, float]:
    """Return the CPU seconds of a fit, of intervals for 100,000 rows, and for one row."""
    X, y = make_friedman1(n_rows, n_columns, noise=1.0, random_state=0)
    new = make_friedman1(NEW_ROWS, n_columns, random_state=1)[0]
    make = ClearRegressor if which == "default" else partial(former_default, n_rows)
    make().set_params(random_state=0).fit(X[:100], y[:100]).predict_interval(X[:1])
    model, fit = measure(lambda: make().set_params(random_state=0).fit(X, y))
    many = measure(lambda: model.predict_interval(new))[1]
    singles = measure(lambda: [model.predict_interval(row[None]) for row in new[:SINGLE_ROWS]])[1]
    return fit.cpu_seconds, many.cpu_seconds, singles.cpu_seconds / SINGLE_ROWS


def beside() -> str:
    """Return a table of the default beside the default from before parts competed."""
    rows = []
    for shape in BESIDE:
        ours, former = (in_process(beside_cost, which, *shape) for which in ("default", "former"))
        cells = [
            f"{new:.4g} / {old:.4g} = {new / old:.2f}"
            for new, old in zip(ours, former, strict=True)
        ]
        rows.append((" x ".join(f"{n:,}" for n in shape), *cells, f"{load_average():.1f}"))
    return markdown(("data", "fit, s", f"{NEW_ROWS:,} rows, s", "one row, s", "load"), rows)


SECTIONS = {"shapes": shapes, "beside": beside, "interrupt": interrupt}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", default=list(SECTIONS))
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in args.sections:
        print(f"## {name}\n\n{SECTIONS[name]()}\n", flush=True)


if __name__ == "__main__":
    main()
