"""The benchmark's plan, its resumption and its tables; the runs themselves are not tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import end_to_end, peers, tables
from benchmarks.end_to_end import Run, append, outstanding, plan
from benchmarks.measure import STATUS, measure


def row(program, seconds, loss, *, variant="b", dataset="airfoil", seed=777):
    return {
        **Run(program, variant, dataset, seed)._asdict(),
        "n_train": 901,
        "n_features": 5,
        "model": "boosting",
        "cpu_seconds": seconds,
        "wall_seconds": seconds,
        "peak_mb": 400 if program == "peer" else 200,
        "above_mb": 100 if program == "peer" else 10,
        "picp": 0.95,
        "nciw": 0.2,
        "quantile_loss": loss,
        "load": 0.5,
        "date": "2026-01-01 00:00",
        "versions": "none",
    }


class TestPlan:
    def test_programs_take_turns_on_the_same_rows(self):
        runs = plan("peer")
        for theirs, ours in zip(runs[::2], runs[1::2], strict=True):
            assert (theirs.program, ours.program) == ("peer", "ours")
            assert theirs[1:] == ours[1:]

    def test_every_entry_runs_with_its_number_of_seeds(self):
        seeds = pd.DataFrame(plan("peer")).groupby(["variant", "dataset"])["seed"].nunique()
        assert {(*key, n) for key, n in seeds.items()} == set(end_to_end.PLAN)

    def test_large_sets_come_last_and_without_stock_backends(self):
        runs = plan("peer", stock=True)
        is_large = [run.dataset in end_to_end.LARGE for run in runs]
        assert is_large == sorted(is_large)
        assert not any(run.program == "ours_stock" for run in runs if run.dataset == "ca_housing")
        assert any(run.program == "ours_stock" for run in runs)

    def test_quick_is_one_seed_of_one_set(self):
        assert {(run.dataset, run.seed) for run in plan("peer", quick=True)} == {("airfoil", 777)}

    def test_the_plain_loop_knows_variant_b_only(self):
        assert {run.variant for run in plan("stand_in")} == {"b"}


def test_runs_that_are_in_the_file_are_not_run_again(tmp_path):
    results = tmp_path / "results" / "runs.csv"
    runs = plan("peer", quick=True)
    assert outstanding(runs, results) == runs
    append(row("peer", 20.0, 0.1), results)
    append(row("ours", 2.0, 0.1), results)
    assert outstanding(runs, results) == [run for run in runs if run.variant != "b"]
    assert len(pd.read_csv(results)) == 2


class TestTables:
    def test_numbers_stand_to_the_right(self):
        table = tables.markdown(("set", "s"), [("airfoil", "1.5"), ("concrete", "-2")])
        assert table.splitlines() == [
            "| set | s |",
            "| --- | ---: |",
            "| airfoil | 1.5 |",
            "| concrete | -2 |",
        ]

    def test_ratios_are_means_over_seeds(self):
        results = pd.DataFrame(
            [
                row("peer", 20.0, 0.10),
                row("ours", 2.0, 0.11),
                row("peer", 40.0, 0.10, seed=778),
                row("ours", 2.0, 0.11, seed=778),
                row("peer", 99.0, 0.10, seed=779),  # left out, since `ours` has no such seed
            ]
        )
        time, memory, quality = tables.end_to_end(results).split("\n\n")
        assert time.splitlines()[-1] == (
            "| b | airfoil | 901 x 5 | boosting | 2 | 30.0 | 2.00 | 15.0 | 0.5 |"
        )
        assert memory.splitlines()[-1] == "| b | airfoil | 400 | 200 | 2.0 | 100 | 10 | 10.0 |"
        assert quality.splitlines()[-1].endswith("| 0.1 | 0.11 | +10.0 % |")

    def test_stock_backends_get_a_table_of_their_own(self):
        rows = [row("peer", 20.0, 0.1), row("ours", 2.0, 0.11), row("ours_stock", 16.0, 0.1)]
        text = tables.end_to_end(pd.DataFrame(rows))
        assert "| b | airfoil | 1 | 16.0 | 2.00 | 8.0 | 0.1 | 0.11 | +10.0 % |" in text

    def test_a_stand_in_is_named(self):
        rows = [row("stand_in", 20.0, 0.1), row("ours", 2.0, 0.1)]
        text = tables.end_to_end(pd.DataFrame(rows))
        assert "plain loop, s" in text
        assert "could not be installed" in text


@pytest.mark.skipif(not STATUS.exists(), reason="memory is measured on Linux only")
def test_memory_held_only_for_a_while_is_seen():
    total, cost = measure(lambda: np.ones(10_000_000).sum())
    assert total == 10_000_000
    assert 70 < cost.above_mb < 120
    assert cost.peak_mb >= cost.above_mb


class TestPeers:
    def test_no_test_row_trains_or_calibrates(self, monkeypatch):
        n = 200
        monkeypatch.setattr(peers.datasets, "load", lambda name: (np.ones((n, 2)), np.arange(n)))
        for most in (100, n):
            split = peers.drawn("any", 777, most).split
            used = np.concatenate([split.train, split.calibration])
            assert len(used) == min(most, 160)
            assert len(set(used) | set(split.test)) == len(used) + len(split.test)

    def test_ratios_are_of_the_same_sets(self):
        found = pd.DataFrame(
            {
                "dataset": ["airfoil", "airfoil", "diamond", "diamond"],
                "rows": 10,
                "columns": 2,
                "method": ["default", "chimeraboost"] * 2,
                "cpu_seconds": [3.0, 1.0, 8.0, 2.0],
                "quantile_loss": [1.0, 1.5, 2.0, 1.0],
            }
        )
        told = "\n".join(peers.table(found))
        assert "| airfoil | 10 x 2 | 3.0 (+0.0 %) | 1.0 (+50.0 %) |" in told
        assert "chimeraboost: 3.00 (mean" in told
        assert "and 4.00 (diamond)" in told
