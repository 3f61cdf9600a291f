"""The command as users run it: real files, a real model, the sentences they read."""

from __future__ import annotations

import hashlib
import html
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import clearbands
from clearbands import metrics, presets
from clearbands.apps import cli
from clearbands.apps.cli.commands import app
from clearbands.apps.cli.console import HEADINGS
from clearbands.apps.reading.reading import read_table
from clearbands.rows.display import number
from clearbands.rows.settings import PresetName
from tests.apps.report.test_report import Page
from tests.deep import TINY, need_torch

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")
FEATURES = ["x", "age", "colour"]


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def assert_fails(result, *said):
    """One sentence on standard error, exit code 2, and nothing that looks like a result."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for words in said:
        assert words in result.stderr


def houses(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    colour = rng.choice(["red", "green", None], n_rows)
    noise = rng.normal(size=n_rows) * (1 + np.abs(x))
    return pl.DataFrame(
        {
            "x": x,
            "age": rng.integers(20, 80, n_rows),
            "colour": colour.tolist(),
            "price": 3 * x + (colour == "red") + noise,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    houses(160).write_csv(folder / "train.csv")
    test = houses(60, seed=1).with_row_index("id")
    test.write_csv(folder / "test.csv")
    test.write_parquet(folder / "test.parquet")
    return folder


@pytest.fixture(scope="module")
def fitted(folder):
    return run(
        "fit", folder / "train.csv", "--target", "price", "--out", folder / "model.cb",
        "--level", 0.9, "--level", 0.8,
    )  # fmt: skip


@pytest.fixture(scope="module")
def model(folder, fitted):
    assert fitted.exit_code == 0, fitted.stderr
    return folder / "model.cb"


@pytest.fixture(scope="module")
def one_level(folder):
    path = folder / "one.cb"
    result = run("fit", folder / "train.csv", "--target", "price", "--out", path, "--preset", "b")
    assert result.exit_code == 0, result.stderr
    return path


def test_fit_says_what_it_did_and_shows_no_bar_off_a_terminal(model, fitted):
    assert "Fitted on train.csv" in fitted.stdout
    assert "160 trained, 160 of them calibrated by members" in " ".join(fitted.stdout.split())
    assert "guarantee" in fitted.stdout
    said, unseen = " ".join(fitted.stdout.split()), clearbands.load(model).unseen_
    for words in (f"{100 * unseen.coverage[1]:.1f} % of 160 rows", number(unseen.rmse_of_mean)):
        assert words in said
    assert f"typical width at 90 % {number(unseen.width[0])}" in said
    assert "lambda" not in said
    assert f"Wrote {model}" in fitted.stdout
    assert fitted.stderr == ""


def test_fit_gives_the_model_that_python_gives(folder, model):
    frame = pl.read_csv(folder / "train.csv")
    by_hand = clearbands.ClearRegressor(confidence_level=[0.9, 0.8], random_state=0)
    by_hand.fit(frame.select(FEATURES), frame["price"].to_numpy())
    X = pl.read_csv(folder / "test.csv").select(FEATURES)
    for ours, theirs in zip(
        clearbands.load(model).predict_interval(X), by_hand.predict_interval(X), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_presets_calibration_seed_and_jobs_reach_the_model(folder, one_level, tmp_path):
    variant = clearbands.load(one_level)
    assert [entry["model"] for entry in variant.epistemic_.leaderboard_] == ["boosting"]
    out = tmp_path / "conformal.cb"
    result = run(
        "fit", folder / "train.csv", "--target", "price", "--out", out, "--level", 0.5,
        "--preset", "b", "--calibration", "conformal", "--seed", 7, "--jobs", 1,
    )  # fmt: skip
    assert "20 chose lambda, 20 calibrated" in result.stdout
    assert "finite-sample marginal coverage" in result.stdout
    conformal = clearbands.load(out)
    assert (conformal.random_state, conformal.n_jobs) == (7, 1)
    assert conformal.levels_.tolist() == [0.5]


def test_networks_from_fit_to_report(folder, tmp_path, monkeypatch):
    need_torch()
    networks = presets.variant_deep

    def small_networks(**parameters):
        small = {f"{part}__{k}": v for part in ("epistemic", "aleatoric") for k, v in TINY.items()}
        return networks(**parameters).set_params(**small)

    monkeypatch.setitem(presets.PRESETS, "deep", small_networks)
    out, page = tmp_path / "deep.cb", tmp_path / "report.html"
    result = run(
        "fit", folder / "train.csv", "--target", "price", "--out", out, "--preset", "deep",
        "--report", page,
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    assert isinstance(clearbands.load(out).epistemic_, clearbands.DeepEnsemble)
    assert "--preset=deep" in page.read_text()
    assert run("evaluate", out, folder / "test.csv", "--target", "price").exit_code == 0


def test_networks_without_torch_are_refused_before_any_work(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = run(
        "fit", folder / "train.csv", "--target", "price", "--out", tmp_path / "deep.cb",
        "--preset", "deep",
    )  # fmt: skip
    assert_fails(result, 'Training networks needs the extra "deep": pip install torch')


def test_predict_writes_what_python_predicts(folder, model, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", model, folder / "test.csv", "--out", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"Wrote {out} (60 rows).\n"
    table = pl.read_csv(out)
    assert table.columns == [
        "prediction", "lower_90", "upper_90", "lower_80", "upper_80",
        "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
    ]  # fmt: skip
    loaded, X = clearbands.load(model), pl.read_csv(folder / "test.csv").select(FEATURES)
    point, intervals = loaded.predict_interval(X)
    parts = loaded.predict_uncertainty(X, confidence_level=0.9)
    np.testing.assert_array_equal(table["prediction"], point)
    np.testing.assert_array_equal(table["lower_90"], intervals[:, 0, 0])
    np.testing.assert_array_equal(table["upper_80"], intervals[:, 1, 1])
    np.testing.assert_array_equal(table["aleatoric"], parts.aleatoric.sum(axis=1))
    np.testing.assert_allclose(
        table["epistemic_share"],
        parts.epistemic.sum(axis=1) / (parts.epistemic + parts.aleatoric).sum(axis=1),
    )
    np.testing.assert_allclose(
        table["upper_90"] - table["lower_90"], table["aleatoric"] + table["epistemic"]
    )


def test_one_level_has_its_number_in_the_names_as_well(folder, one_level, tmp_path):
    run("predict", one_level, folder / "test.csv", "--out", tmp_path / "out.csv")
    names = pl.read_csv(tmp_path / "out.csv").columns
    assert names == [
        "prediction", "lower_90", "upper_90",
        "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
    ]  # fmt: skip


def test_csv_and_parquet_give_equal_predictions(folder, model, tmp_path):
    tables = []
    for data in (folder / "test.csv", folder / "test.parquet"):
        for name in ("out.csv", "out.parquet"):
            assert run("predict", model, data, "--out", tmp_path / name).exit_code == 0
            tables.append(read_table(tmp_path / name).frame)
    for table in tables[1:]:
        assert_frame_equal(table, tables[0], check_exact=True)


def test_a_single_row_with_gaps_can_be_predicted(model, tmp_path):
    (tmp_path / "row.csv").write_text("colour,age,x\n,,0.5\n")
    result = run("predict", model, tmp_path / "row.csv", "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    assert pl.read_csv(tmp_path / "out.csv").height == 1


def test_evaluate_gives_the_metrics_to_people_and_machines(folder, model):
    result = run("evaluate", model, folder / "test.csv", "--target", "price", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    assert said["n_rows"] == 60
    test = pl.read_csv(folder / "test.csv")
    center, intervals = clearbands.load(model).predict_interval(test.select(FEATURES))
    for j, (level, row) in enumerate(zip([0.9, 0.8], said["levels"], strict=True)):
        expected = metrics.evaluate(test["price"].to_numpy(), center, intervals[:, :, j], level)
        assert row == {"confidence_level": level, **expected}

    table = run("evaluate", model, folder / "test.csv", "--target", "price").stdout
    assert "test.csv, 60 rows" in table
    for name, value in said["levels"][1].items():
        assert (
            HEADINGS[name].split("\n")[-1].split()[0] in table
        )  # the last line is its abbreviation
        assert (f"{value:g}" if name == "confidence_level" else number(value)) in table
    page = Page(clearbands.load(model).report(test.select(FEATURES), test["price"]).html).text
    said = " ".join(table.split())
    shown = re.findall(r"At 90 %: (\d+ of 60) .*? inside, (.*?) \(by .*? is (\S+) wide", said)
    for words in shown[0]:
        assert words in page  # to the last digit


def test_report_writes_a_page_that_tells_how_to_repeat_it(folder, model, tmp_path):
    out = tmp_path / "page.html"
    args = ["report", model, folder / "test.csv", "--target", "price", "--out", out]
    result = run(*args, "--unit", "EUR", "--by", "id", "--drop-missing-target")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"Wrote {out} (a report on 60 rows).\n"
    page = html.unescape(out.read_text(encoding="utf-8"))
    assert "EUR wide" in page
    assert "<caption>Group</caption>" in page
    command = re.search("<code>(clearbands report .*)</code>", page).group(1)
    assert run(*shlex.split(command)[1:]).exit_code == 0
    assert html.unescape(out.read_text(encoding="utf-8")) == page
    assert hashlib.sha256((folder / "test.csv").read_bytes()).hexdigest()[:32] in page
    assert f"clearbands {clearbands.__version__}, python {platform.python_version()}" in page


def test_report_checks_its_arguments(folder, model, tmp_path):
    args = ["report", model, folder / "test.csv", "--target"]
    assert_fails(run(*args, "price", "--out", folder / "test.csv"), "is an input")
    assert_fails(run(*args, "prices", "--out", tmp_path / "a.html"), "did you mean 'price'?")
    wrong = run(*args, "price", "--out", tmp_path / "a.html", "--by", "color")
    assert_fails(wrong, "has no column 'color'; did you mean 'colour'?")
    assert list(tmp_path.iterdir()) == []


def test_fit_keeps_rows_for_its_report_out_of_the_fit(folder, tmp_path):
    model, page = tmp_path / "model.cb", tmp_path / "page.html"
    args = ["fit", folder / "train.csv", "--target", "price", "--preset", "b", "--out", model]
    result = run(*args, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "96 trained, 32 calibrated" in result.stdout
    assert f"Wrote {page} (a report on 32 rows)." in result.stdout
    assert "32 of 160, drawn by the seed and kept out of the fit" in page.read_text()
    taken = re.search(r'"rows": (\[\[.*?\]\]), "share"', page.read_text())
    names = json.loads(re.search(r'"names": (\[.*?\])', page.read_text())[1])
    rows = json.loads(taken[1])
    assert len(rows) == 32
    prices = pl.read_csv(folder / "train.csv")["price"]  # a row has the number of the file
    for row in rows:
        assert row[names.index("true value")] == pytest.approx(prices[row[0] - 1])
    assert_fails(run(*args, "--report", model), "both name")
    few = tmp_path / "few.csv"
    houses(12).write_csv(few)
    result = run("fit", few, "--target", "price", "--out", model, "--report", page)
    assert_fails(result, "A fifth of 12 rows is 3, and a report needs at least 4")


def test_the_demo_writes_a_table_a_picture_and_a_report(tmp_path):
    out = tmp_path / "new" / "demo"
    result = run("demo", "--out", out)
    assert (result.exit_code, result.stderr) == (0, "")
    said = " ".join(result.stdout.split())  # some spaces do not break
    for words in ("coverage", "90 % promised", "typical width", "epistemic share", "best model"):
        assert words in said
    written = sorted(path.name for path in out.iterdir())
    assert written == ["bands.png", "intervals.csv", "report.html"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "intervals for progression · 111 rows" in page
    assert (out / "bands.png").read_bytes().startswith(b"\x89PNG")
    table = pl.read_csv(out / "intervals.csv")
    inside = table["progression"].is_between(table["lower_90"], table["upper_90"]).mean()
    assert f"{100 * inside:.1f} % of {table.height} unseen rows" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x,prize\n1,2\n", ["has no column 'price'; did you mean 'prize'?"]),
        ("x,price\n1,cheap\n", ["The target 'price' holds text such as 'cheap'"]),
        (
            "x,price\n1,\n2,3\n",
            ["The target 'price' is missing in 1 row of 2, first in row 1 (counted from 1)"],
        ),
        ("price\n1\n2\n", ["has no column besides the target 'price'"]),
        ("x,price\n", ["data.csv has column names but no rows."]),
        ("", ["data.csv is empty (0 bytes)."]),
        ("x,price\n1,2,3\n", ["data.csv could not be read as a csv file"]),
    ],
)
def test_fit_refuses_bad_tables(tmp_path, content, said):
    data = tmp_path / "data.csv"
    data.write_text(content)
    assert_fails(run("fit", data, "--target", "price", "--out", tmp_path / "model.cb"), *said)
    assert list(tmp_path.iterdir()) == [data]


def test_too_few_rows_are_found_by_the_fit_itself(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,price\n1,2\n")
    result = run("fit", data, "--target", "price", "--out", tmp_path / "model.cb")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"data": "nope.csv"}, "There is no file"),
        ({"data": "train.doc"}, "ends in '.doc'; tables are files that end in"),
        ({"--out": "nope/model.cb"}, "nope for model.cb; create it first."),
        ({"--out": "train.csv"}, "is an input and would be overwritten"),
        ({"--level": "95"}, "got 95.0. Did you mean 0.95?"),
    ],
)
def test_fit_refuses_bad_arguments_before_it_works(folder, changed, said):
    given = {"data": "train.csv", "--out": "new.cb", "--level": "0.9"} | changed
    data, out = folder / given["data"], folder / given["--out"]
    before = (folder / "train.csv").read_bytes()
    result = run("fit", data, "--target", "price", "--out", out, "--level", given["--level"])
    assert_fails(result, said)
    assert not (folder / "new.cb").exists()
    assert (folder / "train.csv").read_bytes() == before


def test_predict_names_the_columns_it_misses(model, tmp_path):
    (tmp_path / "data.csv").write_text("id,x\n1,2\n")
    result = run("predict", model, tmp_path / "data.csv", "--out", tmp_path / "out.csv")
    assert_fails(result, "lacks 2 columns the model was fitted on: 'age', 'colour'; add")
    assert not (tmp_path / "out.csv").exists()


def test_predict_names_a_column_that_turned_into_text(model, tmp_path):
    (tmp_path / "data.csv").write_text("x,age,colour\nlow,30,red\n")
    result = run("predict", model, tmp_path / "data.csv", "--out", tmp_path / "out.csv")
    assert_fails(result, "Column 'x' must hold numbers, but row 1 (counted from 1) holds 'low'")


@pytest.mark.parametrize("out", ["out.xlsx", "nope/out.csv", "test.csv", "model.cb"])
def test_predict_checks_its_output_first(folder, model, out):
    before = model.read_bytes()
    assert_fails(run("predict", model, folder / "test.csv", "--out", folder / out))
    assert model.read_bytes() == before


def test_wrong_and_cut_models_are_refused(folder, model, tmp_path):
    cut = tmp_path / "cut.cb"
    cut.write_bytes(model.read_bytes()[:-500])
    for path, said in (
        (cut, "cut.cb is not a complete clearbands model"),
        (folder / "test.csv", "test.csv is not a complete clearbands model"),
        (tmp_path / "nope.cb", "There is no file"),
    ):
        assert_fails(run("evaluate", path, folder / "test.csv", "--target", "price"), said)


def test_models_that_files_cannot_serve_are_refused(folder, tmp_path):
    frame = houses(40)
    X, y = frame["x"].to_numpy()[:, None], frame["price"].to_numpy()
    part = clearbands.LinearQuantiles().fit(X, y)
    clearbands.save(part, tmp_path / "part.cb")
    nameless = clearbands.ClearRegressor(
        clearbands.PCSEnsemble({"linear": clearbands.LinearQuantiles()}, n_bootstraps=3),
        clearbands.ResidualQuantiles(clearbands.LinearQuantiles(), n_bootstraps=3),
        calibration="joint",
    )
    clearbands.save(nameless.fit(X, y), tmp_path / "nameless.cb")
    for name, said in (
        ("part.cb", "holds a LinearQuantiles; the command needs a ClearRegressor"),
        ("nameless.cb", "was fitted on an array without column names"),
    ):
        result = run("predict", tmp_path / name, folder / "test.csv", "--out", tmp_path / "o.csv")
        assert_fails(result, said)


def test_evaluate_refuses_a_target_it_cannot_score(folder, model, tmp_path):
    data = folder / "test.csv"
    assert_fails(run("evaluate", model, data, "--target", "prices"), "did you mean 'price'?")
    pl.read_csv(data).head(1).write_csv(tmp_path / "one.csv")
    result = run("evaluate", model, tmp_path / "one.csv", "--target", "price")
    assert_fails(result, "has the same value in every row", "evaluate on more rows")


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_each(tmp_path):
    data, out = tmp_path / "small.csv", tmp_path / "model.cb"
    houses(20).write_csv(data)
    result = run("fit", data, "--target", "price", "--out", out, "--preset", "b")
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: ")
    assert result.stderr.count("\n") == 1


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path):
    args = ["fit", tmp_path / "nope.csv", "--target", "y", "--out", tmp_path / "m.cb"]
    for result in (run("--debug", *args), run(*args, "--debug")):
        assert result.exit_code == 2
        assert "Traceback" in result.stderr
        assert "ValueError: There is no file" in result.stderr


def test_what_nobody_foresaw_says_so(folder, monkeypatch, tmp_path):
    def break_down(*args, **kwargs):
        raise KeyError("odd")

    monkeypatch.setattr("clearbands.apps.cli.fit.read_table", break_down)
    result = run("fit", folder / "train.csv", "--target", "y", "--out", tmp_path / "m.cb")
    assert_fails(result, "unexpected KeyError ('odd'); --debug shows where it happened.")


def test_the_presets_of_the_command_are_those_of_the_library():
    assert set(get_args(PresetName)) == set(presets.PRESETS)


def test_usage_errors_exit_with_2(folder):
    assert run("fit", folder / "train.csv").exit_code == 2
    assert run("fit", "--preset", "z").exit_code == 2
    assert run("nonsense").exit_code == 2


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        'The command needs the extra "cli": pip install typer rich polars jinja2 matplotlib.\n'
    )


def test_help_loads_nothing_slow():
    code = (
        "import sys; import clearbands.apps.cli.commands; "
        "sys.exit(', '.join({'sklearn', 'numba', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "clearbands", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"clearbands {clearbands.__version__}\n")


def test_the_installed_script_tells_its_version_and_commands():
    version = subprocess.run([SCRIPT, "--version"], capture_output=True, text=True)
    assert (version.returncode, version.stdout) == (0, f"clearbands {clearbands.__version__}\n")
    shown = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0
    for command in ("demo", "fit", "predict", "evaluate", "report"):
        assert f"\n  {command} " in shown.stdout


def test_the_installed_script_predicts(folder, model, tmp_path):
    out = tmp_path / "out.parquet"
    done = subprocess.run(
        [SCRIPT, "predict", model, folder / "test.parquet", "--out", out],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert pl.read_parquet(out).height == 60


# A shell that runs the tests in the background has them ignore the signal. `preexec_fn` would undo
# it in a fork of a process with threads, which may never end.
THAT_HEARS_CTRL_C = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def _read_until(terminal, words, seconds=120):
    shown, deadline = b"", time.monotonic() + seconds
    while words not in shown:
        assert time.monotonic() < deadline, shown
        shown += os.read(terminal, 4096)
    return shown


def test_on_a_terminal_a_bar_moves_and_ctrl_c_leaves_nothing(tmp_path):
    pty = pytest.importorskip("pty")
    houses(4000).write_csv(tmp_path / "data.csv")
    ours, theirs = pty.openpty()
    command = [SCRIPT, "fit", "data.csv", "--target", "price"]
    process = subprocess.Popen(
        [sys.executable, "-c", THAT_HEARS_CTRL_C, *command, "--out", "model.cb", "--jobs", "1"],
        cwd=tmp_path,
        env=os.environ | {"TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = _read_until(ours, b"Choosing a center")
    process.send_signal(signal.SIGINT)
    shown += _read_until(ours, b"half-written.")
    assert process.wait(30) == 130
    os.close(ours)
    assert b" left" in shown
    assert b"Traceback" not in shown
    assert b"Wrote" not in process.stdout.read()
    process.stdout.close()
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
