"""Split conformal gives the same bounds as MAPIE, and as a fixed ratio at one end."""

import numpy as np
import pytest

from clearbands import (
    FixedRatioCalibrator,
    NaiveConformal,
    PCSIntervals,
)
from tests.baselines.small import Fitted, make
from tests.toys import noisy_line


@pytest.mark.filterwarnings("ignore:Estimator does not appear fitted")
@pytest.mark.parametrize("level", [0.9, 0.6])
def test_naive_is_mapies_split_conformal(level):
    mapie = pytest.importorskip("mapie.regression")
    X, y = noisy_line(300)
    model = make(NaiveConformal, confidence_level=level)
    model.fit(X[:200], y[:200], X_cal=X[200:], y_cal=y[200:])
    theirs = mapie.SplitConformalRegressor(Fitted(model.predict), confidence_level=level)
    theirs.conformalize(X[200:], y[200:])
    np.testing.assert_allclose(model.predict_interval(X)[1], theirs.predict_interval(X)[1])


def test_pcs_and_naive_are_the_ends_of_the_fixed_ratio():
    X, y = noisy_line(300)
    data = {"X": X[:200], "y": y[:200], "X_cal": X[200:], "y_cal": y[200:]}
    pcs, naive = make(PCSIntervals).fit(**data), make(NaiveConformal).fit(**data)
    center, epistemic = pcs.epistemic_.predict_with_widths(X[200:])
    ones, epistemic = np.ones((100, 2)), epistemic[:, :, 0]
    for model, ratio in ((pcs, np.inf), (naive, 0)):
        calibrator = FixedRatioCalibrator(0.9, ratio=ratio).fit(y[200:], center, ones, epistemic)
        expected = calibrator.predict_interval(center, ones, epistemic)
        np.testing.assert_allclose(model.predict_interval(X[200:])[1][:, :, 0], expected)
