"""Trends: where wide intervals cover less often than short ones, widths are corrected."""

import numpy as np
import pytest

from clearbands import ClearCalibrator
from clearbands.calibration.trend import MOST, Trend
from clearbands.rows.bands import Components, covered

LEVEL = 0.9


def draw_rows(rng, n, power=1.0, slant=0.0):
    """Draw noise of size said ** power that grows with the center by `slant`; widths are `said`."""
    said, center = rng.uniform(0.5, 2.0, n), rng.normal(size=n)
    noise = said**power * np.exp(slant * center) * rng.normal(size=n)
    widths = np.tile(said[:, None, None], (1, 2, 1))
    return center + noise, Components(center, widths, 0.1 * widths)


def bounds_of(calibrator, components):
    center, *widths = components
    return calibrator.predict_interval(center, *widths)[:, :, 0]


def gap_and_loss(y, components, bounds):
    """Return the largest gap of coverage in any fifth, by width or by center, and the loss."""
    hit = covered(y, bounds)
    fifths = [
        hit[np.array_split(np.argsort(by), 5)[k]].mean()
        for by in (components.aleatoric[:, 0, 0], components.center)
        for k in range(5)
    ]
    outside = np.maximum(bounds[:, 0] - y, 0) + np.maximum(y - bounds[:, 1], 0)
    loss = np.mean((1 - LEVEL) / 2 * (bounds[:, 1] - bounds[:, 0]) + outside)
    return np.max(np.abs(np.array(fifths) - LEVEL)), loss


@pytest.mark.parametrize(("power", "slant"), [(2.0, 0.0), (0.3, 0.0), (1.0, 0.3), (1.5, -0.2)])
def test_new_rows_are_covered_alike_and_their_loss_falls(power, slant):
    rng = np.random.default_rng(0)
    y, known = draw_rows(rng, 3_000, power, slant)
    new_y, new = draw_rows(rng, 20_000, power, slant)
    trend = Trend.of(y, known, [LEVEL])
    plain = ClearCalibrator([LEVEL]).fit(y, *known)
    changed = ClearCalibrator([LEVEL]).fit(y, *trend(known))
    gap, loss = gap_and_loss(new_y, new, bounds_of(plain, new))
    new_gap, new_loss = gap_and_loss(new_y, new, bounds_of(changed, trend(new)))
    assert new_gap < gap / 2
    assert new_loss < loss
    assert np.mean(covered(new_y, bounds_of(changed, trend(new)))) == pytest.approx(LEVEL, abs=0.02)


def test_without_a_trend_widths_stay_in_nineteen_of_twenty_fits():
    rng = np.random.default_rng(0)
    changed = [Trend.of(*draw_rows(rng, 200), [LEVEL]) is not None for _ in range(200)]
    assert 1 <= sum(changed) <= 20  # 10 are expected; more than 20 have a probability of 0.001


def test_units_do_not_matter():
    y, known = draw_rows(np.random.default_rng(0), 500, 2.0)
    center, *widths = known
    times = trend_times(y, known)
    assert np.ptp(times) > 0.1
    moved = Components(7 + 3 * center, *(3 * width for width in widths))
    assert trend_times(7 + 3 * y, moved) == pytest.approx(times, rel=1e-6)
    turned = Components(-center, *(width[:, ::-1] for width in widths))
    assert trend_times(-y, turned) == pytest.approx(times, abs=0.01)  # the ranks get other knots


def trend_times(y, components, **rows):
    trend = Trend.of(y, components, [LEVEL], **rows)
    return (trend(components).aleatoric / components.aleatoric)[:, 0, 0]


def test_a_weight_is_copies_that_belong_together():
    y, known = draw_rows(np.random.default_rng(0), 300, 2.0)
    weight = np.resize([1, 2, 3], 300)
    copies = np.repeat(np.arange(300), weight)
    of_copies = trend_times(y[copies], known.take(copies), groups=copies)
    assert trend_times(y, known, weight=weight.astype(float))[copies] == pytest.approx(of_copies)


def test_rows_that_belong_together_tell_less():
    y, known = draw_rows(np.random.default_rng(0), 60, 1.7)
    copies = np.repeat(np.arange(60), 10)
    assert Trend.of(y, known, [LEVEL]) is None
    assert Trend.of(y[copies], known.take(copies), [LEVEL], groups=copies) is None
    assert Trend.of(y[copies], known.take(copies), [LEVEL]) is not None


def test_levels_have_trends_of_their_own_and_no_width_changes_much():
    rng = np.random.default_rng(0)
    y, (center, *widths) = draw_rows(rng, 2_000, 6.0)
    several = Components(center, *(np.repeat(width, 2, axis=2) for width in widths))
    several.aleatoric[:, :, 1] *= 2
    trend = Trend.of(y, several, [0.5, 0.9])
    assert (trend.slopes[:, 0] > 0.5).all()
    assert trend.slopes[0, 0] != trend.slopes[1, 0]
    times = trend(several).epistemic / several.epistemic
    assert times.min() >= 1 / MOST
    assert times.max() <= MOST
    assert trend(several).center is center


@pytest.mark.parametrize("n", [1, 5, 200])
def test_rows_that_tell_nothing_change_nothing(n):
    """Such rows are all alike, without an error, or too few."""
    ones = np.ones((n, 2, 1))
    assert Trend.of(np.zeros(n), Components(np.zeros(n), ones, ones), [LEVEL]) is None
    assert Trend.of(np.zeros(n), Components(np.zeros(n), 0 * ones, 0 * ones), [LEVEL]) is None
    assert Trend.of(np.ones(n), Components(np.zeros(n), 0 * ones, 0 * ones), [LEVEL]) is None
