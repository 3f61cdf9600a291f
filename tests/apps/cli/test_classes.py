"""A target that holds classes, from inspect to the report and the service."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import clearbands
from clearbands import ClearClassifier
from clearbands.diagnostics.class_metrics import evaluate_classes
from tests.apps.cli.running import assert_fails, run


def flowers(n, seed=0):
    """Draw plants whose two numbers and text mostly tell three kinds apart."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    return pl.DataFrame(
        {
            "name": [f"plant {seed}-{i}" for i in range(n)],
            "length": (kind + rng.normal(0, 0.4, n)).round(3),
            "width": rng.normal(size=n).round(3),
            "place": np.where(kind == 2, "wood", rng.choice(["wood", "lawn"], n)),
            "kind": np.array(["ash", "beech", "cedar"])[kind],
            "is_tall": (kind + rng.normal(0, 0.5, n) > 1).astype(int),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flowers")
    flowers(150).write_csv(folder / "old.csv")
    flowers(80, seed=1).write_csv(folder / "new.csv")
    return folder


@pytest.fixture(scope="module")
def fitted(folder):
    return run(
        "fit", folder / "old.csv", "--target", "kind", "--out", folder / "model.clear",
        "--id", "name", "--drop", "is_tall", "--report", folder / "fit.html",
    )  # fmt: skip


def test_classes_are_recognised_and_said(folder, fitted):
    assert fitted.exit_code == 0, fitted.output
    counts = flowers(150)["kind"].value_counts(sort=True)
    most = counts.row(0)
    assert f"The target 'kind' holds 3 classes: {most[0]} ({most[1]})" in fitted.stdout
    assert "--task" not in fitted.stdout  # text can only be classes
    assert "coverage close to the level" in " ".join(fitted.stdout.split())
    assert isinstance(clearbands.load(folder / "model.clear"), ClearClassifier)
    shown = run("inspect", folder / "old.csv", "--target", "kind").stdout
    assert "The target 'kind' holds 3 classes" in shown


def test_predictions_are_those_of_the_model(folder, fitted):
    result = run("predict", folder / "model.clear", folder / "new.csv", "--out", folder / "p.csv")
    assert result.exit_code == 0, result.output
    table = pl.read_csv(folder / "p.csv")
    assert table.columns == [
        "name", "prediction", "set_90", "p_ash", "p_beech", "p_cedar",
        "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
    ]  # fmt: skip
    model = clearbands.load(folder / "model.clear")
    X = flowers(80, seed=1).select(model.feature_names_in_)
    np.testing.assert_allclose(table.select("^p_.*$").to_numpy(), model.predict_proba(X))
    assert table["prediction"].to_list() == model.predict(X).tolist()
    sizes = [len(own.split(" | ")) for own in table["set_90"]]
    assert sizes == model.predict_set(X).sum(axis=1).tolist()
    asked = ["--level", "0.5", "--level", "0.95"]
    result = run(
        "predict", folder / "model.clear", folder / "new.csv", "--out", folder / "q.csv", *asked
    )
    columns = pl.read_csv(folder / "q.csv").columns
    assert {"set_50", "set_95", "unfamiliar"} <= set(columns)


def test_evaluate_scores_classes(folder, fitted):
    result = run("evaluate", folder / "model.clear", folder / "new.csv", "--json")
    found = json.loads(result.stdout)
    model = clearbands.load(folder / "model.clear")
    rows = flowers(80, seed=1)
    X, y = rows.select(model.feature_names_in_), model.positions(rows["kind"].to_numpy())
    expected = evaluate_classes(y, model.predict_proba(X), model.predict_set(X))
    assert expected.items() <= found.items()
    assert found["n_rows_seen_in_fit"] == 0
    table = run("evaluate", folder / "model.clear", folder / "new.csv").stdout
    assert "new.csv, 80 rows" in table
    assert "of sets" in table
    seen = run("evaluate", folder / "model.clear", folder / "old.csv")
    assert "fitted on 120 of these 150 rows" in seen.stderr


def test_the_report_is_about_classes(folder, fitted):
    for path in ("fit.html", "report.html"):
        if path == "report.html":
            run("report", folder / "model.clear", folder / "new.csv", "--out", folder / path)
        page = (folder / path).read_text("utf-8")
        assert "90 % sets of classes for kind" in page.replace("\N{NO-BREAK SPACE}", " ")
        assert "Which classes are taken for which" in page
        assert "beech" in page


def test_two_numbers_are_classes_unless_told_otherwise(folder):
    fit = ("fit", folder / "old.csv", "--target", "is_tall", "--drop", "name,kind")
    result = run(*fit, "--out", folder / "two.clear")
    assert "2 classes: 0 (" in result.stdout or "2 classes: 1 (" in result.stdout
    assert "--task regression predicts intervals instead" in result.stdout
    assert clearbands.load(folder / "two.clear").classes_.tolist() == [0, 1]
    result = run("evaluate", folder / "two.clear", folder / "new.csv", "--json")
    assert json.loads(result.stdout)["accuracy"] > 0.7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "kind", "--preset", "b"], "--preset is for numbers"),
        (["--target", "kind", "--support", "0:"], "--support is for numbers"),
        (["--target", "kind", "--level", "0.5", "--level", "0.9"], "several --level is for"),
        (["--target", "kind", "--task", "regression"], "it must be numbers only"),
        (["--target", "length", "--task", "classification"], "which are no classes: say --task"),
        (["--target", "name"], "holds text such as"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, options, said):
    assert_fails(run("fit", folder / "old.csv", "--out", folder / "no.clear", *options), said)


def test_one_class_and_a_class_with_one_row_are_refused(tmp_path):
    rows = flowers(60)
    rows.with_columns(kind=pl.lit("ash")).write_csv(tmp_path / "one.csv")
    fit = ("--target", "kind", "--out", tmp_path / "no.clear")
    assert_fails(run("fit", tmp_path / "one.csv", *fit), "is 'ash' in every row: there is")
    lonely = pl.concat([rows, rows[:1].with_columns(kind=pl.lit("yew"))])
    lonely.write_csv(tmp_path / "lonely.csv")
    assert_fails(run("fit", tmp_path / "lonely.csv", *fit), "The class yew has one row only")


def test_commands_for_numbers_refuse_classes(folder, fitted):
    model, new = folder / "model.clear", folder / "new.csv"
    assert_fails(run("explore", model, new), "model.clear predicts classes, and this command is")
    asked = run("predict", model, new, "--out", folder / "no.csv", "--above", "3")
    assert_fails(asked, "--above is for numbers")
    unknown = flowers(30).with_columns(kind=pl.lit("yew"))
    unknown.write_csv(folder / "yew.csv")
    assert_fails(run("evaluate", model, folder / "yew.csv"), "y holds the class yew, which the")
