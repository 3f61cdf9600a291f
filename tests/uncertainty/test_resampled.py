import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import (
    FoldedBounds,
    LinearQuantiles,
    MemberEnsemble,
    PCSEnsemble,
    ScaledResiduals,
)
from clearbands.rows.time_order import time_blocks
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import CenterAndWidths, EpistemicPart
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.resampled import (
    FittedElsewhere,
    FoldSplits,
    ForwardSplits,
    ResampledAleatoric,
    ResampledEpistemic,
    resampled,
    resampled_noise,
)
from tests.toys import noisy_line


class Mean(EpistemicPart):
    """An own epistemic part: the mean of y, with widths that shrink with the number of rows."""

    def __init__(self, confidence_level=0.9):
        self.confidence_level = confidence_level

    def fit(self, X, y, *, validation=None):
        self.mean_, self.error_ = float(np.mean(y)), float(np.std(y) / np.sqrt(len(y)))
        return self

    def predict_with_widths(self, X):
        return CenterAndWidths(np.full(len(X), self.mean_), np.full((len(X), 2, 1), self.error_))


class Deviation(AleatoricPart):
    """An own aleatoric part: one width everywhere, the deviation of the residuals."""

    def __init__(self, confidence_level=0.9):
        self.confidence_level = confidence_level

    def fit(self, X, residual):
        self.deviation_ = float(np.std(residual))
        return self

    def predict_widths(self, X):
        return np.full((len(X), 2, 1), self.deviation_)


def test_a_row_is_judged_by_the_copy_that_left_it_out():
    X, y = noisy_line(50)
    fitted = ResampledEpistemic(Mean(), FoldSplits(5), random_state=0).fit(X, y)
    center, widths = fitted.predict_unseen(X)
    assert np.sort(np.concatenate(fitted.judged_)).tolist() == list(range(50))
    for judged in fitted.judged_:
        seen = ~np.isin(np.arange(50), judged)
        assert np.all(center[~seen] == np.mean(y[seen]))
        np.testing.assert_allclose(widths[~seen], np.std(y[seen]) / np.sqrt(40))
    assert fitted.predict_like_unseen(X).center[0] == pytest.approx(np.mean(y))


def test_noise_of_a_row_is_learned_without_it():
    X, y = noisy_line(50)
    fitted = ResampledAleatoric(Deviation(), FoldSplits(5), random_state=0).fit(X, y)
    widths = fitted.predict_unseen_widths(X)
    assert np.sort(np.concatenate(fitted.judged_)).tolist() == list(range(50))
    for judged in fitted.judged_:
        seen = ~np.isin(np.arange(50), judged)
        np.testing.assert_allclose(widths[~seen], np.std(y[seen]))
    assert fitted.predict_widths(X).shape == (50, 2, 1)


def test_parts_are_wrapped_as_they_need():
    X, y = noisy_line(50)
    members = MemberEnsemble([LinearRegression().fit(X, y), LinearRegression().fit(X, 2 * y)])
    assert resampled(Mean()).splits == FoldSplits(5)
    assert resampled(Mean(), gap=2).splits == ForwardSplits(2)
    assert resampled(members).splits == resampled(members, gap=2).splits == FittedElsewhere()
    folded, bounds = FoldedEnsemble(), FoldedBounds()
    assert resampled(folded) is folded
    assert resampled_noise(bounds) is bounds
    assert resampled_noise(bounds, gap=1).splits == ForwardSplits(1)
    elsewhere = resampled(members).fit(X, y, np.ones(50))
    np.testing.assert_array_equal(elsewhere.predict_unseen(X).center, members.predict(X))


def test_a_block_is_judged_by_the_mean_of_what_came_before():
    X, y = noisy_line(60)
    part = ResampledEpistemic(Mean(), ForwardSplits(3)).fit(X, y)
    center, widths = part.predict_unseen(X)
    assert np.isnan(center[:15]).all()
    for past, block in time_blocks(np.arange(60), gap=3):
        np.testing.assert_array_equal(center[block], np.mean(y[past]))
        np.testing.assert_allclose(widths[block], np.std(y[past]) / np.sqrt(len(past)))
    assert part.predict_like_unseen(X).center[0] == pytest.approx(np.mean(y))


def test_noise_of_a_block_is_learned_before_it():
    X, y = noisy_line(60)
    widths = ResampledAleatoric(Deviation(), ForwardSplits(2)).fit(X, y).predict_unseen_widths(X)
    assert np.isnan(widths[:15]).all()
    for past, block in time_blocks(np.arange(60), gap=2):
        np.testing.assert_allclose(widths[block], np.std(y[past]))


@pytest.mark.parametrize(
    "part",
    [
        FoldedEnsemble(LinearRegression(), 3, 2),
        PCSEnsemble([LinearRegression()], n_bootstraps=5, bootstrap="blocks"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_the_future_changes_nothing_that_was_said_before(part):
    X, y = noisy_line(80)
    changed = np.where(np.arange(80) < 60, y, 1000 - y)
    said, again = (
        ResampledEpistemic(part, ForwardSplits(4), random_state=0).fit(X, target).predict_unseen(X)
        for target in (y, changed)
    )
    # The block of the first changed row ends at 68; all rows before that saw only older rows.
    np.testing.assert_array_equal(said.center[:68], again.center[:68])
    np.testing.assert_array_equal(said.widths[:68], again.widths[:68])
    assert not np.array_equal(said.center[68:], again.center[68:])


@pytest.mark.parametrize(
    "part", [ScaledResiduals(LinearRegression()), FoldedBounds(LinearQuantiles())], ids=str
)
def test_future_residuals_change_no_earlier_width(part):
    X, y = noisy_line(80)
    changed = np.where(np.arange(80) < 60, y, 1000 - y)
    widths, again = (
        ResampledAleatoric(part, ForwardSplits(), random_state=0)
        .fit(X, target)
        .predict_unseen_widths(X)
        for target in (y, changed)
    )
    np.testing.assert_array_equal(widths[:68], again[:68])
    assert not np.array_equal(widths[68:], again[68:])


def test_only_the_rows_of_the_fit_were_judged():
    X, y = noisy_line(60)
    with pytest.raises(ValueError, match="X must be the 60 rows given to fit"):
        ResampledEpistemic(Mean(), ForwardSplits()).fit(X, y).predict_unseen(X[:10])
