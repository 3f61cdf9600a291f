"""Coverage with few rows, against theory."""

import numpy as np
import pytest
from scipy import stats

from clearbands.calibration.conformal import beta_parameters
from experiments import small_samples
from experiments.__main__ import main


def test_with_rows_of_their_own_for_lambda_the_coverage_is_that_of_the_beta_distribution():
    law = stats.beta(*beta_parameters(19, small_samples.LEVEL))
    found = small_samples.calibrator_coverage(19, 300, split=True)
    assert abs(found.mean() - law.mean()) < 4 * law.std() / np.sqrt(300)


def test_one_set_for_both_costs_coverage_where_it_is_small_and_little_where_it_is_large():
    few, many = (small_samples.calibrator_coverage(n, 150, split=False).mean() for n in (19, 399))
    assert few < 0.89
    assert many == pytest.approx(small_samples.LEVEL, abs=0.01)


def test_exact_coverage_is_that_of_the_normal_distribution():
    z = stats.norm.ppf(0.95)
    assert small_samples.exact_coverage(
        np.array([[1 - 2 * z, 1 + 2 * z]]), 1.0, np.array([2.0])
    ) == (pytest.approx(0.9))


@pytest.mark.slow
def test_the_command_writes_its_tables_into_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(small_samples, "CALIBRATION_ROWS", (19,))
    monkeypatch.setattr(small_samples, "TRAINING_ROWS", (60,))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- small samples -->\nold\n<!-- end of small samples -->\nafter\n")
    assert main(["small-samples", "--draws", "20", "--fits", "2", "--write", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| 19 | 0.8" in text
    assert "| 60 | " in text
