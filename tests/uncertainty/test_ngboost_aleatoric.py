import sys

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import NGBoostAleatoric
from tests.toys import OTHER_DRAWS, noisy_line

NEEDED = "NGBoost is not installed"


def test_without_ngboost_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ngboost", None)  # so that an import of it fails
    with pytest.raises(ImportError, match="needs NGBoost: pip install ngboost"):
        NGBoostAleatoric().fit(*noisy_line(30))


@pytest.mark.filterwarnings("ignore")  # warnings of its own dependencies
def test_widths_follow_the_noise():
    ngboost = pytest.importorskip("ngboost", reason=NEEDED)
    X, y = noisy_line(400)
    model = ngboost.NGBRegressor(n_estimators=60, verbose=False)
    fitted = NGBoostAleatoric(model, confidence_level=[0.9, 0.5], random_state=0)
    widths = fitted.fit(X, y - 3 * X[:, 0]).predict_widths(X)
    assert widths.shape == (400, 2, 2)
    assert widths[X[:, 1] > 0.2].mean() > 1.5 * widths[X[:, 1] < -0.2].mean()
    deviation = fitted.model_.pred_dist(X).scale
    np.testing.assert_allclose(widths[:, 0, 0], 1.6448536 * deviation, rtol=1e-6)
    np.testing.assert_allclose(widths[:, 1, 1], 0.6744898 * deviation, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [NGBoostAleatoric()],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_fit_score_takes_y": "what it takes are residuals, and so they are called",
    },
)
def test_estimator_checks(estimator, check):
    ngboost = pytest.importorskip("ngboost", reason=NEEDED)
    estimator.set_params(model=ngboost.NGBRegressor(n_estimators=5, verbose=False))
    check(estimator)
