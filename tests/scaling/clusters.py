"""A Dask cluster of real processes, which tests may kill."""

import os
import signal
import socket
import subprocess
import sys
import time

# Code that starts a worker as on a machine without this package.
WITHOUT = "import sys; sys.modules['clearbands'] = None; "
RUN = "from distributed.cli.dask_{0} import main; sys.argv[0] = '{0}'; main()"


class Processes:
    """A scheduler and workers, each in a process of its own."""

    def __init__(self, folder):
        self.folder, self.address, self.running = folder, f"tcp://127.0.0.1:{free_port()}", []

    def start_scheduler(self):
        port = self.address.rpartition(":")[2]
        quiet = ["--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show"]
        return self._start("import sys; " + RUN.format("scheduler"), quiet)

    def start_worker(self, *, with_package=True):
        code = ("import sys; " if with_package else WITHOUT) + RUN.format("worker")
        own = ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
        return self._start(code, [self.address, *own, "--local-directory", str(self.folder)])

    def stop(self):
        for process in self.running:
            process.kill()
            process.wait(timeout=30)

    def _start(self, code, arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.running.append(process)
        return process


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def kill(*pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def pids_of(engine):
    """Return the process ids of an engine's idle workers."""
    return [worker.process.pid for worker in engine._idle]


class KillOnce:
    """A listener that calls `action` once, when `done` steps of a stage are done."""

    def __init__(self, stage, done, action):
        self.stage, self.done, self.action, self.seen = stage, done, action, []

    def __call__(self, stage, done, total):
        self.seen.append((time.monotonic(), stage, done, total))
        if self.action is not None and stage == self.stage and self.done <= done < total:
            action, self.action = self.action, None
            action()
