"""Servers in processes of their own, on ports of this machine; `python -m tests.fuzz.loopback`."""

from __future__ import annotations

import atexit
import http.client
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clearbands.apps.web import server
from clearbands.apps.web.explore import create_page, make_scene
from clearbands.apps.web.service import Limits, create_app
from tests.served import COLUMNS, houses, linear_model, small_model

ROOT = Path(__file__).parents[2]
TOKEN = "token"
MOST_GROWTH = 0.05  # how much memory may grow from the second to the last quarter of requests
FEWEST = 2000  # the least number of requests that shows whether memory is flat


class Answer(NamedTuple):
    status: int
    text: str


class Server:
    """A child process that serves one of `APPS` until this process ends."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "tests.fuzz.loopback", name]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes, text=True, cwd=ROOT)
        atexit.register(self.close)
        self.port = int(self.process.stdout.readline())
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method: str, address: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        try:
            self.connection.request(method, address, body, dict(headers))
            answer = self.connection.getresponse()
            return Answer(answer.status, answer.read().decode("utf-8", "replace"))
        finally:
            self.connection.close()  # an unread rest must not reach the next answer

    def close(self) -> None:
        self.process.communicate()  # the child ends when its standard input closes

    def memory(self) -> float | None:
        """Return the resident megabytes; None where the system does not tell."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return None
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmRSS"].split()[0]) / 1024


def memory_is_flat(measured: list[float | None]) -> None:
    """Check that memory does not grow, from its size after every request in order."""
    known = [value for value in measured if value is not None]
    if len(known) < FEWEST:
        return
    _, second, _, last = np.array_split(known, 4)
    growth = np.median(last) / np.median(second) - 1
    assert growth < MOST_GROWTH, (
        f"memory grew by {growth:.0%}, from {np.median(second):.0f} to {np.median(last):.0f} MB, "
        f"over {len(known):,} requests"
    )


def with_an_outlier():
    """A model whose tails reach far."""
    frame = houses(160)
    y = frame["price"].to_numpy().copy()
    y[7] = 5000  # this row calibrates, so no width was learned from it
    model = linear_model(frame.select(COLUMNS), y, confidence_level=[0.9, 0.5])
    assert model.any_level_.positions.max() > 100, "the outlier trains: take another row"
    return model


def _service():
    limits = Limits(rows=100, bytes=20_000)
    return create_app(with_an_outlier(), limits=limits, token=TOKEN, allow_updates=True)


def _explore():
    frame = houses(60, seed=1)
    models = {"a": small_model(), "b": with_an_outlier()}
    return create_page(make_scene(models, frame, frame["price"].to_numpy()))


APPS = {"service": _service, "explore": _explore}


def _end_with_standard_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main(name: str) -> None:
    app = APPS[name]()
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    listener = server.listen("127.0.0.1", 0)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    server.run(app, listener, grace=1)


if __name__ == "__main__":
    main(sys.argv[1])
