"""The variant `deep` of the benchmark: parts, methods, and tables beside the paper's."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from clearbands import DeepEnsemble, SimultaneousQuantiles
from experiments import (
    compare,
    methods,
    networks,
    parts,
    patient_networks,
    protocol,
    results,
    run,
    summary,
    table,
    their_networks,
)
from tests.deep import TINY, need_torch
from tests.toys import noisy_line

NAMES = ["CLEAR", "DE", "SQR", "DE-conformal", "SQR-conformal"]
WITH_QUANTILES = ["CLEAR-quantiles", "DE-quantiles", "DE-quantiles-conformal"]


@pytest.fixture
def small_networks(monkeypatch):
    need_torch()
    monkeypatch.setattr(networks, "DeepEnsemble", partial(DeepEnsemble, 3, **TINY))
    monkeypatch.setattr(
        networks, "SimultaneousQuantiles", partial(SimultaneousQuantiles, 1, **TINY)
    )


def test_methods_by_the_names_of_the_paper():
    assert list(methods.of("deep", "standard")) == NAMES + WITH_QUANTILES
    assert methods.of("deep", "conformalized") == {}


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
def test_the_methods_are_what_their_names_say(small_networks):
    X, y = noisy_line(200)
    splits = {s: protocol.split_rows(200, 777, s) for s in protocol.SETTINGS}
    found = parts.fit_parts("deep", X, y, splits, 777)
    assert found["standard"] is found["conformalized"]
    split = splits["standard"]
    case = run.make_case(X, y, split, found["standard"], 777)
    by_name = {name: m.run(case) for name, m in methods.of("deep", "standard").items()}

    curves = SimultaneousQuantiles(1, **TINY, confidence_level=0.95, random_state=777)
    lower, middle, upper = (
        curves.fit(X[split.train], y[split.train]).predict_quantiles(X[split.test]).T
    )
    np.testing.assert_allclose(by_name["SQR"].intervals, np.stack([lower, upper], axis=1))
    np.testing.assert_allclose(by_name["SQR"].center, middle)
    # Both bounds of SQR-conformal move by the same distance, unless they meet the median.
    moved = by_name["SQR-conformal"].intervals
    distance = moved[:, 1] - upper
    free = (moved[:, 0] < middle) & (moved[:, 1] > middle)
    np.testing.assert_allclose((lower - moved[:, 0])[free], distance[free], atol=1e-9)

    ensemble = DeepEnsemble(3, **TINY, confidence_level=0.95, random_state=777)
    center, widths = ensemble.fit(X[split.train], y[split.train]).predict_with_widths(X[split.test])
    np.testing.assert_allclose(case.test.center, center)
    deviations = ensemble.predict_members(X[split.test]).std(axis=1, ddof=1)
    for name in ("DE", "DE-conformal"):
        lower, upper = by_name[name].intervals.T
        np.testing.assert_allclose(upper - center, center - lower)
        factors = (upper - center) / deviations
        np.testing.assert_allclose(factors, factors[0])
    stretched = (by_name["DE-quantiles"].intervals[:, 1] - center) / widths[:, 1, 0]
    np.testing.assert_allclose(stretched, stretched[0], rtol=1e-6)
    # The factor is the smallest that covers 38 of the 40 calibration rows.
    rows = case.calibration
    reach = np.where(rows.y > rows.center, rows.from_quantiles[:, 1], rows.from_quantiles[:, 0])
    needed = np.sort(np.abs(rows.y - rows.center) / reach)
    assert stretched[0] == pytest.approx(needed[37], rel=1e-6)


def test_rows_of_the_variant(small_networks, monkeypatch, tmp_path):
    X, y = noisy_line(200)
    pd.DataFrame(X, columns=["a", "b"]).assign(target=y).to_parquet(tmp_path / "tiny.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    path = tmp_path / "rows.csv"
    run.run(["tiny"], ["deep"], [777], run.Options(path, settings=("standard",)))
    rows = results.read(path)
    assert sorted(rows["method"]) == sorted(NAMES + WITH_QUANTILES)
    assert (rows["error"] == "").all()
    assert (rows["fit_seconds"] > 0).all()


def printed_rows():
    """Return the paper's means in the form of our rows."""
    wide = pd.concat(compare.printed_means("deep", "standard"), axis=1).stack(future_stack=True)
    rows = wide.reset_index()
    rows = rows.assign(variant="deep", setting="standard", seed=777, error="", gamma1=1.0)
    rows["lambda"] = 1.0
    rows["fit_seconds"] = 1.0
    return rows[rows["dataset"] != "allstate"]


