"""The service under load: its requests per second, latency and memory.

`python -m benchmarks.service` fits a model as `clearbands demo` does, starts `clearbands serve` in
processes of its own, and sends it single rows over several connections that stay open.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import numpy as np

from benchmarks.measure import load_average

PARTS = 5  # the parts of the run, after each of which memory is read


@dataclass(frozen=True)
class Load:
    requests: int
    connections: int
    rows: int  # the rows of one request
    workers: int  # the processes of the service


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1, help="of one request")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service")
    given = parser.parse_args(arguments)
    load = Load(given.requests, given.connections, given.rows, given.workers)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.clear"
        body = make_model(model, load.rows)
        with serving(model, load.workers) as (pid, port):
            run(load, pid, port, body)


def make_model(path: Path, n_rows: int) -> bytes:
    """Save a model of the demo's data; return the body of a request with some of its rows."""
    import polars as pl
    from sklearn.datasets import load_diabetes

    from clearbands import ClearRegressor, save

    data = load_diabetes(scaled=False)
    X = pl.DataFrame(dict(zip(data.feature_names, data.data.T, strict=True)))
    model = ClearRegressor(random_state=0, n_jobs=-1).fit(X, data.target)
    print(f"The model of the center is {model.leaderboard_[0].center}.", flush=True)
    save(model, path)
    rows = X.head(n_rows).to_dicts()
    return json.dumps({"rows": rows}).encode()


@contextmanager
def serving(model: Path, workers: int) -> Iterator[tuple[int, int]]:
    """Yield the first process and the port of a service, which must end without an error."""
    script = Path(sysconfig.get_path("scripts")) / "clearbands"
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [script, "serve", model, "--port", "0", "--workers", str(workers)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            found = re.search(r":(\d+);", process.stdout.readline())
            yield process.pid, int(found[1])
        finally:
            process.send_signal(signal.SIGTERM)
            if process.wait(60) != 0:
                log.seek(0)
                sys.exit(f"The service failed: {log.read().decode()[-2000:]}")


def run(load: Load, pid: int, port: int, body: bytes) -> None:
    for _ in range(10):  # warms up all processes, as a new connection may meet another one
        ask(port, body, 20)
    memory = [resident_mb(pid)]
    seconds, cpu, latencies = 0.0, cpu_seconds(pid), []
    for _ in range(PARTS):
        started = time.perf_counter()
        latencies += ask_from_all(load, port, body, load.requests // PARTS)
        seconds += time.perf_counter() - started
        memory.append(resident_mb(pid))
        print(f"{len(latencies):,} requests, {memory[-1]:.0f} MB", flush=True)
    cpu = cpu_seconds(pid) - cpu
    median, high = 1000 * np.quantile(latencies, [0.5, 0.99])
    print(
        "\n| workers | requests | rows each | connections | requests/s | service CPU, ms each "
        "| median, ms | 99 %, ms | memory before, MB | after, MB | load |"
        "\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        f"\n| {load.workers} | {len(latencies):,} | {load.rows:,} | {load.connections} "
        f"| {len(latencies) / seconds:.0f} | {1000 * cpu / len(latencies):.1f} "
        f"| {median:.1f} | {high:.1f} "
        f"| {memory[0]:.0f} | {memory[-1]:.0f} | {load_average():.1f} |"
    )


def ask_from_all(load: Load, port: int, body: bytes, count: int) -> list[float]:
    """Return the seconds of every request; each connection sends one request after another."""
    latencies: list[float] = []
    failures: list[BaseException] = []

    def work(share: int) -> None:
        try:
            latencies.extend(ask(port, body, share))
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    shares = [
        count // load.connections + (i < count % load.connections) for i in range(load.connections)
    ]
    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return latencies


def ask(port: int, body: bytes, count: int) -> list[float]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    seconds = []
    for _ in range(count):
        started = time.perf_counter()
        connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        seconds.append(time.perf_counter() - started)
        if answer.status != 200:
            raise RuntimeError(f"Status {answer.status}: {content[:200]!r}")
    connection.close()
    return seconds


def processes(pid: int) -> list[int]:
    """Return the first process and those that serve."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def resident_mb(pid: int) -> float:
    """Return the memory of all processes; memory that several of them share counts once."""
    texts = [Path(f"/proc/{each}/smaps_rollup").read_text() for each in processes(pid)]
    found = [re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE) for text in texts]
    return sum(int(match[1]) for match in found if match) * 1024 / 1e6


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of all threads of all processes, user and system."""
    stats = [Path(f"/proc/{each}/stat").read_text() for each in processes(pid)]
    fields = [text.rpartition(")")[2].split() for text in stats]
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
