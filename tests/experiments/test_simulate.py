"""The run of the simulations on tiny data: rows, resuming, failures."""

import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from experiments import __main__, results, simulate
from experiments.fitted import Fitted
from experiments.simulation_data import RADII, SCALES, World
from experiments.simulation_fit import METHODS, Cell, Method

REPOSITORY = Path(__file__).parents[2]
CELLS = [Cell("homo", 1, 0), Cell("hetero2", 1, 1)]


def tiny(folder, probes=("radius", "scale")):
    paths = {probe: folder / f"{probe}.csv" for probe in probes}
    folder.mkdir(exist_ok=True)
    return simulate.Options(paths, n_rows=100, n_bootstraps=2)


def read(folder, probe="radius"):
    return results.read(folder / f"{probe}.csv", simulate.PROBES[probe].schema)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with the rows of both cells."""
    folder = tmp_path_factory.mktemp("whole")
    simulate.run(CELLS, tiny(folder))
    return folder


def assert_same(folder, whole):
    for probe in simulate.PROBES:
        pd.testing.assert_frame_equal(read(folder, probe), read(whole, probe))


# Scores


def test_scores_are_means_over_the_points_of_each_value():
    """Intervals start at the mean, so a width w covers Φ(w) - 1/2; groups have 1 to 4 points."""
    world = World("homo", np.ones(1))
    points = {"scale": [np.full((n, 1), float(n)) for n in (1, 2, 3, 4)]}
    center = world.mean(np.concatenate(points["scale"]))
    widths = np.array([1, 2, 3, 4, 5, 9, 1, 1, 2, 8]) / 4

    class AsGiven(Method):
        def intervals(self, calibration, test):
            return np.stack([test.center, test.center + widths], axis=1)

    trial = simulate.Trial(world, None, points, {"scale": Fitted(center, center)})
    found = trial.score("scale", AsGiven(None, None))
    assert list(found) == list(SCALES)
    np.testing.assert_allclose([width for _, width in found.values()], [0.25, 0.625, 1.5, 0.75])
    covered = [np.mean(ndtr(group) - 0.5) for group in np.split(widths, [1, 3, 6])]
    np.testing.assert_allclose([coverage for coverage, _ in found.values()], covered)


def test_coverage_is_exact_at_the_points(whole):
    """Targets drawn at one radius give the same coverage, within its noise."""
    trial = simulate.make_trial(CELLS[1], tiny(whole))
    pair = np.array([16, 17])  # the two points of the ninth radius
    points = np.concatenate(trial.points["radius"])[pair]
    test = trial.parts["radius"].take(pair)
    lower, upper = METHODS["CLEAR"].intervals(trial.calibration, test).T
    noise = np.random.default_rng(0).normal(size=(20_000, 2))
    y = trial.world.mean(points) + trial.world.sigma(points) * noise
    row = read(whole).set_index(["noise", "method", "radius"]).loc[("hetero2", "CLEAR", RADII[8])]
    assert row["coverage"] == pytest.approx(np.mean((lower <= y) & (y <= upper)), abs=0.01)
    assert row["width"] == pytest.approx(np.mean(upper - lower))


# Which runs


def test_paper_deals_dimensions_out_to_seeds():
    cells = simulate.paper_cells(["homo", "hetero1"], range(100))
    assert len(cells) == 300
    several = [cell for cell in cells if cell.d > 1]
    assert {cell.noise for cell in several} == {"homo"}
    assert [sum(cell.d == d for cell in several) for d in (2, 3, 20)] == [34, 33, 33]


# The run


def test_smoke_run_through_the_command(tmp_path, capsys):
    files = ["--results", str(tmp_path / "by.csv"), "--shift-results", str(tmp_path / "shift.csv")]
    arguments = ["simulate", "--noise", "homo", "--seeds", "0", "--rows", "100"]
    arguments += ["--bootstraps", "2", *files]
    assert __main__.main(arguments) == 0
    rows = results.read(tmp_path / "by.csv", results.SPHERE_ROWS)
    assert list(rows.columns) == results.SPHERE_ROWS.columns
    assert (rows["error"] == "").all()
    expected = {(d, m, r) for d in (1, 2) for m in METHODS for r in RADII}
    assert set(rows[["d", "method", "radius"]].itertuples(index=False, name=None)) == expected
    assert rows["coverage"].between(0, 1).all()
    assert (rows["width"] > 0).all()
    assert len(results.read(tmp_path / "shift.csv", results.SHIFT_ROWS)) == 2 * 4 * 4
    assert "2/2" in capsys.readouterr().out
    assert __main__.main(arguments) == 0
    assert "0 to go" in capsys.readouterr().out
    assert len(results.read(tmp_path / "by.csv", results.SPHERE_ROWS)) == len(rows)


def test_dimensions_are_those_asked_for(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(simulate, "run", lambda cells, *args, **options: seen.extend(cells))
    __main__.main(["simulate", "--noise", "hetero1", "--dimensions", "2", "5", "--seeds", "7"])
    assert seen == [("hetero1", 2, 7), ("hetero1", 5, 7)]


@pytest.mark.parametrize("option", ["--seeds=-1", "--dimensions=0", "--rows=3", "--noise=loud"])
def test_senseless_options_are_refused(option, capsys):
    with pytest.raises(SystemExit, match="2"):
        __main__.main(["simulate", option])
    assert option.split("=")[0] in capsys.readouterr().err


def test_jobs_change_no_row(whole, tmp_path):
    simulate.run(CELLS, tiny(tmp_path / "two"), n_jobs=2)
    assert_same(tmp_path / "two", whole)


def test_which_probes_are_scored_changes_no_draw(whole, tmp_path):
    simulate.run(CELLS[:1], tiny(tmp_path / "one", ["scale"]))
    rows = read(whole, "scale")
    expected = rows[rows["seed"] == 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(read(tmp_path / "one", "scale"), expected)


@pytest.mark.slow
def test_killed_in_the_middle_and_resumed_gives_the_same_rows(whole, tmp_path):
    """A method kills the process in the second run; the next process adds the missing rows."""
    script = tmp_path / "killer.py"
    script.write_text(
        textwrap.dedent("""
        import os, sys
        from pathlib import Path
        from experiments import simulate
        from tests.experiments.test_simulate import CELLS, tiny

        class Killer(simulate.Method):
            def intervals(self, calibration, test):
                if (folder / "radius.csv").read_text().count("Naive") > 0:
                    os._exit(9)
                return super().intervals(calibration, test)

        folder = Path(sys.argv[1])
        simulate.METHODS["ALEATORIC-R"] = Killer(*simulate.METHODS["ALEATORIC-R"])
        simulate.run(CELLS, tiny(folder))
        """)
    )
    cut = tmp_path / "cut"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])}
    killed = subprocess.run(
        [sys.executable, str(script), str(cut)],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    assert killed.returncode == 9, killed.stderr.decode()
    with (cut / "radius.csv").open("a") as file:
        file.write("hetero2,1,1,ALEATORIC-R,0.01,0.8")  # a row that a kill cuts off
    assert 0 < len(read(cut)) < len(read(whole))
    simulate.run(CELLS, tiny(cut))
    assert_same(cut, whole)


class Failing:
    def fit(self, *rows):
        raise ArithmeticError("no luck\ntoday")

    def get_params(self, deep=False):
        return {}


def test_a_failing_method_gives_rows_with_its_error_and_can_be_tried_again(
    whole, tmp_path, monkeypatch
):
    folder = tmp_path / "failed"
    monkeypatch.setitem(METHODS, "PCS", Method(Failing(), METHODS["PCS"].widths))
    simulate.run(CELLS, tiny(folder))
    failed = read(folder).query("method == 'PCS'")
    assert len(failed) == 2 * len(RADII)
    assert (failed["error"] == "ArithmeticError: no luck today").all()
    assert all(map(math.isnan, failed["coverage"]))
    monkeypatch.undo()
    simulate.run(CELLS, tiny(folder))
    assert (read(folder)["error"] != "").sum() == len(failed)
    simulate.run(CELLS, tiny(folder), retry=True)
    assert_same(folder, whole)


def test_a_failing_fit_gives_rows_with_its_error(tmp_path, monkeypatch):
    def fail(*args):
        raise MemoryError("too large")

    monkeypatch.setattr(simulate, "fit_world", fail)
    simulate.run(CELLS[:1], tiny(tmp_path / "failed"))
    for probe, n in (("radius", 100), ("scale", 16)):
        assert list(read(tmp_path / "failed", probe)["error"]) == ["MemoryError: too large"] * n
