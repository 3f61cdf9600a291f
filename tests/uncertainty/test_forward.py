import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import FoldedBounds, FoldedEnsemble, LinearQuantiles, PCSEnsemble, ScaledResiduals
from clearbands.rows.time_order import stages
from clearbands.uncertainty.forward import ForwardFitted
from clearbands.uncertainty.forward_noise import ForwardFittedNoise
from tests.toys import noisy_line
from tests.uncertainty.test_crossfitted import Deviation, Mean


def test_a_block_is_judged_by_the_mean_of_what_came_before():
    X, y = noisy_line(60)
    part = ForwardFitted(Mean(), gap=3).fit(X, y)
    center, widths = part.predict_unseen(X)
    assert np.isnan(center[:15]).all()
    for past, block in stages(np.arange(60), gap=3):
        np.testing.assert_array_equal(center[block], np.mean(y[past]))
        np.testing.assert_allclose(widths[block], np.std(y[past]) / np.sqrt(len(past)))
    assert part.predict_like_unseen(X).center[0] == pytest.approx(np.mean(y))


def test_noise_of_a_block_is_learned_before_it():
    X, y = noisy_line(60)
    widths = ForwardFittedNoise(Deviation(), gap=2).fit(X, y).predict_unseen_widths(X)
    assert np.isnan(widths[:15]).all()
    for past, block in stages(np.arange(60), gap=2):
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
        ForwardFitted(part, gap=4, random_state=0).fit(X, target).predict_unseen(X)
        for target in (y, changed)
    )
    # The block that the first changed row is in ends at 68; all up to it saw only older rows.
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
        ForwardFittedNoise(part, random_state=0).fit(X, target).predict_unseen_widths(X)
        for target in (y, changed)
    )
    np.testing.assert_array_equal(widths[:68], again[:68])
    assert not np.array_equal(widths[68:], again[68:])


def test_only_the_rows_of_the_fit_were_judged():
    X, y = noisy_line(60)
    with pytest.raises(ValueError, match="X must be the 60 rows given to fit"):
        ForwardFitted(Mean()).fit(X, y).predict_unseen(X[:10])
