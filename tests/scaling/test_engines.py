"""Engines whose processes are killed, fail, or are abandoned."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from clearbands.scaling.engines import LostWorkers, Processes
from tests.scaling.clusters import kill, pids_of
from tests.waiting import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def engine():
    found = Processes(2)
    yield found
    found.close()


def own_pid_after(seconds):
    time.sleep(seconds)
    return os.getpid()


class Stubborn(Exception):
    """An exception that can be pickled, but not unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def fail(kind, *words):
    raise kind(*words)


class Unknown:
    """A class that can be pickled, but not unpickled, as one that the user's script defines."""

    def __reduce__(self):
        return fail, (AttributeError, "there is no such class")


def test_a_process_that_dies_takes_no_other_with_it(engine):
    victim, other = engine.run([partial(own_pid_after, 0.5)] * 2)
    engine._idle.sort(key=lambda worker: worker.process.pid == other)
    results = engine.run([partial(own_pid_after, 1), *[partial(own_pid_after, 0.01)] * 20])
    found = [next(results)]
    kill(victim)  # it has at most one of the 21 tasks
    with pytest.raises(LostWorkers, match="A worker process died"):
        found.extend(results)
    assert other in found
    assert len(found) >= 20


@pytest.mark.parametrize("n_killed", [1, 2])
def test_processes_that_die_while_nothing_is_to_do(engine, n_killed):
    """The engine starts a new process as soon as it notices that one died."""
    for _ in range(5):
        assert len(list(engine.run([partial(own_pid_after, 0.2)] * n_killed))) == n_killed
        gone = pids_of(engine)[:n_killed]
        kill(*gone)
        found = []
        with pytest.raises(LostWorkers):
            found.extend(engine.run([os.getpid] * 10))
        assert not set(gone) & set(found)
        assert len(found) == 10 - len(gone)


def test_what_a_task_raises_is_raised_with_the_place(engine):
    with pytest.raises(KeyError, match="no such town") as raised:
        list(engine.run([partial(fail, KeyError, "no such town")]))
    (note,) = raised.value.__notes__
    assert "in fail" in note
    with pytest.raises(RuntimeError, match="Stubborn: heart and head"):
        list(engine.run([partial(fail, Stubborn, "heart", "head")]))
    with pytest.raises(AttributeError, match="there is no such class"):
        list(engine.run([partial(print, Unknown())]))
    assert sorted(engine.run([partial(abs, -1), partial(abs, -2)])) == [1, 2]


DRIVER = """
import signal
import time
from functools import partial
from clearbands.scaling.engines import Processes
from tests.scaling.clusters import pids_of

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start tests without it
engine = Processes(2)
list(engine.run([partial(time.sleep, 0.3)] * 2))
print(*pids_of(engine), flush=True)
{then}
"""


def start(then):
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return driver, [Path(f"/proc/{pid}") for pid in driver.stdout.readline().split()]


def assert_gone(processes):
    assert len(processes) == 2
    wait_for(lambda: not any(process.exists() for process in processes), seconds=30)


needs_proc = pytest.mark.skipif(not Path("/proc").exists(), reason="/proc is not there")


@needs_proc
def test_processes_leave_with_who_started_them():
    ends, processes = start(then="")
    assert ends.communicate(timeout=60) == ("", "")
    assert_gone(processes)
    waits, processes = start(then="time.sleep(60)")
    waits.kill()
    waits.communicate(timeout=60)
    assert_gone(processes)


@needs_proc
def test_ctrl_c_ends_them_and_is_told_once():
    driver, processes = start(then="list(engine.run([partial(time.sleep, 60)] * 2))")
    time.sleep(0.5)
    os.killpg(driver.pid, signal.SIGINT)
    _, said = driver.communicate(timeout=30)
    assert said.count("Traceback") == 1
    assert said.strip().endswith("KeyboardInterrupt")
    assert_gone(processes)
