"""clearbands predict writes what Python predicts."""

from __future__ import annotations

import subprocess

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import clearbands
from clearbands.apps.reading.reading import read_table
from tests.apps.cli.running import FEATURES, SCRIPT, assert_fails, run


def test_predict_writes_what_python_predicts(house_files, house_model, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", house_model, house_files / "test.csv", "--out", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"Wrote {out} (60 rows).\n"
    table = pl.read_csv(out)
    assert table.columns == [
        "prediction", "lower_90", "upper_90", "lower_80", "upper_80",
        "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
    ]  # fmt: skip
    loaded, X = clearbands.load(house_model), pl.read_csv(house_files / "test.csv").select(FEATURES)
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


def test_one_level_has_its_number_in_the_names_as_well(house_files, one_level_model, tmp_path):
    run("predict", one_level_model, house_files / "test.csv", "--out", tmp_path / "out.csv")
    names = pl.read_csv(tmp_path / "out.csv").columns
    assert names == [
        "prediction", "lower_90", "upper_90",
        "aleatoric", "epistemic", "epistemic_share", "dominant", "unfamiliar",
    ]  # fmt: skip


def test_csv_and_parquet_give_equal_predictions(house_files, house_model, tmp_path):
    tables = []
    for data in (house_files / "test.csv", house_files / "test.parquet"):
        for name in ("out.csv", "out.parquet"):
            assert run("predict", house_model, data, "--out", tmp_path / name).exit_code == 0
            tables.append(read_table(tmp_path / name).frame)
    for table in tables[1:]:
        assert_frame_equal(table, tables[0], check_exact=True)


def test_a_single_row_with_gaps_can_be_predicted(house_model, tmp_path):
    (tmp_path / "row.csv").write_text("colour,age,x\n,,0.5\n")
    result = run("predict", house_model, tmp_path / "row.csv", "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    assert pl.read_csv(tmp_path / "out.csv").height == 1


@pytest.mark.parametrize("out", ["out.xlsx", "nope/out.csv", "test.csv", "model.cb"])
def test_predict_checks_its_output_first(house_files, house_model, out):
    before = house_model.read_bytes()
    assert_fails(run("predict", house_model, house_files / "test.csv", "--out", house_files / out))
    assert house_model.read_bytes() == before


def test_the_installed_script_predicts(house_files, house_model, tmp_path):
    out = tmp_path / "out.parquet"
    done = subprocess.run(
        [SCRIPT, "predict", house_model, house_files / "test.parquet", "--out", out],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert pl.read_parquet(out).height == 60
