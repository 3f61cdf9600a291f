import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import MemberEnsemble
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.crossfitted import CrossFitted, FittedElsewhere, as_cross_part
from clearbands.uncertainty.crossfitted_noise import CrossFittedNoise
from clearbands.uncertainty.epistemic import CenterAndWidths, EpistemicPart
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from tests.toys import noisy_line


class Mean(EpistemicPart):
    """The mean of y, as unsure as it has few rows: a part of one's own."""

    def __init__(self, confidence_level=0.9):
        self.confidence_level = confidence_level

    def fit(self, X, y, *, validation=None):
        self.mean_, self.error_ = float(np.mean(y)), float(np.std(y) / np.sqrt(len(y)))
        return self

    def predict_with_widths(self, X):
        return CenterAndWidths(np.full(len(X), self.mean_), np.full((len(X), 2, 1), self.error_))


class Deviation(AleatoricPart):
    """As wide everywhere as the residuals scatter."""

    def __init__(self, confidence_level=0.9):
        self.confidence_level = confidence_level

    def fit(self, X, residual):
        self.deviation_ = float(np.std(residual))
        return self

    def predict_widths(self, X):
        return np.full((len(X), 2, 1), self.deviation_)


def test_a_row_is_judged_by_the_copy_that_left_it_out():
    X, y = noisy_line(50)
    fitted = CrossFitted(Mean(), 5, random_state=0).fit(X, y)
    center, widths = fitted.predict_unseen(X)
    for seen in fitted.draws_.counts.astype(bool):
        assert np.all(center[~seen] == np.mean(y[seen]))
        np.testing.assert_allclose(widths[~seen], np.std(y[seen]) / np.sqrt(40))
    assert fitted.predict_like_unseen(X).center[0] == pytest.approx(np.mean(y))


def test_noise_of_a_row_is_learned_without_it():
    X, y = noisy_line(50)
    fitted = CrossFittedNoise(Deviation(), 5, random_state=0).fit(X, y)
    widths = fitted.predict_unseen_widths(X)
    for seen in fitted.draws_.counts.astype(bool):
        np.testing.assert_allclose(widths[~seen], np.std(y[seen]))
    assert fitted.predict_widths(X).shape == (50, 2, 1)


def test_parts_are_wrapped_as_they_need():
    X, y = noisy_line(50)
    members = MemberEnsemble([LinearRegression().fit(X, y), LinearRegression().fit(X, 2 * y)])
    assert isinstance(as_cross_part(Mean()), CrossFitted)
    assert isinstance(as_cross_part(members), FittedElsewhere)
    folded = FoldedEnsemble()
    assert as_cross_part(folded) is folded
    elsewhere = as_cross_part(members).fit(X, y)
    np.testing.assert_array_equal(elsewhere.predict_unseen(X).center, members.predict(X))
