"""The harness of the benchmark on a tiny set: rows, resuming, failures, added methods."""

import math
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor

from clearbands import ClearRegressor
from clearbands.calibration.conformal import rank
from clearbands.scaling.engines import Threads
from experiments import (
    __main__,
    authors,
    datasets,
    methods,
    parts,
    protocol,
    results,
    run,
    uacqr_ways,
)
from experiments.case import Method, Result
from experiments.fitted import Fitted, Parts
from experiments.methods import METHODS
from tests.toys import noisy_line

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Return a folder with one small table."""
    X, y = noisy_line(200)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(target=y)
    table.to_parquet(tmp_path / "tiny.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def own_methods(monkeypatch):
    """Tables of methods that a test may change."""
    copy = {setting: dict(found) for setting, found in METHODS.items()}
    monkeypatch.setattr(methods, "METHODS", copy)
    return copy


def run_tiny(path, variants=("b",), seeds=(777,), **options):
    run.run(["tiny"], variants, seeds, run.Options(path, n_bootstraps=4, **options))


def without_seconds(path):
    return results.read(path).drop(columns="fit_seconds")


# Rows of the protocol


def test_conformalized_halves_the_validation_fifth():
    standard = protocol.split_rows(200, 780, "standard")
    halves = protocol.split_rows(200, 780, "conformalized")
    assert standard.validation is standard.calibration
    assert (len(halves.validation), len(halves.calibration)) == (20, 20)
    both = np.concatenate([halves.validation, halves.calibration])
    assert set(both) == set(standard.validation)
    for name in ("train", "test", "held_out"):
        np.testing.assert_array_equal(getattr(halves, name), getattr(standard, name))


def test_unknown_setting():
    with pytest.raises(ValueError, match="setting must be one of"):
        protocol.split_rows(200, 777, "split")


# Parts


def test_settings_share_a_fit_when_they_choose_the_same_model():
    X, y = noisy_line(200)
    splits = {s: protocol.split_rows(200, 777, s) for s in protocol.SETTINGS}
    found = parts.fit_parts("b", X, y, splits, 777, n_bootstraps=3)
    assert found["standard"] is found["conformalized"]
    rows = splits["conformalized"].calibration
    np.testing.assert_array_equal(found["standard"].of(rows).y, y[rows])


def test_variants_share_a_fit_of_the_same_models():
    """If boosting wins in (a), (b) needs no fit of its own, and equals a fit of (b) alone."""
    X = np.random.RandomState(0).uniform(-1, 1, (300, 3))
    y = 5 * X[:, 0] * X[:, 1] + X[:, 2]  # a product, which splines cannot follow
    splits = {"standard": protocol.split_rows(300, 777)}
    fitted = {}
    in_a = parts.fit_parts("a", X, y, splits, 777, n_bootstraps=3, fitted=fitted)["standard"]
    in_b = parts.fit_parts("b", X, y, splits, 777, n_bootstraps=3, fitted=fitted)["standard"]
    alone = parts.fit_parts("b", X, y, splits, 777, n_bootstraps=3)["standard"]
    assert len(fitted) == 1
    np.testing.assert_array_equal(in_b.fitted.aleatoric, alone.fitted.aleatoric)
    assert in_a.seconds["pcs"] > in_b.seconds["pcs"]  # the time of (a) includes the choice


def test_each_setting_is_judged_on_its_own_validation_rows():
    """A model that is perfect on half of the fifth wins on that half and loses on the whole."""
    X, y = noisy_line(200)
    splits = {s: protocol.split_rows(200, 777, s) for s in protocol.SETTINGS}
    X = np.column_stack([X, np.zeros(200), np.zeros(200)])
    X[splits["conformalized"].validation, 2] = 1
    X[:, 3] = y

    class Line:
        def __init__(self, offset_elsewhere):
            self.offset_elsewhere = offset_elsewhere

        def get_params(self, deep=True):
            return {"offset_elsewhere": self.offset_elsewhere}

        def set_params(self, **parameters):
            return self

        def fit(self, X, y):
            return self

        def predict(self, X):
            return (
                X[:, 3]
                + np.where(X[:, 2] == 1, 0.1 * (self.offset_elsewhere == 1), 0)
                + (self.offset_elsewhere * (X[:, 2] == 0))
            )

    train = splits["standard"].train
    chosen, _ = parts.choose({"even": Line(1), "half": Line(2)}, X, y, train, splits)
    assert chosen == {"standard": "even", "conformalized": "half"}


def test_medians_are_taken_before_the_difference():
    members = np.array([[[0, 0, 3], [1, 5, 6], [2, 9, 7]]], float)  # lower, middle, upper
    np.testing.assert_array_equal(parts.widths_of_medians(members), [[5, 2]])


def test_default_is_the_plain_regressor_on_the_rows_that_others_split():
    X, y = noisy_line(200)
    split = protocol.split_rows(200, 777, "standard")
    found = Parts(split.held_out, Fitted(y[split.held_out]), {})
    case = run.make_case(X, y, split, found, 777)
    intervals = methods.of("default", "standard")["CLEAR"].run(case).intervals
    rows = np.union1d(split.train, split.validation)
    model = ClearRegressor(confidence_level=0.95, random_state=777).fit(X[rows], y[rows])
    np.testing.assert_array_equal(intervals, model.predict_interval(X[split.test])[1][:, :, 0])


# Methods


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
def test_methods_by_the_names_of_the_paper():
    assert list(methods.of("a", "standard")) == [
        "CLEAR",
        "ALEATORIC",
        "ALEATORIC-R",
        "PCS-EPISTEMIC",
        "Naive",
        "gamma1=1",
        "lambda=1",
    ]
    assert {"CLEAR-c", "PCS-EPISTEMIC-c", "ALEATORIC-R-c", "CLEAR", "UACQR-P", "UACQR-S"} == set(
        methods.of("c", "conformalized")
    )


def test_every_method_covers_its_rank_of_the_calibration_rows():
    X, y = noisy_line(1000)
    split = protocol.split_rows(1000, 777, "standard")
    found = parts.fit_parts("b", X, y, {"standard": split}, 777, n_bootstraps=5)["standard"]
    case = run.make_case(X, y, split, found, 777)
    case = case._replace(test=case.calibration)
    for name, method in methods.of("b", "standard").items():
        lower, upper = method.run(case).intervals.T
        covered = np.sum((lower <= case.test.y) & (case.test.y <= upper))
        assert covered >= rank(200, 0.95), name
        assert covered <= rank(200, 0.95) + 1, name


# The run


@pytest.mark.slow
def test_smoke_run_of_every_variant_through_the_command(tiny, capsys):
    pytest.importorskip("xgboost")
    path = tiny / "rows.csv"
    arguments = ["run", "--datasets", "tiny", "--seeds", "777", "--bootstraps", "3"]
    assert __main__.main([*arguments, "--results", str(path)]) == 0
    rows = results.read(path)
    assert list(rows.columns) == results.COLUMNS
    assert (rows["error"] == "").all()
    expected = {
        (variant, setting, name)
        for variant in protocol.QUICK_VARIANTS
        for setting in protocol.SETTINGS
        for name in methods.of(variant, setting)
    }
    assert (
        set(rows[["variant", "setting", "method"]].itertuples(index=False, name=None)) == expected
    )
    assert rows[results.METRICS].notna().all(axis=None)
    assert "4/4" in capsys.readouterr().out
    assert __main__.main([*arguments, "--results", str(path)]) == 0
    assert "0 rows to go" in capsys.readouterr().out


@pytest.mark.slow
def test_stock_models_have_a_file_of_their_own(tiny, monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setattr(results, "FOLDER", tiny / "results")
    arguments = ["run", "--datasets", "tiny", "--variants", "b", "--seeds", "777", "--stock"]
    assert __main__.main([*arguments, "--bootstraps", "2"]) == 0
    rows = results.read(tiny / "results" / "benchmark-stock.csv")
    assert (rows["error"] == "").all()
    native = tiny / "native.csv"
    run.run(["tiny"], ["b"], [777], run.Options(native, n_bootstraps=2))
    assert (rows["quantile_loss"] != results.read(native)["quantile_loss"]).any()


def test_rows_say_what_the_methods_found(tiny):
    path = tiny / "rows.csv"
    run_tiny(path)
    rows = results.read(path).set_index(["setting", "method"])
    np.testing.assert_allclose(rows["quantile_loss"] * 80, rows["interval_score"])  # 80 = 4 / alpha
    assert rows.loc[("standard", "lambda=1"), "lambda"] == 1
    assert rows.loc[("standard", "gamma1=1"), "gamma1"] == 1
    assert math.isnan(rows.loc[("standard", "ALEATORIC"), "lambda"])
    same = [*results.METRICS, "lambda", "gamma1"]
    repeated, standard = rows.loc[("conformalized", "CLEAR")], rows.loc[("standard", "CLEAR")]
    np.testing.assert_array_equal(repeated[same].astype(float), standard[same].astype(float))


@pytest.mark.slow
def test_killed_in_the_middle_and_resumed_gives_the_same_rows(tiny):
    """A method kills the process; the next run, without this method, adds the missing rows."""
    whole, cut = tiny / "whole.csv", tiny / "cut.csv"
    run_tiny(whole, seeds=(777, 778))
    killer = tiny / "killer.py"
    killer.write_text(
        textwrap.dedent("""
        import os
        from experiments import methods
        from experiments.case import Method

        def kill(case):
            if case.seed == 778:
                os._exit(9)
            return methods.clear(case)

        standard = methods.METHODS["standard"]
        rest = dict(standard)
        standard.clear()
        for name, method in rest.items():  # in the middle of a cell
            standard[name] = method
            if name == "ALEATORIC-R":
                standard["killer"] = Method(kill)
        """)
    )
    arguments = ["run", "--datasets", "tiny", "--variants", "b", "--seeds", "777", "778"]
    arguments += ["--bootstraps", "4", "--results", str(cut), "--methods-from", str(killer)]
    killed = subprocess.run(
        [sys.executable, "-m", "experiments", *arguments],
        cwd=REPOSITORY,
        env=dict(os.environ),
        capture_output=True,
        check=False,
    )
    assert killed.returncode == 9
    with cut.open("a") as file:
        file.write("tiny,b,standard,778,Nai")  # a row that a kill cuts off
    there = len(cut.read_text().splitlines())
    assert 5 < there < len(whole.read_text().splitlines())
    run_tiny(cut, seeds=(777, 778))
    rows = without_seconds(cut)
    pd.testing.assert_frame_equal(
        rows[rows["method"] != "killer"].reset_index(drop=True), without_seconds(whole)
    )


@pytest.mark.slow
def test_jobs_change_no_row(tiny):
    one, two = tiny / "one.csv", tiny / "two.csv"
    run_tiny(one, seeds=(777, 778))
    get_reusable_executor().shutdown()  # workers of other tests have another folder
    run.run(["tiny"], ["b"], [777, 778], run.Options(two, n_bootstraps=4), n_jobs=2)
    pd.testing.assert_frame_equal(without_seconds(one), without_seconds(two))
    three = tiny / "three.csv"
    options = run.Options(three, n_bootstraps=4)
    run.run(["tiny"], ["b"], [777, 778], options, engine=Threads(2))
    pd.testing.assert_frame_equal(without_seconds(one), without_seconds(three))


def test_adding_a_method_is_adding_an_entry(tiny, own_methods):
    def twice_the_spread(case):
        center, widths = case.test.center, 2 * case.test.epistemic
        return Result(np.stack([center - widths[:, 0], center + widths[:, 1]], axis=1))

    path = tiny / "rows.csv"
    run_tiny(path)
    own_methods["standard"]["twice the spread"] = Method(twice_the_spread, ("pcs",), ("b",))
    run_tiny(path)
    rows = results.read(path)
    added = rows[rows["method"] == "twice the spread"]
    assert len(added) == 1
    assert added["fit_seconds"].item() > 0
    assert rows.duplicated(results.KEY).sum() == 0


def test_a_failing_method_gives_a_row_with_its_error_and_can_be_tried_again(tiny, own_methods):
    def fail(case):
        raise ArithmeticError("no luck\ntoday")

    own_methods["standard"]["fails"] = Method(fail)
    path = tiny / "rows.csv"
    run_tiny(path)
    row = results.read(path).query("method == 'fails'").iloc[0]
    assert row["error"] == "ArithmeticError: no luck today"
    assert math.isnan(row["picp"])
    own_methods["standard"]["fails"] = METHODS["standard"]["CLEAR"]
    run_tiny(path)
    assert (results.read(path)["error"] != "").sum() == 1
    run.run(["tiny"], ["b"], [777], run.Options(path, n_bootstraps=4), retry=True)
    assert (results.read(path)["error"] == "").all()


def test_parts_that_fail_give_rows_with_the_error(tiny, monkeypatch):
    def fail(*args, **options):
        raise MemoryError("too large")

    monkeypatch.setattr(run, "fit_parts", fail)
    path = tiny / "rows.csv"
    run_tiny(path)
    rows = results.read(path)
    assert len(rows) == 11
    assert (rows["error"] == "MemoryError: too large").all()


def test_methods_with_their_own_models_need_no_parts(tiny, own_methods, monkeypatch):
    def everything(case):
        n = len(case.split.test)
        return Result(np.tile([-10.0, 10.0], (n, 1)), center=np.zeros(n))

    path = tiny / "rows.csv"
    run_tiny(path)
    own_methods["standard"]["everything"] = Method(everything, alone=True)
    monkeypatch.setattr(run, "fit_parts", None)
    run_tiny(path)
    added = results.read(path).query("method == 'everything'")
    assert added["picp"].item() == 1


def test_methods_may_be_chosen_by_name(tiny, capsys):
    path = tiny / "rows.csv"
    arguments = ["run", "--datasets", "tiny", "--variants", "b", "--seeds", "777"]
    arguments += ["--bootstraps", "3", "--results", str(path), "--methods"]
    assert __main__.main([*arguments, "Naive", "CLEAR-c"]) == 0
    assert set(results.read(path)["method"]) == {"Naive", "CLEAR-c"}
    assert __main__.main([*arguments, "Niave"]) == 2
    assert "no method 'Niave'; there are: ALEATORIC, " in capsys.readouterr().err


def test_packing_joins_sorts_and_keeps_the_last(tiny):
    one, two, out = tiny / "one.csv", tiny / "two.csv", tiny / "packed.parquet"
    run_tiny(one)
    run_tiny(two, seeds=(778,))
    rows = results.read(one)
    rows.assign(picp=0.5).to_csv(tiny / "old.csv", index=False)
    files = [str(path) for path in (tiny / "old.csv", two, one)]
    assert __main__.main(["pack", *files, "--out", str(out)]) == 0
    packed = results.read(out)
    assert list(packed.columns) == results.COLUMNS
    pd.testing.assert_frame_equal(packed[packed["seed"] == 777].reset_index(drop=True), rows)
    assert set(packed["seed"]) == {777, 778}
    with pytest.raises(ValueError, match="no csv file of benchmark rows"):
        run_tiny(out)


def test_other_files_are_not_written_over(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no csv file of benchmark rows"):
        results.prepare(path)


def test_missing_sets_are_reported(tiny, monkeypatch, capsys):
    assert __main__.main(["run", "--datasets", "tiny", "airfoil"]) == 2
    assert "no data set 'airfoil'" in capsys.readouterr().err
    monkeypatch.setattr(run, "run", lambda *args, **options: None)
    assert __main__.main(["run"]) == 0
    assert "MISSING data sets, not run: ailerons, airfoil, allstate" in capsys.readouterr().out


def test_unknown_variants_are_named(tiny, capsys):
    with pytest.raises(SystemExit) as ended:
        __main__.main(["run", "--datasets", "tiny", "--variants", "z"])
    assert ended.value.code == 2
    assert "invalid choice: 'z' (choose from" in capsys.readouterr().err


def test_the_readme_names_every_command(capsys):
    readme = Path(__main__.__file__).with_name("README.md").read_text()
    with pytest.raises(SystemExit):
        __main__.main(["--help"])
    helped = capsys.readouterr().out
    commands = re.findall(r"^    ([a-z-]+)\b", helped, re.MULTILINE)
    assert len(commands) > 20
    assert [name for name in commands if not re.search(rf"^\|.*`{name}\b.*\|", readme, re.M)] == []


def test_a_reader_that_has_enough_ends_a_command_quietly():
    command = f"{sys.executable} -m experiments standing | head -1"
    done = subprocess.run(
        command, shell=True, cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("| dataset")
    assert done.stderr == ""


def test_tables_that_are_not_the_papers_are_refused(tiny, capsys):
    pd.read_parquet(tiny / "tiny.parquet").to_parquet(tiny / "airfoil.parquet")
    assert __main__.main(["run", "--datasets", "airfoil"]) == 2
    assert "not the paper's: it has 200 rows and 2 features" in capsys.readouterr().err
    assert "not the paper's" in datasets.status("airfoil")
    assert datasets.status("allstate") == "missing"


def test_time_left():
    assert [run.duration(s) for s in (12, 100, 3700)] == ["12 s", "2 min", "1 h 2 min"]


# A cell fitted again


def test_a_cell_beside_the_papers_value(tiny, capsys):
    (tiny / "tiny.parquet").rename(tiny / "airfoil.parquet")
    arguments = ["beside", "airfoil", "b", "--seeds", "777", "778", "--draws", "2"]
    assert __main__.main([*arguments, "--bootstraps", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = next(line for line in lines if line.startswith("| 777 | CLEAR ")).split(" | ")
    assert cells[2] == "0.09501"  # as published
    assert float(cells[3]) < float(cells[4].strip(" |"))
    assert any(line.startswith("| mean | CLEAR | 0.1") for line in lines)


def test_a_cell_whose_winner_is_named(tiny, capsys):
    """Variant (a) with boosting alone equals (b)."""
    X, y = datasets.load("tiny")
    splits = {"standard": protocol.split_rows(200, 777)}
    named = parts.fit_parts("a", X, y, splits, 777, n_bootstraps=3, models=["boosting"])
    expected = parts.fit_parts("b", X, y, splits, 777, n_bootstraps=3)
    for found, same in zip(named["standard"].fitted, expected["standard"].fitted, strict=True):
        np.testing.assert_array_equal(found, same)
    assert __main__.main(["beside", "tiny", "a", "--models", "boosting", "spline"]) == 2
    said = "Variant (a) has no model 'spline'; there are: forest, boosting, gam."
    assert capsys.readouterr().err.strip() == said


def test_a_cell_on_the_authors_bootstraps(tiny, capsys):
    """Center and members equal those of `authors`, whatever models learn the residuals."""
    pytest.importorskip("xgboost")
    (tiny / "tiny.parquet").rename(tiny / "airfoil.parquet")
    arguments = ["beside", "airfoil", "b", "--seeds", "779", "--authors-draws"]
    assert __main__.main([*arguments, "--bootstraps", "3", "--metric", "authors_nciw"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "seed 779: the winner is boosting"
    X, y = datasets.load("airfoil")
    expected = authors.run(X, y, 2, ["PCS-EPISTEMIC"], n_bootstraps=3)["PCS-EPISTEMIC"]["nciw"]
    cells = next(line for line in lines if line.startswith("| 779 | PCS")).split(" | ")
    assert cells[-1] == f"{expected:.4g} |"
    assert not any("ALEATORIC |" in line and "nan" not in line for line in lines)


def test_a_cell_with_other_halves(tiny, capsys):
    arguments = ["beside", "tiny", "b", "--seeds", "780", "--halves", "3", "--bootstraps", "3"]
    assert __main__.main([*arguments, "--metric", "niw"]) == 0
    lines = capsys.readouterr().out.splitlines()
    halvings, spread = lines[2:5], float(lines[6].split(" | ")[1])
    assert len({line.split(" | ")[1] for line in halvings}) == 3
    assert spread > 0


def test_uacqr_around_the_forest_of_all_rows(tiny, monkeypatch, capsys):
    """The bounds are those of the forest; the bootstraps say how far they move."""
    (tiny / "tiny.parquet").rename(tiny / "airfoil.parquet")
    arguments = ["uacqr_ways", "airfoil", "--seeds", "777", "778", "--bootstraps", "25"]
    monkeypatch.setattr(sys, "argv", arguments)
    uacqr_ways.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    losses = {cells[1]: cells[2:4] for cells in (line.split(" | ") for line in lines)}
    assert list(losses) == [
        "UACQR-P",
        "UACQR-S, medians of the bootstraps",
        "UACQR-S, the forest of all rows",
    ]
    (_, of_p), (bagged, of_s), (whole, also_of_s) = losses.values()
    assert bagged != whole
    assert of_s == also_of_s != of_p

    members = np.random.default_rng(0).normal(size=(8, 3, 5)).cumsum(axis=1)
    center, aleatoric, epistemic = uacqr_ways.around_whole(members, members[:, :, 0])
    np.testing.assert_array_equal(center, members[:, 1, 0])
    np.testing.assert_allclose(center + aleatoric[:, 1, 0], np.maximum(center, members[:, 2, 0]))
    quartiles = np.quantile(members[:, 0], [0.25, 0.75], axis=1)
    np.testing.assert_allclose(epistemic[:, 0, 0], quartiles[1] - quartiles[0])
