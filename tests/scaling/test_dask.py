"""A Dask cluster gives the same bits, whichever of its processes is killed."""

import os

import joblib
import numpy as np
import pandas as pd
import pytest

from clearbands import ClearRegressor, FoldedEnsemble, ScaledResiduals
from clearbands.scaling import engines
from clearbands.scaling.engines import DaskCluster
from clearbands.scaling.work import WorkFolder
from tests.scaling.clusters import KillOnce, Processes, kill
from tests.scaling.files import assert_same, small_model, table, write

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return small_model().fit(write(tmp_path_factory.mktemp("once")), "price")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client of two workers; a nanny replaces each worker that dies."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def fit(tmp_path, engine, **options):
    work = WorkFolder(tmp_path / "work", rows_at_once=250)
    return small_model().fit(write(tmp_path), "price", work=work, engine=engine, **options)


@pytest.mark.parametrize("victims", ["one", "all"])
def test_workers_that_are_killed_change_nothing(client, fitted, tmp_path, victims):
    def kill_them():
        pids = list(client.run(os.getpid).values())
        kill(*(pids if victims == "all" else pids[:1]))

    listener = KillOnce("epistemic", 1, kill_them)
    model = fit(tmp_path, DaskCluster(client=client, patience=60), progress=listener)
    assert listener.action is None, "nobody was killed"
    assert_same(model, fitted)


def test_joblibs_backend_is_an_engine_too(client, fitted, tmp_path):
    with joblib.parallel_config(backend="dask", client=client):
        assert_same(fit(tmp_path, None), fitted)


def test_fits_in_memory_are_the_same_on_threads_processes_and_dask(client):
    from sklearn.linear_model import LinearRegression

    frame = table(200)
    X, y = frame.select("size").to_numpy(), frame["price"].to_numpy()

    def bounds():
        model = ClearRegressor(
            FoldedEnsemble(LinearRegression(), 3, 1),
            ScaledResiduals(LinearRegression(), 2, 1),
            n_jobs=2,
            random_state=0,
        )
        return model.fit(X, y).predict_interval(X)[1]

    with joblib.parallel_config(backend="threading"):
        threads = bounds()
    with joblib.parallel_config(backend="loky"):
        np.testing.assert_array_equal(bounds(), threads)
    with joblib.parallel_config(backend="dask", client=client):
        np.testing.assert_array_equal(bounds(), threads)


def test_a_dask_frame_is_a_table_and_is_answered_with_one(client, fitted, tmp_path):
    import dask.dataframe as dd

    pandas = table().to_pandas()
    frame = dd.from_pandas(pandas, npartitions=3)
    with client.as_current():
        model = small_model().fit(frame, "price", work=tmp_path / "work")
        assert_same(model, fitted)
        X = frame.drop(columns="price")
        found = model.predict_interval(X)
        assert list(found.columns) == ["prediction", "lower_90", "upper_90"]
        found = found.compute()
        whole = model.predict_frame(X).compute()
    pd.testing.assert_frame_equal(whole, model.predict_frame(pandas.drop(columns="price")))
    point, intervals = model.predict_interval(pandas.drop(columns="price"))
    np.testing.assert_array_equal(found["prediction"], point)
    np.testing.assert_array_equal(found[["lower_90", "upper_90"]], intervals[:, :, 0])
    assert (found.index == pandas.index).all()


def test_a_scheduler_that_was_killed_and_started_again(fitted, tmp_path):
    cluster = Processes(tmp_path)
    scheduler, worker = cluster.start_scheduler(), cluster.start_worker()

    def kill_and_start_again():
        kill(scheduler.pid)
        scheduler.wait()
        worker.kill()
        cluster.start_scheduler()
        cluster.start_worker()

    listener = KillOnce("epistemic", 1, kill_and_start_again)
    try:
        engine = DaskCluster(cluster.address, patience=120)
        model = fit(tmp_path, engine, progress=listener)
    finally:
        cluster.stop()
    assert listener.action is None, "nobody was killed"
    assert_same(model, fitted)


def test_workers_that_are_gone_for_good_are_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "LOOK_EVERY", 0.5)
    cluster = Processes(tmp_path)
    cluster.start_scheduler()
    worker = cluster.start_worker()
    engine = DaskCluster(cluster.address, patience=120)

    def kill_and_hurry():
        worker.kill()
        engine.patience = 1

    listener = KillOnce("epistemic", 1, kill_and_hurry)
    try:
        with pytest.raises(OSError, match="had no worker for 1 seconds: start one"):
            fit(tmp_path, engine, progress=listener)
    finally:
        cluster.stop()


def test_a_worker_without_the_package_and_a_scheduler_that_is_not_there(tmp_path):
    cluster = Processes(tmp_path)
    with pytest.raises(OSError, match="cannot be reached"):
        fit(tmp_path, DaskCluster(cluster.address, patience=0.5))
    cluster.start_scheduler()
    cluster.start_worker(with_package=False)
    try:
        with pytest.raises(ImportError, match=r"cannot load this package .* install clearbands"):
            fit(tmp_path, DaskCluster(cluster.address, patience=120))
    finally:
        cluster.stop()


def test_a_client_that_lost_its_scheduler_says_what_to_do(tmp_path):
    cluster = Processes(tmp_path)
    scheduler = cluster.start_scheduler()
    cluster.start_worker()
    try:
        with distributed.Client(cluster.address, timeout=60, set_as_default=False) as client:
            kill_it = KillOnce("epistemic", 1, lambda: kill(scheduler.pid))
            with pytest.raises((OSError, RuntimeError), match="what is finished is kept"):
                fit(tmp_path, DaskCluster(client=client), progress=kill_it)
    finally:
        cluster.stop()
