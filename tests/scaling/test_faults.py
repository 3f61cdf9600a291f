"""Faults of processes, files and disk end in the same model, or in an error of one sentence."""

import os
import subprocess
import sys

import pytest

from clearbands.scaling.engines import Processes
from clearbands.scaling.work import WorkFolder
from tests.scaling.clusters import KillOnce, kill, pids_of
from tests.scaling.files import assert_same, small_model, table, write


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return small_model().fit(write(tmp_path_factory.mktemp("once")), "price")


def members_in(work):
    return sorted(work.rglob("center-*/0*.npz"))


def test_finished_members_are_not_fitted_again(fitted, tmp_path):
    file, work = write(tmp_path), tmp_path / "work"
    assert_same(small_model().fit(file, "price", work=work), fitted)
    made = {path: path.stat().st_mtime_ns for path in work.rglob("*.np?")}
    assert len(members_in(work)) == 6
    assert_same(small_model().fit(file, "price", work=work), fitted)
    assert made == {path: path.stat().st_mtime_ns for path in work.rglob("*.np?")}


@pytest.mark.parametrize("pattern", ["center-*/0002.npz", "bins-*/000001.npy", "noise-*/0001.npz"])
def test_a_file_that_was_cut_is_made_again(fitted, tmp_path, pattern):
    file, work = write(tmp_path), WorkFolder(tmp_path / "work", rows_at_once=300)
    small_model().fit(file, "price", work=work)
    (cut,) = (tmp_path / "work").rglob(pattern)
    content = cut.read_bytes()
    cut.write_bytes(content[:-20])
    assert_same(small_model().fit(file, "price", work=work), fitted)
    assert len(cut.read_bytes()) == len(content)


@pytest.mark.parametrize(
    "pattern",
    ["data.json", "sample-rows.npy", "picked-*/000001.parquet", "encoder.clear", "bins.npz",
     "bins-*/000001.npy", "center-*/0002.npz"],
)  # fmt: skip
def test_a_file_whose_bytes_were_changed_is_refused(fitted, tmp_path, pattern):
    file, work = write(tmp_path), WorkFolder(tmp_path / "work", rows_at_once=300)
    small_model().fit(file, "price", work=work)
    (changed,) = (tmp_path / "work").rglob(pattern)
    content = bytearray(changed.read_bytes())
    for place in range(len(content) // 2, len(content) // 2 + 8):
        content[place] ^= 255
    changed.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{changed.name} was changed after it was written"):
        small_model().fit(file, "price", work=work)
    changed.unlink()
    assert_same(small_model().fit(file, "price", work=work), fitted)


def test_a_file_that_has_changed_is_refused(tmp_path):
    file, work = write(tmp_path), tmp_path / "work"
    small_model().fit(file, "price", work=work)
    table(seed=1).write_parquet(file)
    with pytest.raises(ValueError, match=r"is not what the work folder .* was made from"):
        small_model().fit(file, "price", work=work)


DRIVER = """
import os, signal, sys
from pathlib import Path
from tests.scaling.files import small_model

def die(stage, done, total):
    if len(list(Path(sys.argv[2]).rglob("center-*/0*.npz"))) >= 1:
        os.kill(os.getpid(), signal.SIGKILL)

small_model().fit(sys.argv[1], "price", work=sys.argv[2], progress=die)
"""


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_a_driver_that_was_killed_goes_on_where_it_was(fitted, tmp_path):
    file, work = write(tmp_path), tmp_path / "work"
    assert run(DRIVER, file, work).returncode == -9
    made = {path: path.stat().st_mtime_ns for path in members_in(work)}
    assert 1 <= len(made) < 6  # those that were finished while the driver heard of the first
    assert_same(small_model().fit(file, "price", work=work), fitted)
    assert len(members_in(work)) == 6
    assert made == {path: path.stat().st_mtime_ns for path in made}


@pytest.mark.slow
@pytest.mark.parametrize("room", [4_000, 6_000])  # an array, a table
def test_a_full_disk_is_one_sentence(tmp_path, room):
    command = f"""
import resource, sys
from clearbands.apps.cli import main

resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
sys.argv[0] = "clearbands"
main()
"""
    given = ["fit", write(tmp_path), "--target", "price", "--preset", "fast", "--jobs", 1]
    given += ["--work", tmp_path / "work", "--out", tmp_path / "model.clear"]
    found = run(command, *given)
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert line.startswith("Error: There is no room left for the work folder")
    assert not (tmp_path / "model.clear").exists()


@pytest.mark.slow
def test_processes_that_are_killed_change_nothing(fitted, tmp_path):
    engine = Processes(2)

    def kill_all():
        kill(*pids_of(engine))

    listener = KillOnce("epistemic", 0, kill_all)
    model = small_model()
    model.fit(write(tmp_path), "price", work=tmp_path / "work", engine=engine, progress=listener)
    assert listener.action is None, "nobody was killed"
    assert_same(model, fitted)


def test_a_worker_process_dies_for_good_after_three_times(tmp_path):
    from clearbands.scaling.engines import Engine, LostWorkers

    class Hopeless(Engine):
        def run(self, tasks):
            raise LostWorkers("All are gone.")
            yield

    with pytest.raises(RuntimeError, match=r"All are gone\. It happened 3 times in a row"):
        small_model().fit(write(tmp_path), "price", work=tmp_path / "work", engine=Hopeless())
    assert os.listdir(tmp_path / "work")
