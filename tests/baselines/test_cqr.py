"""Conformalized quantile regression: its validity, the same bounds as MAPIE, and on residuals."""

import numpy as np
import pytest
from scipy import stats

from clearbands import (
    CQR,
    BootstrappedCQR,
    ClearRegressor,
    LinearQuantiles,
    ResidualCQR,
    ResidualQuantiles,
)
from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.conformal import rank
from tests.baselines.small import Fitted, inside, lines, make, noisier
from tests.toys import noisy_line


@pytest.mark.slow
def test_cqr_is_valid_whatever_the_calibration_set():
    """Over calibration sets of n rows the coverage follows Beta(k, n + 1 - k)."""
    X, y = noisy_line(400)
    X_new, y_new = noisy_line(20_000, seed=1)
    model, n = make(CQR).fit(X, y), 30
    new = model._components(X_new)
    observed = []
    for seed in range(300):
        X_cal, y_cal = noisy_line(n, seed=1000 + seed)
        calibrator = AdditiveCalibrator(0.9).fit(y_cal, *model._components(X_cal))
        observed.append(inside(y_new, calibrator.predict_interval(*new)).mean())
    k = rank(n, 0.9)
    assert stats.kstest(observed, stats.beta(k, n + 1 - k).cdf).pvalue > 0.01


@pytest.mark.filterwarnings("ignore:Estimator does not appear fitted")
@pytest.mark.parametrize(("level", "spread"), [(0.9, 1), (0.9, 3), (0.6, 1)])
def test_cqr_is_mapies(level, spread):
    """The bounds equal MAPIE's: they move outwards with noisier targets, else inwards or hardly."""
    mapie = pytest.importorskip("mapie.regression")
    X, y = noisy_line(300)
    model = make(CQR, confidence_level=level)
    y_cal = noisier(X[200:], y[200:], spread)
    model.fit(X[:200], y[:200], X_cal=X[200:], y_cal=y_cal)
    curves = [
        Fitted(lambda X, q=q: model.model_.predict_quantiles(X)[:, q]) for q in (0, 2, 1)
    ]  # lower, upper and median, in the order that MAPIE needs
    theirs = mapie.ConformalizedQuantileRegressor(curves, confidence_level=level, prefit=True)
    theirs.conformalize(X[200:], y_cal)
    expected = theirs.predict_interval(X, symmetric_correction=True)[1][:, :, 0]
    point, intervals = model.predict_interval(X)
    if spread > 1:
        assert np.all(expected[:, 0] < point)
    # Where bounds move inwards, ours stop at the center.
    expected[:, 0], expected[:, 1] = (
        np.minimum(expected[:, 0], point),
        np.maximum(expected[:, 1], point),
    )
    np.testing.assert_allclose(intervals[:, :, 0], expected)


def test_residual_cqr_moves_the_bounds_that_clear_has_from_the_noise_alone():
    X, y = noisy_line(300)
    parts = {"epistemic": lines(), "aleatoric": ResidualQuantiles(LinearQuantiles(), 3)}
    for part in parts.values():
        part.set_params(random_state=1)
    data = {"X": X[:200], "y": y[:200], "X_cal": X[200:], "y_cal": noisier(X, y)[200:]}
    cqr = ResidualCQR(**parts).fit(**data)
    clear = ClearRegressor(**parts, residuals="in-sample", show_center=False).fit(**data)

    def of_clear(X):
        return clear.predict(X), clear.aleatoric_.predict_widths(X)[:, :, 0]

    calibrator = AdditiveCalibrator(0.9).fit(data["y_cal"], *of_clear(data["X_cal"]))
    assert calibrator.gamma2_ > 0.1  # the bounds do move
    intervals = cqr.predict_interval(X)[1][:, :, 0]
    np.testing.assert_allclose(intervals, calibrator.predict_interval(*of_clear(X)))


def test_bootstrapped_cqr_learns_y_and_residual_cqr_the_residuals():
    X, y = noisy_line(400)
    y = y + 100
    seen = {}

    class Recorder(LinearQuantiles):
        def fit_bag(self, X, y, counts, **options):
            seen["mean"] = y.mean()
            return super().fit_bag(X, y, counts, **options)

    for kind, mean in ((BootstrappedCQR, 100), (ResidualCQR, 0)):
        make(kind, aleatoric=ResidualQuantiles(Recorder(), n_bootstraps=2)).fit(X, y)
        assert seen["mean"] == pytest.approx(mean, abs=1)
