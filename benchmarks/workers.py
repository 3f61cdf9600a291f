"""Processes of `clearbands serve` beside uvicorn's own: `python -m benchmarks.workers`.

For each, the script prints the number of processes, the seconds and the CPU seconds until all of
them answer, their memory (proportional set size, in which shared memory counts once), and how many
requests fail while SIGHUP makes them read the model again. It needs Linux.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import clearbands

MODEL = "CLEARBANDS_BENCHMARK_MODEL"  # this variable names the file that uvicorn's processes load
RELOAD_SECONDS = 12.0
WARM_REQUESTS = 200


def make_app() -> object:
    """Create the service; each of uvicorn's processes calls this."""
    from clearbands.apps.web.service import create_app

    return create_app(clearbands.load(os.environ[MODEL]), n_threads=1)


def measure(command: list[str], port: int, n_workers: int, log: Path) -> str:
    started = time.monotonic()
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, start_new_session=True)
    try:
        while log.read_text().count("Application startup complete") < n_workers:
            if process.poll() is not None:
                return f"ended: {log.read_text()[-300:]}"
            time.sleep(0.05)
        seconds = time.monotonic() - started
        for _ in range(WARM_REQUESTS):
            _ask(port)
        family = _family(process.pid)
        memory, cpu = sum(map(_memory, family)), sum(map(_cpu, family))
        process.send_signal(signal.SIGHUP)
        answers, until = [], time.monotonic() + RELOAD_SECONDS
        while time.monotonic() < until:
            answers.append(_ask(port))
        failed = answers.count(False)
        return (
            f"{len(family)} processes, {seconds:.1f} s, {cpu:.1f} s of CPU, {memory:.0f} MB; "
            f"SIGHUP: {failed:,} of {len(answers):,} requests fail"
        )
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ask(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"rows": [{f"x{j}": 0.1 for j in range(8)}]})
    try:
        connection.request("POST", "/predict", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        answer.read()
    except OSError:
        return False
    finally:
        connection.close()
    return answer.status == 200


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _family(int(child)))]


def _memory(pid: int) -> float:
    match = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())
    return int(match[1]) / 1024 if match else 0.0


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def main() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # otherwise nohup would keep the signal from them
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 8))
    y = X[:, 0] + X[:, 1] ** 2 + np.sin(3 * X[:, 2]) + rng.normal(size=len(X)) * (1 + abs(X[:, 3]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clear"
        table = pl.DataFrame({f"x{j}": X[:, j] for j in range(8)})
        clearbands.save(clearbands.ClearRegressor(random_state=0, n_jobs=-1).fit(table, y), path)
        os.environ[MODEL] = str(path)
        for n in (options.workers, 1):
            for name, words in {
                "clearbands": ["from clearbands.apps.cli import main; main()", "serve", str(path)],
                "uvicorn": [
                    "import uvicorn; uvicorn.main()",
                    "benchmarks.workers:make_app",
                    "--factory",
                ],
            }.items():
                port = _free_port()
                command = [sys.executable, "-c", *words, "--port", str(port), "--workers", str(n)]
                figures = measure(command, port, n, Path(folder) / "log")
                sys.stdout.write(f"{name}, {n} workers: {figures}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
