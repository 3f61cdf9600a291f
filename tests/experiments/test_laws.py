"""The paper's laws: examples of width against quantile loss, population optimality, coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from clearbands import metrics
from clearbands.calibration.conformal import beta_parameters
from experiments import laws
from experiments.simulation_fit import Cell, fit_world

Z90, Z95 = stats.norm.ppf(0.95), stats.norm.ppf(0.975)
EASY, HARD = (2.16357, 2.16357), (2 * 1.81514, 2 * 1.81514)

# Each example has the level; for each value of x its frequency, the law of y, the true interval and
# one that gives up conditional coverage for a smaller mean width; and both mean widths as printed.
EXAMPLES = {
    "uniform at 90 %": (
        0.9,
        [
            (1, stats.uniform(-1, 2), (-0.9, 0.9), (-1, 1)),
            (1, stats.uniform(-2, 4), (-1.8, 1.8), (-1.6, 1.6)),
        ],
        2.7,
        2.6,
    ),
    "uniform at 50 %": (
        0.5,
        [
            (1, stats.uniform(-1, 2), (-0.5, 0.5), (-1, 1)),
            (1, stats.uniform(-2, 4), (-1, 1), (127, 127)),
        ],
        1.5,
        1.0,
    ),
    "normal": (
        0.95,
        [
            (1, stats.norm(0, 1), (-Z95, Z95), (-EASY[0], EASY[1])),
            (1, stats.norm(0, 2), (-2 * Z95, 2 * Z95), (-HARD[0], HARD[1])),
        ],
        5.88,
        5.79385,
    ),
    "normal with a rare wild value": (
        0.9,
        [
            (9, stats.norm(0, 1), (-Z90, Z90), (-EASY[0], EASY[1])),
            (9, stats.norm(0, 2), (-2 * Z90, 2 * Z90), (-HARD[0], HARD[1])),
            (1, stats.norm(0, 11), (-11 * Z90, 11 * Z90), (12345, 12345)),
        ],
        6.579415,
        5.48891,
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_width_at_the_same_coverage_rewards_what_the_quantile_loss_does_not(name):
    """The targets are spread evenly over the quantiles of their laws."""
    level, values, width_of_true, width_of_narrow = EXAMPLES[name]
    steps = (np.arange(20_000) + 0.5) / 20_000
    y = np.concatenate([law.ppf(steps) for often, law, *_ in values for _ in range(often)])
    true, narrow = (
        np.concatenate([np.tile(value[k], (value[0] * len(steps), 1)) for value in values])
        for k in (2, 3)
    )
    for intervals, printed in ((true, width_of_true), (narrow, width_of_narrow)):
        digits = len(str(printed).partition(".")[2])
        width = metrics.niw(y, intervals, y_range=1)
        assert width == pytest.approx(printed, abs=0.6 * 10**-digits)
        assert metrics.picp(y, intervals) == pytest.approx(level, abs=1e-4)
    losses = [metrics.quantile_loss(y, intervals, level) for intervals in (true, narrow)]
    assert losses[0] < losses[1]


# Population optimality and finite-sample coverage


@pytest.fixture(scope="module", params=[("hetero1", 1), ("homo", 3)], ids=str)
def model(request):
    return fit_world(Cell(*request.param, 0), n_rows=600, n_bootstraps=4)


@pytest.mark.slow
def test_no_single_factor_beats_clear_in_the_population(model):
    found = laws.quantile_losses(model, 20_000, np.random.default_rng(0))
    clear = found.pop("CLEAR")
    assert clear.population == pytest.approx(clear.sample, rel=0.02)  # the sample is large
    for name, loss in found.items():
        assert clear.sample <= loss.sample, name
        assert clear.population <= 1.0005 * loss.population, name
    assert clear.population < 0.98 * min(
        found["lambda=0"].population, found["lambda=inf"].population
    )


@pytest.mark.slow
def test_coverage_of_conformalized_clear_follows_the_beta_law(model):
    """The law holds for any n; with n + 1 = 30 its mean is exactly the level."""
    n, draws = 29, 300
    coverage = laws.conformal_coverage(model, n, draws, np.random.default_rng(1))
    k, rest = beta_parameters(n, 0.9)
    assert (k, rest) == (27, 3)
    law = stats.beta(k, rest)
    assert law.mean() == pytest.approx(0.9)
    assert abs(coverage.mean() - 0.9) < 3.3 * law.std() / math.sqrt(draws)
    assert stats.kstest(coverage, law.cdf).pvalue > 0.01
    for neighbour in (stats.beta(k - 1, rest + 1), stats.beta(k + 1, rest - 1)):
        assert stats.kstest(coverage, neighbour.cdf).pvalue < 1e-6  # the test can tell


def test_report_shows_every_case_and_calibrator(monkeypatch):
    monkeypatch.setattr(laws, "CASES", (("hetero2", 1),))
    monkeypatch.setattr(laws, "ROWS_TO_FIT", 100)
    monkeypatch.setattr(laws, "BOOTSTRAPS", 2)
    lines = list(laws.report(200, 3))
    assert lines[1] == "| noise | d | CLEAR | lambda=1 | gamma1=1 | lambda=0 | lambda=inf |"
    assert [line.split(" | ")[:3] for line in lines[-2:]] == [
        ["| hetero2", "1", "29"],
        ["| hetero2", "1", "100"],
    ]
