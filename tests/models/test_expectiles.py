"""Penalised expectiles: the smoothing against pygam, and the definition of an expectile."""

import numpy as np
import pytest

from clearbands.models.expectiles import SMALLEST_RIDGE, SMOOTHING_GRID, WeightedRows, gcv_scores
from clearbands.models.gam import ExpectileGAM, SplineBasis
from tests.golden.make_pygam import draw
from tests.models.gam_rows import RECORDS, case_name, noisy_rows, unsorted_predictions


@pytest.mark.parametrize("record", RECORDS, ids=case_name)
def test_chooses_the_smoothing_pygam_chooses(record):
    X, y, _ = draw(record["case"], record["seed"])
    basis = SplineBasis.from_data(X, 10, 3)
    rows = WeightedRows.from_counts(basis.apply(X), y, np.ones(len(y)))
    scores = gcv_scores(rows, basis.roughness(), SMALLEST_RIDGE)
    np.testing.assert_allclose(scores, record["gcv"], rtol=2e-5)
    assert ExpectileGAM().fit(X, y).bag_.smoothing == pytest.approx(record["chosen"])


def test_golden_choices_differ():
    """If they agreed, the test above could not tell a search from a constant."""
    assert len({record["chosen"] for record in RECORDS}) == len(RECORDS)


def test_residuals_balance_at_every_level():
    """By definition, residuals weighed by level above and 1 - level below sum to zero."""
    X, y = noisy_rows(500)
    levels = (0.01, 0.3, 0.5, 0.9)
    residual = y[:, None] - unsorted_predictions(ExpectileGAM(levels).fit(X, y), X)
    weights = np.where(residual > 0, levels, 1 - np.array(levels))
    balance = np.sum(weights * residual, axis=0) / np.sum(weights * np.abs(residual), axis=0)
    # The sum is not exactly zero because the ridge also acts on the intercept.
    np.testing.assert_allclose(balance, 0, atol=1e-8)


def test_coefficients_minimise_the_penalised_loss():
    """The gradient vanishes for every coefficient, not only for the intercept."""
    X, y = noisy_rows(300, d=3)
    bag = ExpectileGAM((0.1,), smoothing=0.6).fit(X, y).bag_
    design, coef = bag.basis.apply(X), bag.coef[0, 0]
    residual = y - design @ coef
    pull = design.T @ (np.where(residual > 0, 0.1, 0.9) * residual)
    np.testing.assert_allclose(pull, 0.6 * bag.basis.roughness() @ coef, atol=1e-6)


def test_too_few_rows_to_judge_get_the_most_smoothing():
    X, y = noisy_rows(3, d=6)
    assert ExpectileGAM().fit(X, y).bag_.smoothing == SMOOTHING_GRID[-1]
