"""The page about a model as time goes on."""

import numpy as np
import pytest

import clearbands
from clearbands.apps.report.over_time import make_monitor, measure_history
from tests.pages import as_text
from tests.test_regressor_in_time import in_time
from tests.toys import noisy_line


@pytest.fixture(scope="module")
def louder():
    """Return a model, and rows whose noise grows fourfold in their second half."""
    X, y = noisy_line(1000, seed=2)
    noise = np.random.default_rng(1).normal(size=1000)
    y = y + np.where(np.arange(1000) >= 700, 1.5, 0) * noise
    return in_time(calibrator=None).fit(X[:400], y[:400]), X[400:], y[400:]


def test_shares_are_those_of_the_intervals(louder):
    model, X, y = louder
    found = measure_history(model, X, y, stretch=100)
    _, bounds = model.predict_interval(X)
    inside = (bounds[:, 0, 0] <= y) & (y <= bounds[:, 1, 0])
    assert found.covered == inside.mean()
    for end, share in zip(found.ends, found.coverage, strict=True):
        assert share == pytest.approx(inside[end - 99 : end + 1].mean())
    parts = model.predict_uncertainty(X)
    widths = parts.aleatoric.sum(axis=1)[-100:].mean(), parts.epistemic.sum(axis=1)[-100:].mean()
    assert (found.aleatoric[-1], found.epistemic[-1]) == pytest.approx(widths)
    assert found.strange[-1] == pytest.approx(model.unfamiliar(X)[-100:].mean())


def test_what_updates_would_have_done_is_what_they_do(louder):
    model, X, y = louder
    found = measure_history(model, X, y)
    with pytest.warns(clearbands.RefitWarning):
        updated = model.without_updates().update(X, y)
    assert found.covered_updated == pytest.approx(updated.rolling_.coverage[0])
    assert found.advice == updated.rolling_.advice()
    again = measure_history(updated, X, y)  # earlier updates are ignored
    np.testing.assert_array_equal(again.coverage, found.coverage)
    assert not hasattr(model, "rolling_")


def test_drift_is_seen_where_it_begins(louder):
    model, X, y = louder
    found = measure_history(model, X, y, stretch=100)
    before, after = found.ends < 300, found.ends >= 400
    assert found.drift[before].max() < 0.3
    assert found.drift[after].min() > 0.5
    assert found.ends[found.worst] >= 300


def test_the_page_says_it_in_one_sentence(louder):
    model, X, y = louder
    days = np.datetime64("2026-01-01") + np.arange(len(y))
    page = make_monitor(
        measure_history(model, X, y, times=days), target="the <demand>", unit="GW"
    ).html
    text = as_text(page)
    assert "The model should be fitted again." in text
    assert "2026-01-01 to 2027-08-23" in text
    assert "the <demand>" in text  # so the source escapes it
    assert "the <demand>" not in page
    assert "https://" not in page
    assert page.count("<figure") == 4
    quiet = make_monitor(measure_history(model, X[:250], y[:250]), target="y").html
    assert "These rows give no reason to fit the model again." in as_text(quiet)


def test_rows_of_the_fit_are_said_above_all_else(louder):
    model, X, y = louder
    history = measure_history(model, X[:250], y[:250])
    text = as_text(make_monitor(history, target="y", n_seen=250).html)
    assert "All 250 rows of this page took part in the fit." in text
    assert "Give rows that came after those of the fit." in text
    assert "These rows cannot tell whether the intervals hold" in text
    assert "Nothing in these rows" not in text
    few = as_text(make_monitor(history, target="y", n_seen=3).html)
    assert "took part in the fit" not in few


def test_few_rows_cannot_be_watched(louder):
    model, X, y = louder
    with pytest.raises(ValueError, match="59 rows are too few to watch a model"):
        measure_history(model, X[:59], y[:59])
