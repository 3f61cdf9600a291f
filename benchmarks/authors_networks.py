"""The authors' networks on the benchmark's splits: `python -m benchmarks.authors_networks`

Prints the quantile loss and NCIW of their SQR or deep ensemble (DE) on single splits beside the
means of ten that the paper prints: are differences between the paper's networks and ours due to the
networks? The authors' package runs in an environment of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.end_to_end import ONE_THREAD, load_rows
from benchmarks.environment import ROOT, authors_python
from benchmarks.rows import LEVEL
from clearbands import metrics
from experiments import compare
from experiments.protocol import FIRST_SEED

MEMBERS = {"SQR": 3, "DE": 5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=list(MEMBERS))
    parser.add_argument("--datasets", nargs="+", default=["energy_efficiency"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[FIRST_SEED])
    parser.add_argument("--members", type=int, help="by default 3 of SQR, 5 of DE, as in the paper")
    parser.add_argument(
        "--draws", type=int, default=1, help="trainings per split: how much is luck"
    )
    args = parser.parse_args()
    python = authors_python()
    paper = compare.printed_means("deep", "standard")
    members = args.members or MEMBERS[args.part]
    print("| dataset | seed | draw | quantile loss | paper | NCIW | paper |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, seed, draw in product(args.datasets, args.seeds, range(args.draws)):
        loss, width = run(python, args.part, name, seed, members, draw)
        printed = [paper[metric].at[name, args.part] for metric in ("quantile_loss", "nciw")]
        values = " | ".join(f"{value:.3g}" for value in (loss, printed[0], width, printed[1]))
        print(f"| {name} | {seed} | {draw} | {values} |", flush=True)


def run(
    python: Path, part: str, name: str, seed: int, members: int, draw: int
) -> tuple[float, float]:
    rows, y_test = load_rows(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        row_file, out_file = Path(folder) / "rows.npz", Path(folder) / "out.npz"
        np.savez(row_file, **rows._asdict())
        command = [str(python), "-m", "benchmarks.peer_networks", part, str(members), str(draw)]
        done = subprocess.run(
            [*command, str(row_file), str(out_file)],
            cwd=ROOT,
            env=ONE_THREAD,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{part} on {name} failed:\n{done.stderr[-2000:]}")
        out = np.load(out_file)
    bounds = out["bounds"]
    return (
        metrics.quantile_loss(y_test, bounds, LEVEL),
        metrics.nciw(y_test, out["center"], bounds, LEVEL),
    )


if __name__ == "__main__":
    main()
