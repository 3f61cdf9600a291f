"""The peers' intervals on data with known noise: each keeps what its library promises."""

import numpy as np
import pytest

from clearbands.rows.bands import covered
from experiments import peers
from experiments.case import Case
from experiments.fitted import Fitted
from experiments.protocol import split_rows


def known_noise(n=1000, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    y = X[:, 0] + rng.normal(size=n) * np.where(X[:, 1] > 0, 1.0, 0.1)
    split = split_rows(n, 777, "standard")
    parts = [Fitted(y[rows]) for rows in (split.validation, split.calibration, split.test)]
    return Case(*parts, False, X, y, split, 777)


@pytest.mark.slow
@pytest.mark.parametrize("name", peers.NEEDS)
def test_a_peer_covers_and_is_wider_where_there_is_more_noise(name):
    run, libraries = peers.NEEDS[name]
    for library in libraries.split():
        pytest.importorskip(library)
    case = known_noise()
    found = run(case)
    test = case.split.test
    # The share is 95 % of 200 rows, within four standard errors.
    assert abs(covered(case.y[test], found.intervals).mean() - 0.95) < 0.062
    widths = found.intervals[:, 1] - found.intervals[:, 0]
    noisy = case.X[test, 1] > 0
    if "cross" in name or name == "Gaussian process":  # hardly varying widths
        assert widths[noisy].mean() == pytest.approx(widths[~noisy].mean(), rel=0.2)
    else:
        # The widths of conformal-tights follow the noise least.
        times = 1.2 if name == "conformal-tights" else 1.3
        assert widths[noisy].mean() > times * widths[~noisy].mean()
