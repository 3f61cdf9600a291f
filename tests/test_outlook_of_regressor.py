"""Noise and ignorance of a fitted model, from its learning curve."""

import numpy as np
import pytest

from clearbands import fast, load, save, variant_b


@pytest.fixture
def no_curve(monkeypatch):
    """Fits inside a test measure no learning curve."""
    monkeypatch.setattr("clearbands.regressor.shows_curve", lambda result: False)


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(6 * X[:, 0]) + 0.2 * rng.normal(size=n)


@pytest.fixture(scope="module")
def model():
    return fast(random_state=0, n_jobs=1).fit(*data())


def test_intervals_are_the_same_to_the_last_bit(model, no_curve):
    hasty = fast(random_state=0, n_jobs=1).fit(*data())
    assert model.outlook_ is not None
    assert hasty.outlook_ is None
    new = data(seed=1)[0]
    for ours, theirs in zip(model.predict_interval(new), hasty.predict_interval(new), strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(model.lambda_, hasty.lambda_)
    parts = model.predict_uncertainty(new)
    assert np.array_equal(parts.interval, hasty.predict_interval(new)[1][:, :, 0])
    former = hasty.predict_uncertainty(new)
    assert parts.widths.sum(axis=1) == pytest.approx(former.widths.sum(axis=1))
    assert not np.array_equal(parts.widths, former.widths)


def state_after_fit():
    rng = np.random.RandomState(0)
    fast(random_state=rng, n_jobs=1).fit(*data(80))
    return rng.randint(2**31)


@pytest.fixture
def state_with_curve():
    return state_after_fit()


def test_seeds_are_drawn_aside(state_with_curve, no_curve):
    assert state_after_fit() == state_with_curve


def test_the_split_says_what_the_curve_says(model):
    shares = model.outlook_.shares
    parts = model.predict_uncertainty(data(1000, seed=1)[0])
    assert parts.mean_share == pytest.approx(shares.middle, abs=0.1)
    assert parts.share_low < parts.mean_share < parts.share_high
    assert set(parts.dominant) <= {"noise", "ignorance", "unclear"}
    assert ((parts.epistemic_share >= 0) & (parts.epistemic_share <= 1)).all()


def test_rows_beyond_the_data_are_ignorance(model):
    near, far = model.predict_uncertainty([[0.5, 0.5, 0.5], [9.0, 0.5, 0.5]]).epistemic_share
    assert far > near


def test_a_band_for_the_mean_is_inside_the_interval(model):
    X = data(seed=1)[0]
    band, (_, intervals) = model.predict_center_interval(X), model.predict_interval(X)
    assert (band[:, 0] >= intervals[:, 0, 0]).all()
    assert (band[:, 1] <= intervals[:, 1, 0]).all()
    wider = model.predict_center_interval(X, 0.99)
    assert (np.diff(wider) >= np.diff(band)).all()


def test_it_is_saved_with_the_model(model, tmp_path):
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    assert again.forecast().to_frame().equals(model.forecast().to_frame())


def test_too_few_rows_give_the_range_from_0_to_1():
    parts = fast(random_state=0).fit(*data(40)).predict_uncertainty(data(seed=1)[0])
    assert (parts.share_low, parts.share_high) == pytest.approx((0, 1), abs=1e-6)
    assert set(parts.dominant) == {"unclear"}


def test_constant_targets_have_no_curve():
    X = data(80)[0]
    model = fast(random_state=0).fit(X, np.ones(80))
    assert "without an error" in model.forecast().sentence()


def test_given_parts_keep_the_papers_split():
    X, y = data()
    paper = variant_b(random_state=0, n_jobs=1)
    paper.set_params(epistemic__n_bootstraps=5, aleatoric__n_bootstraps=5).fit(X, y)
    assert paper.outlook_ is None
    found = paper.predict_uncertainty(X)
    assert (found.share_low, found.share_high) == (None, None)
    with pytest.raises(ValueError, match="parts of this model were given"):
        paper.forecast()


@pytest.mark.parametrize("more", [(), (0.5,), (1,), ("a",), (np.inf,)])
def test_more_must_be_more(model, more):
    if more == ():
        assert len(model.forecast(more).to_frame()) == 2
        return
    with pytest.raises(ValueError):
        model.forecast(more)
