import warnings

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from clearbands.engine.progress import listening
from clearbands.models.bagging import fit_bag, fit_clones
from clearbands.rows.draws import Bootstraps
from tests.toys import noisy_line


def test_members_are_fitted_on_the_rows_drawn():
    X, y = noisy_line(60)
    bootstraps = Bootstraps.draw(60, 3, np.random.RandomState(0))
    bag = fit_bag(LinearRegression(), X, y, bootstraps, n_jobs=None, stage="test")
    members = bag.predict_members(X)
    assert members.shape == (60, 1, 3)
    for i, counts in enumerate(bootstraps.counts):
        weighted = LinearRegression().fit(X, y, sample_weight=counts)
        np.testing.assert_allclose(members[:, 0, i], weighted.predict(X))


@pytest.mark.slow
def test_jobs_do_not_change_the_members():
    X, y = noisy_line(60)
    bootstraps = Bootstraps.draw(60, 4, np.random.RandomState(0))
    model = RandomForestRegressor(5, random_state=0)
    one, two = (
        fit_bag(model, X, y, bootstraps, n_jobs=n_jobs, stage="test").predict_members(X)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_progress_counts_every_member():
    X, y = noisy_line(60)
    seen = []
    with listening(lambda *step: seen.append(step)):
        fit_bag(
            LinearRegression(),
            X,
            y,
            Bootstraps.draw(60, 3, np.random.RandomState(0)),
            n_jobs=None,
            stage="members",
        )
    assert seen == [("members", done, 3) for done in (1, 2, 3)]


class LeavesEarly(LinearRegression):
    """A model whose process believes that it leaks memory, and therefore ends."""

    def fit(self, X, y):
        from joblib.externals.loky import process_executor

        process_executor._MEMORY_LEAK_CHECK_DELAY = -1.0
        process_executor._MAX_MEMORY_LEAK_SIZE = -1e15
        return super().fit(X, y)


@pytest.mark.slow
def test_processes_that_leave_are_replaced_where_warnings_are_errors():
    """A thread of joblib replaces them after a warning; if that were an error, nobody would."""
    pytest.importorskip("psutil")  # without it no process looks at its memory
    X, y = noisy_line(50)
    counts = np.ones((12, 50), np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            bag = fit_clones(LeavesEarly(), X, y, counts, n_jobs=2, stage="fit")
        finally:
            get_reusable_executor().shutdown(wait=True)
    assert len(bag.members) == 12
