import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info, threadpool_limits

from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals
from clearbands.engine import threads
from clearbands.engine.progress import listening
from clearbands.engine.threads import one_blas_thread, run_threads


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_every_task_runs_once_and_is_reported(n_jobs):
    done, steps = np.zeros(20, int), []

    def task(i, stop):
        done[i] += 1

    with listening(lambda *step: steps.append(step)):
        run_threads(task, 20, n_jobs=n_jobs, stage="work")
    assert (done == 1).all()
    assert steps == [("work", i, 20) for i in range(1, 21)]


def test_work_inside_of_a_task_needs_no_further_thread():
    inner = []

    def task(i, stop):
        run_threads(lambda j, stop: inner.append(threading.get_ident()), 3, n_jobs=1, stage="in")
        inner.append(threading.get_ident())

    run_threads(task, 1, n_jobs=1, stage="out")
    assert len(inner) == 4
    assert len(set(inner)) == 1
    assert inner[0] != threading.get_ident()


def test_an_error_stops_the_others_and_comes_out():
    running, stopped = threading.Event(), []

    def task(i, stop):
        if i == 0:
            running.wait(20)
            raise RuntimeError("task 0")
        running.set()
        deadline = time.monotonic() + 20
        while not stop[0] and time.monotonic() < deadline:
            time.sleep(0.001)
        stopped.append(bool(stop[0]))

    with pytest.raises(RuntimeError, match="task 0"):
        run_threads(task, 2, n_jobs=2, stage="work")
    assert stopped == [True]


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_is_seen_while_kernels_run(n_jobs):
    """It is seen with one job too, since the calling thread only waits."""
    running, stopped = threading.Event(), []

    def task(i, stop):
        running.set()
        deadline = time.monotonic() + 20
        while not stop[0] and time.monotonic() < deadline:
            time.sleep(0.001)
        stopped.append(bool(stop[0]))

    def interrupt():
        running.wait()
        time.sleep(0.2)  # until all tasks are handed out
        os.kill(os.getpid(), signal.SIGINT)

    # Tests that a shell runs in the background ignore the signal by default.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            run_threads(task, 4, n_jobs=n_jobs, stage="work")
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped
    assert all(stopped)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_gets_its_threads_back_whoever_ends_first():
    """Two uses overlap and the first one ends first: the limit stays until the last one ends."""
    started, may_end = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            started.set()
            may_end.wait(20)

    with threadpool_limits(2, user_api="blas"):
        thread = threading.Thread(target=first)
        thread.start()
        assert started.wait(20)
        assert blas_threads() == {1}
        with one_blas_thread():
            may_end.set()
            thread.join(20)
            assert blas_threads() == {1}
        assert blas_threads() == {2}


def test_blas_gets_its_threads_back_after_an_error():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(RuntimeError, match="inside"), one_blas_thread():
            raise RuntimeError("inside")
        assert blas_threads() == {2}


def test_libraries_are_looked_for_once_until_another_module_is_imported(monkeypatch):
    with one_blas_thread():
        pass
    scans = []

    class Counting(threads.ThreadpoolController):
        def __init__(self):
            scans.append(1)
            super().__init__()

    monkeypatch.setattr(threads, "ThreadpoolController", Counting)
    for _ in range(3):
        with one_blas_thread():
            pass
    assert not scans
    monkeypatch.setitem(sys.modules, "clearbands.a_module_that_was_not_there", threads)
    with one_blas_thread():
        pass
    assert not scans  # ours bring no libraries along
    monkeypatch.setitem(sys.modules, "a_module_that_was_not_there", threads)
    with one_blas_thread():
        pass
    assert len(scans) == 1


def test_a_fit_multiplies_matrices_on_one_thread():
    seen = set()

    class Line(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            seen.update(blas_threads())
            return X[:, 0]

    X = np.random.default_rng(0).normal(size=(60, 2))
    part = FoldedEnsemble(Line(), n_folds=2, n_repeats=2)
    with threadpool_limits(2, user_api="blas"):
        ClearRegressor(part, ScaledResiduals(Line()), random_state=0).fit(X, X[:, 0] + X[:, 1])
        assert blas_threads() == {2}
    assert seen == {1}