def test_the_papers_tables_are_found_and_complete():
    means = compare.printed_means("deep", "standard")
    assert set(means) == set(results.METRICS)
    for found in means.values():
        assert found.shape == (17, 5)
        assert found.notna().all().all()
    found = summary.improvement_over_networks({"quantile_loss": means["quantile_loss"]})
    # These are the paper's own averages, up to the rounding of its tables.
    expected = {"DE": 23.98, "SQR": 13.66, "DE-conformal": 24.08, "SQR-conformal": 10.12}
    for method, value in expected.items():
        assert found.at["quantile_loss", method] == pytest.approx(value, abs=0.4)


def test_tables():
    rows = printed_rows()
    found = {t.name: t for t in table.tables(rows, ("deep",), ("standard",))}
    assert {f"deep-standard-{metric}" for metric in results.METRICS} <= set(found)
    assert found["deep-standard-nciw"].header == ["dataset", *NAMES]
    gain = found["deep-standard-gain"]
    for line in gain.cells:  # here our rows are the paper's
        for cell in line[1:]:
            ours, theirs = cell.rstrip(")").split(" (")
            assert ours == theirs


def test_comparison_with_the_values_per_seed():
    rows = compare.paper_rows("deep").assign(setting="standard", error="")
    differences = compare.differences(rows)
    assert len(differences) == 17 * 5 * 5
    assert (differences["seeds"] == 10).all()
    assert differences["percent"].abs().max() < 1e-9
    text = "\n".join(compare.report(rows))
    assert "variant (deep), standard: ours over the paper's values per seed" in text


def test_variants_are_compared_on_the_seeds_that_both_have():
    shared = {"setting": "standard", "dataset": "x", "method": "CLEAR", "picp": 0.9, "error": ""}
    losses = [("a", 777, 2.0), ("a", 778, 4.0), ("deep", 777, 3.0), ("deep", 779, 90.0)]
    rows = pd.DataFrame(
        [{**shared, "variant": v, "seed": s, "quantile_loss": loss} for v, s, loss in losses]
    )
    first, coverage = table.tables_across(rows, ("standard", "conformalized"))
    assert first.header == ["dataset", "deep"]
    assert first.cells == [["x", "+50.0"], ["mean", "+50.0"], ["median", "+50.0"]]
    assert coverage.cells == [["a", "0.9000"], ["deep", "0.9000"]]


# The authors' networks beside ours


def test_their_program_and_ours_in_percent_of_what_was_published():
    paper = compare.paper_rows("deep")
    one = paper[(paper["dataset"] == "airfoil") & (paper["seed"] == 777)]
    theirs = one.assign(way="authors", draw=0, nciw=1.1 * one["nciw"])
    again = theirs.assign(draw=1, nciw=1.3 * one["nciw"])
    ours = paper.assign(setting="standard", nciw=0.5 * paper["nciw"])
    rows = pd.concat([theirs, again])
    lines = list(their_networks.by_set(rows[rows["method"] != "SQR"], ours, "nciw"))
    assert lines[2:] == [
        "| airfoil |  |  | +20.0 | -50.0 | +20.0 | -50.0 |",
        "| **median, without signs** |  |  | 20.0 | 50.0 | 20.0 | 50.0 |",
    ]


def test_a_patient_ensemble_is_kept_and_not_fitted_again(
    small_networks, monkeypatch, tmp_path, capsys
):
    X, y = noisy_line(200)
    pd.DataFrame(X, columns=["a", "b"]).assign(target=y).to_parquet(tmp_path / "tiny.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    schema = their_networks.ROWS._replace(path=tmp_path / "networks.csv")
    monkeypatch.setattr(their_networks, "ROWS", schema)
    monkeypatch.setattr("sys.argv", ["patient_networks", "--datasets", "tiny"])
    patient_networks.main()
    table = capsys.readouterr().out
    assert "| dataset | seed | method | ours, patience 500 |" in table
    rows = schema.path.read_text()
    assert rows.count("patient,tiny,777,0") == 2
    patient_networks.main()
    assert schema.path.read_text() == rows
    assert capsys.readouterr().out == table
