"""Messy files, from inspect to report: changes are told, and the model recognises its rows."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import clearbands
from clearbands.apps.cli.commands import app
from tests.apps.cli.messy import messy
from tests.apps.cli.running import assert_fails, run


@pytest.fixture(scope="session")
def messy_fit(messy_files):
    return run(
        "fit", messy_files / "houses.csv", "--target", "price", "--out", messy_files / "model.cb",
        "--preset", "b", "--unit", "EUR", "--id", "HouseId", "--drop", "country",
    )  # fmt: skip


@pytest.fixture(scope="session")
def messy_model(messy_files, messy_fit):
    assert messy_fit.exit_code == 0, messy_fit.stderr
    return messy_files / "model.cb"


def test_fit_tells_how_it_read_the_table(messy_model, messy_fit):
    assert "Read houses.csv: 120 rows, 3 columns to learn from" in messy_fit.stdout
    assert "Column 'pool' has no value in any row. It is left out" in messy_fit.stderr
    assert clearbands.load(messy_model).feature_names_in_.tolist() == ["size", "lot", "zip"]
    assert clearbands.load(messy_model).encoder_.kinds_ == {
        "size": "number",
        "lot": "number",
        "zip": "text",
    }
    for words in (
        "Column 'size': 1 cell read as missing, such as '?' in row 120 (counted from 1)",
        "Column 'lot': ",
        "Column 'zip': text, because some begin with 0",
        "Column 1 has no name and only counts the rows: left out.",
    ):
        assert f"Warning: {words}" in messy_fit.stderr
    assert "HouseId" not in messy_fit.stderr
    assert "country" not in messy_fit.stderr


def test_the_model_knows_where_it_comes_from(messy_model):
    origin = clearbands.load(messy_model).origin_
    assert (origin.target, origin.unit, origin.id) == ("price", "EUR", "HouseId")
    assert (origin.data, origin.n_rows) == ("houses.csv", 120)


def test_predict_carries_ids_and_columns_along(messy_files, messy_model, tmp_path):
    out = tmp_path / "out.csv"
    result = run(
        "predict", messy_model, messy_files / "new.csv", "--out", out, "--keep", "country,zip"
    )
    assert result.exit_code == 0, result.stderr
    table = pl.read_csv(out, schema_overrides={"zip": pl.String})
    assert table.columns[:4] == ["HouseId", "country", "zip", "prediction"]
    new = pl.read_csv(messy_files / "new.csv", schema_overrides={"zip": pl.String})
    assert table["HouseId"].to_list() == new["HouseId"].to_list()
    assert table["zip"].to_list() == new["zip"].to_list()
    run("predict", messy_model, messy_files / "new.csv", "--out", out, "--id", "zip")
    assert pl.read_csv(out).columns[:2] == ["zip", "prediction"]
    wrong = run("predict", messy_model, messy_files / "new.csv", "--out", out, "--keep", "towns")
    assert wrong.exit_code == 2
    assert "has no column 'towns'" in wrong.stderr


@pytest.mark.filterwarnings("default:The output holds text")
@pytest.mark.parametrize("ending", ["csv", "parquet"])  # read in memory, and piece by piece
def test_predict_tells_of_formulas_and_marks_them(messy_files, messy_model, tmp_path, ending):
    new = pl.read_csv(messy_files / "new.csv", schema_overrides={"zip": pl.String})
    new = new.with_columns(note=pl.lit("=1+1"))
    data, out = tmp_path / f"new.{ending}", tmp_path / "out.csv"
    new.write_csv(data) if ending == "csv" else new.write_parquet(data)
    asked = ["predict", messy_model, data, "--keep", "note", "--out"]
    result = run(*asked, out)
    assert result.exit_code == 0, result.stderr
    assert "a spreadsheet runs as a formula, such as '=1+1' in column 'note'" in result.stderr
    assert pl.read_csv(out)["note"].unique().to_list() == ["=1+1"]
    for place in (out, "-"):
        result = run(*asked, place, "--no-formulas")
        assert result.exit_code == 0, result.stderr
        assert "formula" not in result.stderr
        text = out.read_text() if place == out else result.stdout
        assert text.splitlines()[1].split(",")[1] == "'=1+1"


def test_columns_that_would_stand_twice_are_refused(messy_files, messy_model, tmp_path):
    new = pl.read_csv(messy_files / "new.csv", infer_schema=False).with_columns(lower_90=pl.lit(1))
    new.write_csv(tmp_path / "new.csv")
    out = tmp_path / "out.csv"
    result = run("predict", messy_model, tmp_path / "new.csv", "--out", out, "--keep", "lower_90")
    assert result.exit_code == 2
    assert "The output has a column 'lower_90' of its own" in result.stderr


def test_predict_reads_and_writes_streams(messy_files, messy_model, tmp_path):
    run("predict", messy_model, messy_files / "new.csv", "--out", tmp_path / "out.csv")
    content = (messy_files / "new.csv").read_bytes()
    result = CliRunner().invoke(
        app, ["predict", str(messy_model), "-", "--out", "-"], input=content
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("size", "Size", "rename 'Size' to 'size'"),
        ("8,", "8x,", "Column 'size' must hold numbers, but row"),
    ],
)
def test_predict_names_what_is_wrong(messy_files, messy_model, tmp_path, old, new, said):
    path = tmp_path / "new.csv"
    path.write_text((messy_files / "new.csv").read_text().replace(old, new, 1))
    result = run("predict", messy_model, path, "--out", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert said in result.stderr


def test_evaluate_and_report_take_the_target_from_the_model(messy_files, messy_model, tmp_path):
    result = run("evaluate", messy_model, messy_files / "new.csv", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["n_rows_seen_in_fit"] == 0
    assert "SEEN" not in result.stderr
    page = tmp_path / "page.html"
    assert run("report", messy_model, messy_files / "new.csv", "--out", page).exit_code == 0
    text = page.read_text()
    assert "EUR wide" in text
    assert "houses.csv, 120 rows, fingerprint" in text


def test_rows_of_the_fit_are_known_again_in_any_order(messy_files, messy_model, tmp_path):
    pl.read_csv(messy_files / "houses.csv", infer_schema=False).reverse().write_csv(
        tmp_path / "r.csv"
    )
    for data in (messy_files / "houses.csv", tmp_path / "r.csv"):
        result = run("evaluate", messy_model, data, "--json")
        assert json.loads(result.stdout)["n_rows_seen_in_fit"] == 120
        assert "Warning: THE MODEL HAS SEEN THESE ROWS. It was fitted on ALL 120" in result.stderr
    page = tmp_path / "page.html"
    assert "HAS SEEN" in run("report", messy_model, tmp_path / "r.csv", "--out", page).stderr
    assert "120 of 120" in page.read_text()


def test_rows_that_were_kept_for_the_report_are_new(messy_files, tmp_path):
    out, page = tmp_path / "model.cb", tmp_path / "page.html"
    run(
        "fit", messy_files / "houses.csv", "--target", "price", "--out", out, "--preset", "b",
        "--report", page,
    )  # fmt: skip
    result = run("evaluate", out, messy_files / "houses.csv", "--json")
    assert json.loads(result.stdout)["n_rows_seen_in_fit"] == 96


def test_a_model_without_a_record_asks_for_the_target(messy_files, messy_model, tmp_path):
    bare = clearbands.load(messy_model)
    del bare.origin_
    clearbands.save(bare, tmp_path / "bare.cb")
    result = run("evaluate", tmp_path / "bare.cb", messy_files / "new.csv")
    assert result.exit_code == 2
    assert "does not know the name of its target; give it with --target" in result.stderr
    done = run("evaluate", tmp_path / "bare.cb", messy_files / "new.csv", "--target", "price")
    assert done.exit_code == 0


def test_european_files_need_no_options(tmp_path):
    table = messy(60).select("size", "price")[:-1]
    rows = [f"{size};{price:.2f}".replace(".", ",") for size, price in table.rows()]
    path, out = tmp_path / "haeuser.csv", tmp_path / "model.cb"
    path.write_text("Größe;Preis\n" + "\n".join(rows), encoding="latin-1")
    result = run("fit", path, "--target", "Preis", "--out", out, "--preset", "b")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "csv, separator semicolon, decimal comma, encoding windows-1252" in result.stdout
    said = run("inspect", path, "--separator", "tab", "--decimal", ".", "--encoding", "latin-1")
    assert "separator tab, encoding latin-1" in said.stdout


@pytest.mark.slow
def test_a_number_that_was_fitted_as_text_is_text_in_every_format(tmp_path):
    rng = np.random.default_rng(0)
    rooms, size = rng.integers(1, 5, 160), rng.normal(size=160)
    houses = pl.DataFrame({"rooms": rooms, "size": size, "price": 10 * rooms + size})
    houses[:120].write_csv(tmp_path / "houses.csv")
    new = houses[120:]
    new.write_csv(tmp_path / "new.csv")
    new.write_parquet(tmp_path / "new.parquet")
    new.with_columns(pl.col("rooms").cast(pl.Float64)).write_ipc(tmp_path / "new.feather")
    (tmp_path / "folder").mkdir()
    new.write_parquet(tmp_path / "folder" / "part.parquet")
    model = tmp_path / "model.cb"
    fit = run(
        "fit", tmp_path / "houses.csv", "--target", "price", "--out", model, "--preset", "b",
        "--columns-as", "rooms=text",
    )  # fmt: skip
    assert fit.exit_code == 0, fit.stderr
    tables, scores = [], []
    for name in ("new.csv", "new.parquet", "new.feather", "folder"):
        out = tmp_path / "out.csv"
        done = run("predict", model, tmp_path / name, "--out", out)
        assert done.exit_code == 0, done.stderr
        tables.append(out.read_text())
        if name != "folder":
            done = run("evaluate", model, tmp_path / name, "--json")
            assert done.exit_code == 0, done.stderr
            scores.append(json.loads(done.stdout) | {"data": ""})
    assert len(set(tables)) == 1
    assert all(score == scores[0] for score in scores)


def exported(n_rows, seed=0):
    """Return a listing as exported in the US, with a gap and a word among the prices."""
    rng = np.random.default_rng(seed)
    area = rng.integers(500, 4000, n_rows)
    prices = [f"${price:,.0f}" for price in 110 * area + rng.normal(0, 2e4, n_rows)]
    days = [f"{m:02d}/{d:02d}/2008" for m, d in zip(*rng.integers(1, 13, (2, n_rows)), strict=True)]
    return pl.DataFrame(
        {"Price": [*prices[:-2], "sold", ""], "Area": area, "Listed": [*days[:-1], "07/25/2008"]}
    )


def test_targets_with_gaps_are_offered_a_way_and_files_are_remembered(tmp_path):
    exported(90).write_csv(tmp_path / "old.csv")
    fit = ("fit", tmp_path / "old.csv", "--target", "Price", "--out", tmp_path / "m.clear")
    assert_fails(
        run(*fit),
        "holds 'sold' in row 89 (counted from 1), which is no number",
        "--drop-missing-target",
    )
    done = run(*fit, "--drop-missing-target", "--preset", "b")
    assert done.exit_code == 0, done.stderr
    assert "Left out 2 rows of 90, whose target 'Price' is missing, such as 'sold'" in done.stderr
    origin = clearbands.load(tmp_path / "m.clear").origin_
    assert (origin.n_rows, origin.decimal, origin.date_orders) == (88, ".", {"Listed": "mdy"})
    exported(90, seed=1).write_csv(tmp_path / "later.csv")
    scored = ("evaluate", tmp_path / "m.clear", tmp_path / "later.csv")
    assert "--drop-missing-target of fit, evaluate, report and explore" in run(*scored).stderr
    done = run(*scored, "--drop-missing-target", "--json")
    assert json.loads(done.stdout)["n_rows"] == 88, done.stderr
    tables = []
    for day in ("07/05/2008", "2008-07-05"):  # alone, the first could be in May
        (tmp_path / "new.csv").write_text(f"Area;Listed\n900;{day}\n")
        made = run("predict", tmp_path / "m.clear", tmp_path / "new.csv", "--out", "-")
        assert made.exit_code == 0, made.stderr
        tables.append(made.stdout)
    assert tables[0] == tables[1]


def test_text_that_looks_like_numbers_is_no_class_unless_asked(tmp_path):
    path = tmp_path / "apps.csv"
    pl.DataFrame({"x": range(60), "installs": ["10,000+", "5,000+"] * 30}).write_csv(path)
    asked = ("fit", path, "--target", "installs", "--out", tmp_path / "m.clear")
    said = "text that looks like numbers, such as '10,000+'", "--task classification"
    assert_fails(run(*asked), *said)
    assert run("inspect", path, "--target", "installs").exit_code == 2
    assert_fails(run(*asked, "--columns-as", "installs=number"), "'installs' holds no number")
