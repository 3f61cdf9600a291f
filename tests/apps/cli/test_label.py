"""clearbands label."""

from __future__ import annotations

import numpy as np
import polars as pl

from clearbands import rank_by_epistemic
from tests.apps.cli.questions import rows_of
from tests.apps.cli.running import run


def test_label_lists_the_rows_that_teach_most(question_files):
    out = question_files / "label.csv"
    args = ["label", question_files / "houses.clear", question_files / "new.csv", "--out", out]
    result = run(*args, "-n", 5, "--keep", "asking")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "(5 of 40 rows, best first)" in result.stdout
    table, (model, X, frame) = pl.read_csv(out), rows_of(question_files)
    chosen = rank_by_epistemic(model, X, 5)
    assert (table["row_from_1"] - 1).to_list() == chosen.tolist()
    np.testing.assert_array_equal(table["asking"], frame["asking"].to_numpy()[chosen])
    assert run(*args, "-n", 1000).exit_code == 0
    assert pl.read_csv(out).height == 40
