import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearbands
from clearbands import (
    ClearRegressor,
    DeepEnsemble,
    LinearQuantiles,
    ResidualQuantiles,
    variant_deep,
)
from tests.deep import TINY, need_torch
from tests.toys import OTHER_DRAWS, noisy_line

need_torch()


def tiny(**parameters):
    return DeepEnsemble(**{"n_members": 3, **TINY, "random_state": 0, **parameters})


@pytest.mark.slow
def test_it_learns_a_line_and_knows_where_it_has_seen_nothing():
    X, y = noisy_line(300)
    fitted = tiny(n_members=5, max_epochs=40, learning_rate=0.01).fit(X, y)
    near = np.array([[0.0, 0.0], [0.5, 0.5], [-0.5, 0.2]])
    np.testing.assert_allclose(fitted.predict(near), 3 * near[:, 0], atol=0.5)
    width = fitted.predict_with_widths(np.vstack([near, 6 * near[1:]]))[1].sum(axis=(1, 2))
    assert width[3:].min() > 2 * width[:3].max()


def test_widths_are_quantiles_of_the_members_or_normal():
    X, y = noisy_line(80)
    fitted = tiny(confidence_level=[0.9, 0.5]).fit(X, y)
    members = fitted.predict_members(X)
    center, widths = fitted.predict_with_widths(X)
    low, middle, high = np.quantile(members, [0.05, 0.5, 0.95], axis=1)
    np.testing.assert_allclose(center, middle)
    np.testing.assert_allclose(widths[:, :, 0], np.stack([middle - low, high - middle], 1))
    center, widths = fitted.set_params(spread="gaussian").predict_with_widths(X)
    np.testing.assert_allclose(center, middle)
    expected = 1.6448536 * members.std(axis=1, ddof=1)
    np.testing.assert_allclose(widths[:, :, 0], np.stack([expected, expected], 1))
    np.testing.assert_allclose(widths[:, :, 1] / widths[:, :, 0], 0.6744898 / 1.6448536)


def test_members_that_did_not_see_a_row_judge_it():
    X, y = noisy_line(60)
    fitted = tiny().fit(X, y)
    center = fitted.predict_out_of_bag(X)
    unseen = fitted.draws_.counts == 0
    members = fitted.predict_members(X)
    for row in range(60):
        judges = members[row, unseen[:, row]]
        expected = np.median(judges) if len(judges) else np.nan
        np.testing.assert_equal(center[row], expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: (np.linspace(0, 1, n)[:, None], np.linspace(0, 1, n)),  # one column
        lambda n: (np.ones((n, 2)), np.linspace(0, 1, n)),  # constant columns
        lambda n: (np.linspace(0, 1, n)[:, None], np.zeros(n)),  # constant target
    ],
)
@pytest.mark.parametrize("n", [2, 33])
def test_unusual_tables(make, n):
    X, y = make(n)
    center, widths = tiny().fit(X, y).predict_with_widths(X)
    assert np.isfinite(center).all()
    assert (widths >= 0).all()


@pytest.mark.slow
def test_clear_with_networks(tmp_path):
    """The paper's pair works end to end; after loading it predicts the same, without torch."""
    X, y = noisy_line(200)
    model = variant_deep(confidence_level=[0.9, 0.5], random_state=0)
    assert model.epistemic.n_members == 5
    small = {f"{part}__{k}": v for part in ("epistemic", "aleatoric") for k, v in TINY.items()}
    model.set_params(**small).fit(X, y)
    expected = model.predict_interval(X)[1]
    assert expected.shape == (200, 2, 2)
    clearbands.save(model, tmp_path / "deep.clear")
    np.savez(tmp_path / "rows.npz", X=X, expected=expected)
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import numpy as np, clearbands\n"
        "rows = np.load('rows.npz')\n"
        "model = clearbands.load('deep.clear')\n"
        "np.testing.assert_allclose(model.predict_interval(rows['X'])[1], rows['expected'])\n"
        "try: clearbands.DeepEnsemble().fit(rows['X'], rows['X'][:, 0])\n"
        "except ImportError as error: said = str(error)\n"
        "assert said == 'Training networks needs the extra \"deep\": pip install torch.', said\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=tmp_path)


def test_other_parts_fit_around_networks():
    X, y = noisy_line(150)
    aleatoric = ResidualQuantiles(LinearQuantiles(), n_bootstraps=2)
    for residuals in ("in-sample", "out-of-bag", "target"):
        parameters = {"residuals": residuals, "calibration": "joint", "random_state": 0}
        model = ClearRegressor(tiny(), aleatoric, **parameters).fit(X, y)
        assert np.isfinite(model.predict_interval(X)[1]).all()


def test_bad_input():
    X, y = noisy_line(40)
    with pytest.raises(ValueError, match='spread must be one of "quantiles", "gaussian"'):
        tiny(spread="normal").fit(X, y)
    with pytest.raises(ValueError, match="n_members must be a whole number of at least 2"):
        tiny(n_members=1).fit(X, y)
    with pytest.raises(TypeError, match="hidden must be a list of layer widths"):
        tiny(hidden=64).fit(X, y)
    with pytest.raises(ValueError, match="Each width in hidden must be"):
        tiny(hidden=(8, 0)).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        tiny().fit(X, np.full(40, np.nan))
    with pytest.raises(NotFittedError):
        tiny().predict(X)


@parametrize_with_checks(
    [DeepEnsemble(2, (8,), max_epochs=30, learning_rate=0.02, input_noise=0)],
    expected_failed_checks=lambda _: OTHER_DRAWS,
)
def test_estimator_checks(estimator, check):
    check(estimator)
