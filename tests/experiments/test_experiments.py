"""The authors' procedure for variant (b), on data with known results."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

from clearbands.calibration.conformal import rank
from experiments import __main__, authors, datasets, protocol, published, results
from experiments.authors import Parts


class Recorder:
    """A model that predicts a quantile of its targets, and keeps the rows it was fitted on."""

    def __init__(self, quantile):
        self.quantile = quantile

    def fit(self, X, y):
        self.X, self.y = X, y
        return self

    def predict(self, X):
        return np.full(len(X), np.quantile(self.y, self.quantile))


class Curve:
    """A model whose prediction is given."""

    def __init__(self, *values):
        self.values = np.array(values, float)

    def predict(self, X):
        return self.values


@pytest.fixture
def recorders(monkeypatch):
    monkeypatch.setattr(authors, "booster", Recorder)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] + rng.normal(size=200)


@pytest.fixture
def parts():
    """Draw calibration and test rows with positive widths."""
    rng = np.random.default_rng(1)

    def draw(n):
        widths = rng.uniform(0.5, 2, size=(2, n, 2))
        return Parts(rng.normal(size=n), np.zeros(n), *widths)

    return draw(200), draw(50)


# Data sets


def test_folder_not_named(monkeypatch):
    monkeypatch.delenv("CLEARBANDS_DATA", raising=False)
    with pytest.raises(datasets.DatasetError, match="Set the environment variable CLEARBANDS_DATA"):
        datasets.load("airfoil")


def test_folder_that_does_not_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(datasets.DatasetError, match="not a folder"):
        datasets.load("airfoil")


def test_missing_set_names_those_that_are_there(monkeypatch, tmp_path):
    pd.DataFrame({"a": [1], "target": [2]}).to_parquet(tmp_path / "small.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    with pytest.raises(datasets.DatasetError, match=r"no data set 'airfoil'.*there are: small\."):
        datasets.load("airfoil")


def test_a_script_says_what_is_missing_in_a_sentence(monkeypatch):
    monkeypatch.setenv("CLEARBANDS_DATA", "nowhere")
    with pytest.raises(SystemExit, match="CLEARBANDS_DATA names 'nowhere', which is not a folder"):
        datasets.run(lambda: datasets.load("airfoil"))


def test_a_script_says_that_a_file_has_other_rows(tmp_path):
    path = tmp_path / "networks.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match=r"networks\.csv is no csv file of benchmark rows"):
        datasets.run(lambda: results.prepare(path))


def test_last_column_must_be_the_target(monkeypatch, tmp_path):
    pd.DataFrame({"target": [1], "a": [2]}).to_parquet(tmp_path / "small.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    with pytest.raises(datasets.DatasetError, match="last column 'target'"):
        datasets.load("small")


def test_load_gives_floats_in_the_order_of_the_table(monkeypatch, tmp_path):
    table = pd.DataFrame({"a": np.array([3, 1], "int8"), "b": [0.5, 0.25], "target": [7, 8]})
    table.to_parquet(tmp_path / "small.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    X, y = datasets.load("small")
    np.testing.assert_array_equal(X, [[3, 0.5], [1, 0.25]])
    np.testing.assert_array_equal(y, [7, 8])
    assert X.dtype == y.dtype == np.float64


# Rows


def test_split_is_that_of_two_calls_on_the_data(data):
    X, y = data
    split = protocol.split_rows(200, seed=780)
    X_rest, X_test, y_rest, y_test = train_test_split(X, y, test_size=0.2, random_state=780)
    X_train, X_val, _, y_val = train_test_split(X_rest, y_rest, test_size=0.25, random_state=780)
    assert [len(rows) for rows in split] == [120, 40, 40, 40]
    np.testing.assert_array_equal(X[split.train], X_train)
    np.testing.assert_array_equal(X[split.calibration], X_val)
    np.testing.assert_array_equal(X[split.test], X_test)
    np.testing.assert_array_equal(y[split.calibration], y_val)
    np.testing.assert_array_equal(y[split.test], y_test)


def test_members_see_bootstraps_of_the_splits_seed(data, recorders):
    X, y = data
    members = authors.fit_members(X, y, seed=780, n_bootstraps=3)
    for i, member in enumerate(members):
        X_drawn, y_drawn = resample(X, y, random_state=780 + i)
        np.testing.assert_array_equal(member.X, X_drawn)
        np.testing.assert_array_equal(member.y, y_drawn)
        assert member.quantile == 0.5


def test_aleatoric_draws():
    # NumPy never changes the stream of RandomState, so these numbers can be fixed here.
    np.testing.assert_array_equal(authors.aleatoric_draw(10, 0), [7, 6, 7, 1, 7, 4, 7, 9, 8, 7])
    np.testing.assert_array_equal(
        authors.aleatoric_draw(10, 3), np.random.RandomState(780).choice(10, size=10, replace=True)
    )


# Uncertainties


def test_center_and_widths_of_the_members():
    members = [Curve(value) for value in range(41)]  # the 2.5 % quantile of 0 to 40 is 1
    center, widths = authors.epistemic_part(members, np.zeros((1, 1)))
    np.testing.assert_allclose(center, [20])
    np.testing.assert_allclose(widths, [[19, 19]])


def test_medians_are_taken_before_the_difference():
    triples = [
        [Curve(0), Curve(1), Curve(2)],
        [Curve(0), Curve(5), Curve(9)],
        [Curve(3), Curve(6), Curve(7)],
    ]
    # The medians of the curves are 0, 5 and 7; the median of the three upper widths would be 1.
    np.testing.assert_array_equal(authors.aleatoric_widths(triples, np.zeros((1, 1))), [[5, 2]])


def test_crossing_curves_are_uncrossed_within_a_bootstrap():
    triples = [[Curve(3), Curve(1), Curve(0)]]
    np.testing.assert_array_equal(authors.aleatoric_widths(triples, np.zeros((1, 1))), [[0, 0]])


@pytest.mark.parametrize("on_residuals", [True, False])
def test_targets_and_features_of_the_aleatoric_models(data, recorders, monkeypatch, on_residuals):
    X, y = data
    split = protocol.split_rows(len(y), 777)
    members = authors.fit_members(X[split.train], y[split.train], 777, 3)
    center = np.median([member.predict(X) for member in members], axis=0)
    seen = []

    def remember(features, target, n_bootstraps):
        seen.append((features, target, n_bootstraps))
        return [[Curve(*np.zeros(40))] * 3]

    monkeypatch.setattr(authors, "fit_triples", remember)
    calibration, test = authors.fit_parts(X, y, split, members, on_residuals, 3)
    features, target, n_bootstraps = seen[0]
    train_center = center[split.train]
    expected_X = np.column_stack([X[split.train], train_center]) if on_residuals else X[split.train]
    expected_y = y[split.train] - train_center if on_residuals else y[split.train]
    np.testing.assert_array_equal(features, expected_X)
    np.testing.assert_array_equal(target, expected_y)
    assert n_bootstraps == 3
    np.testing.assert_array_equal(calibration.y, y[split.calibration])
    np.testing.assert_array_equal(test.center, center[split.test])


def test_three_models_per_bootstrap_on_the_same_rows(data, recorders):
    X, y = data
    triples = authors.fit_triples(X, y, n_bootstraps=3)
    assert [[model.quantile for model in triple] for triple in triples] == [[0.025, 0.5, 0.975]] * 3
    for i, triple in enumerate(triples):
        for model in triple:
            np.testing.assert_array_equal(model.y, y[authors.aleatoric_draw(200, i)])


# Calibration


@pytest.mark.parametrize(("level", "step"), [(0.95, 20), (0.9, 10)])
def test_rank_is_one_too_high_where_no_rounding_is_needed(level, step):
    for n in range(step, 20 * step):
        excess = 1 if n % step == step - 1 else 0
        assert authors.authors_rank(n, level) == rank(n, level) + excess


def test_rank_of_few_rows_is_the_last():
    assert authors.authors_rank(10) == 10


def test_quantile_is_numpys():
    scores = np.random.default_rng(2).normal(size=119)
    expected = np.quantile(scores, 0.95 * (1 + 1 / 119), method="higher")
    assert authors.authors_quantile(scores) == expected


@pytest.mark.parametrize("name", ["CLEAR", "lambda=1", "gamma1=1", "ALEATORIC-R"])
def test_conformal_methods_cover_just_their_rank(parts, name):
    calibration, _ = parts
    widths = authors.METHODS[name].calibrate(calibration, calibration).widths * (1 + 1e-12)
    inside = (calibration.distances <= widths).all(axis=1)
    assert inside.sum() == authors.authors_rank(200)


def test_pcs_does_not_shrink(parts):
    calibration, test = parts
    generous = calibration._replace(epistemic=100 * calibration.epistemic)
    calibrated = authors.epistemic_only(generous, test)
    assert calibrated.factors == {"gamma": 1.0}
    np.testing.assert_array_equal(calibrated.widths, test.epistemic)


def test_pcs_has_no_finite_sample_correction(parts):
    calibration, _ = parts
    narrow = calibration._replace(epistemic=calibration.epistemic / 100)
    widths = authors.epistemic_only(narrow, narrow).widths * (1 + 1e-12)
    assert (narrow.distances <= widths).all(axis=1).sum() == 190


def test_lambda_may_be_negative_where_gamma1_is_fixed(parts):
    calibration, test = parts
    generous = calibration._replace(aleatoric=100 * calibration.aleatoric)
    assert authors.aleatoric_as_is(generous, test).factors["lambda"] < 0


def test_naive_has_one_width(parts):
    calibrated = authors.constant(*parts)
    assert np.unique(calibrated.widths).tolist() == [np.sort(np.abs(parts[0].y))[190]]


# From the data to the published metrics


@pytest.mark.slow
def test_run_with_three_bootstraps(data):
    pytest.importorskip("xgboost")
    X, y = data
    results = authors.run(X, y, 0, list(authors.METHODS), n_bootstraps=3)
    assert results.keys() == authors.METHODS.keys()
    assert results["CLEAR"].keys() >= {"picp", "nciw", "quantileloss", "lambda", "gamma"}
    assert all(np.isfinite(value) for found in results.values() for value in found.values())
    assert authors.run(X, y, 0, ["CLEAR"], n_bootstraps=3)["CLEAR"] == results["CLEAR"]


# The comparison


def test_published_values_of_every_method_and_seed():
    values = published.per_seed("b")
    for method in authors.METHODS:
        for seed_index in range(10):
            assert 0.85 < values["airfoil", seed_index, method, "picp"] <= 1


def test_relative_difference():
    values = published.per_seed("b")
    found = values["airfoil", 0, "CLEAR", "nciw"] * 1.5
    (line,) = published.compare({"CLEAR": {"nciw": found}}, values, "airfoil", 0)
    assert line.relative_difference == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("factor", "options", "code"),
    [
        (0.99, ["--tolerance", "0.02"], 0),
        (0.97, ["--tolerance", "0.02"], 1),
        (1.03, ["--tolerance", "0.02"], 1),
        (1.03, [], 0),
    ],
)
def test_exit_code_says_whether_the_tolerance_is_kept(
    monkeypatch, tmp_path, capsys, factor, options, code
):
    pytest.importorskip("xgboost")
    pd.DataFrame({"a": [1.0], "target": [2.0]}).to_parquet(tmp_path / "airfoil.parquet")
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    values = published.per_seed("b")

    def scaled(name, seed_index, methods):
        return {"CLEAR": {m: factor * values[name, seed_index, "CLEAR", m] for m in ("nciw",)}}

    monkeypatch.setattr(__main__, "run_one", scaled)
    assert __main__.main(["authors", "--datasets", "airfoil", *options]) == code
    assert f"{factor - 1:+.1e}" in capsys.readouterr().out


def test_command_without_data_says_so_in_one_sentence(monkeypatch, capsys):
    monkeypatch.delenv("CLEARBANDS_DATA", raising=False)
    assert __main__.main(["authors"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "CLEARBANDS_DATA" in error


def test_command_with_a_set_the_paper_does_not_have(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    assert __main__.main(["authors", "--datasets", "boston"]) == 2
    assert "no data set 'boston'" in capsys.readouterr().err
