"""The authors' networks on the benchmark's splits: `python -m benchmarks.authors_networks CLEAR`

The script trains their simultaneous quantiles (SQR), their deep ensemble (DE) or, for CLEAR, the
ensemble and quantiles of its residuals. The table has their published values for the same splits,
the values of their program here, and ours. It tells whether differences are due to the networks or
to luck. Their package runs in an environment of its own. Rows are appended to a file as they
finish, and existing rows are not run again.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.end_to_end import ONE_THREAD, load_rows
from benchmarks.environment import ROOT, authors_python
from benchmarks.rows import LEVEL
from clearbands import metrics
from experiments import datasets, protocol, results, their_networks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=their_networks.METHODS)
    parser.add_argument("--datasets", nargs="+", default=["energy_efficiency"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[protocol.FIRST_SEED])
    parser.add_argument(
        "--draws", type=int, default=1, help="trainings per split: how much is luck"
    )
    parser.add_argument(
        "--metric", choices=their_networks.METRICS, default="quantile_loss", help="to be shown"
    )
    args = parser.parse_args()
    path, schema = their_networks.ROWS.path, their_networks.ROWS
    results.prepare(path, schema)
    done = results.known(path, schema=schema)
    splits = product(args.datasets, args.seeds, range(args.draws))
    missing = [split for split in splits if ("authors", *split, args.part) not in done]
    if missing:
        python = authors_python()
        for split in missing:
            results.append(path, *play(python, args.part, *split), schema=schema)
    print("\n".join(their_networks.each_split(args.datasets, args.seeds, args.metric)))


def play(python: Path, part: str, name: str, seed: int, draw: int) -> Iterator[dict[str, Any]]:
    """Train one part on one split; yield a row for each method that it gives."""
    rows, y_test = load_rows(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        row_file, out_file = Path(folder) / "rows.npz", Path(folder) / "out.npz"
        np.savez(row_file, **rows._asdict())
        command = [str(python), "-m", "benchmarks.peer_networks", part, str(draw)]
        done = subprocess.run(
            [*command, str(row_file), str(out_file)],
            cwd=ROOT,
            env=ONE_THREAD,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{part} on {name} failed:\n{done.stderr[-2000:]}")
        with np.load(out_file) as file:
            out = dict(file)
    seconds = round(float(out.pop("cpu_seconds")), 1)
    for method, (center, *bounds) in out.items():
        scores = metrics.evaluate(y_test, center, np.stack(bounds, axis=1), LEVEL)
        key = {"way": "authors", "dataset": name, "seed": seed, "draw": draw, "method": method}
        yield {**key, **scores, "cpu_seconds": seconds}


if __name__ == "__main__":
    datasets.run(main)
