"""Several processes behind one port: they share the model, count together and lose no request."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
import time
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest

import clearbands
from clearbands.apps.web import workers
from tests.served import documented_houses, linear_model, post_rows_to
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork"),
]
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")
HOUSE = {"area": 100, "rooms": 3, "town": "Bern"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model file, and another model for the same rows."""
    folder = tmp_path_factory.mktemp("workers")
    frame, price = documented_houses()
    clearbands.save(linear_model(frame, price), folder / "first.clear")
    clearbands.save(linear_model(frame, price + 1000), folder / "second.clear")
    return folder


@contextmanager
def running(folder, *options):
    """Start the service in two processes as users do; yield the first process and the port."""
    shutil.copy(folder / "first.clear", folder / "model.clear")
    with open(folder / "log", "w+") as log:
        process = subprocess.Popen(
            [SCRIPT, "serve", "model.clear", "--port", "0", "--workers", "2", *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            said = process.stdout.readline()
            port = int(re.search(r"http://127\.0\.0\.1:(\d+)", said)[1])
            wait_for(lambda: len(events(folder, "Application startup complete.")) == 2)
            yield process, port
            if process.returncode is None:  # the test did not end it
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) == 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # all processes, if any is left
            process.communicate(timeout=60)


@pytest.mark.parametrize("n_workers", ["1", "2"])
def test_what_keeps_the_service_from_starting_is_one_sentence(tmp_path, n_workers):
    frame, price = documented_houses()
    groups = frame["town"].to_numpy()
    model = linear_model(
        frame.drop("town"), price, calibration_groups=groups
    )  # no record says which column has the groups
    clearbands.save(model, tmp_path / "model.clear")
    done = subprocess.run(
        [SCRIPT, "serve", "model.clear", "--port", "0", "--workers", n_workers],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    said = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(said) == 1
    assert said[0].startswith("Error: The model was calibrated by group, with labels whose column")


def test_a_process_that_never_answers_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(workers, "READY_WITHIN", 0.3)
    to_read, to_write = os.pipe()
    try:
        with (
            workers.Signals() as signals,
            pytest.raises(workers.StartError, match="fewer --workers"),
        ):
            workers._wait_until_ready(to_read, signals)
    finally:
        os.close(to_read)
        os.close(to_write)


def events(folder, name):
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return [line for line in lines if line["event"] == name]


def workers_of(pid):
    return {int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def metrics(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


class Asking(threading.Thread):
    """A client that asks over one connection until told to end, and connects anew if it fails."""

    def __init__(self, port):
        super().__init__(daemon=True)  # so that the tests can end without it
        self.port, self.points, self.failures, self.done = port, [], [], threading.Event()

    def run(self):
        body = json.dumps({"rows": [HOUSE]})
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.done.is_set():
            try:
                connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                content = json.loads(answer.read())
                assert answer.status == 200, content
                self.points.append(content["predictions"][0]["prediction"])
            except Exception as error:  # noqa: BLE001
                self.failures.append(repr(error))
                connection.close()
        connection.close()


def test_a_model_is_read_again_without_a_lost_request(models):
    with running(models) as (process, port):
        before = workers_of(process.pid)
        threads = [Asking(port) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        shutil.copy(models / "second.clear", models / "model.new")
        (models / "model.new").rename(models / "model.clear")
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: events(models, "reloaded"))
        wait_for(lambda: not before & workers_of(process.pid))
        time.sleep(0.5)
        for thread in threads:
            thread.done.set()
            thread.join()
        assert [thread.failures for thread in threads] == [[]] * 4
        for thread in threads:
            assert len(thread.points) > 5
            first, last = thread.points[0], thread.points[-1]
            assert last == pytest.approx(first + 1000, rel=0.01)
            assert set(np.diff(thread.points)) <= {0.0, last - first}
        total = sum(len(thread.points) for thread in threads)
        counted = metrics(port)  # all four processes counted
        assert counted["clearbands_rows_total"] == total
        assert sum(name.startswith("clearbands_model{") for name in counted) == 1


def test_what_goes_wrong_does_not_end_the_service(models):
    """An unreadable model file changes nothing, and a process that dies is replaced."""
    with running(models) as (process, port):
        (models / "model.clear").write_bytes(b"nonsense")
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: events(models, "reload failed"))
        assert "model.clear" in events(models, "reload failed")[0]["error"]
        assert post_rows_to(port, [HOUSE])[0] == 200

        victim = min(workers_of(process.pid))
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: len(events(models, "Application startup complete.")) == 3)
        wait_for(lambda: len(workers_of(process.pid) - {victim}) == 2)
        assert post_rows_to(port, [HOUSE])[0] == 200

        # The service must end even while it waits before it replaces a process.
        os.kill(min(workers_of(process.pid)), signal.SIGKILL)
        wait_for(lambda: len(events(models, "worker died")) == 2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_when_the_first_process_is_killed_the_others_leave(models):
    """Without the first process nobody could tell the others to end."""
    with running(models) as (process, _):
        others = workers_of(process.pid)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in others))


def test_the_processes_share_the_memory_of_the_model(models, tmp_path):
    """With a model of some 60 MB, each process has less than half of it to itself."""
    frame, price = documented_houses()
    model = linear_model(frame, price)
    model.ballast_ = np.random.default_rng(0).normal(size=8_000_000)
    clearbands.save(model, tmp_path / "first.clear")
    small, large = {}, {}
    for folder, found in ((models, small), (tmp_path, large)):
        with running(folder) as (process, port):
            for _ in range(20):
                post_rows_to(port, [HOUSE])
            for worker in workers_of(process.pid):
                text = Path(f"/proc/{worker}/smaps_rollup").read_text()
                found[worker] = int(re.search(r"Private_Dirty:\s+(\d+)", text)[1]) / 1000
    assert max(large.values()) - max(small.values()) < 32
