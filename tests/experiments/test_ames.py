"""The Ames case study from end to end, on made-up houses."""

import math

import numpy as np
import pandas as pd
import pytest

from clearbands.rows.split import Rows
from experiments import __main__ as experiments
from experiments import ames, ames_advice, ames_data, ames_report, datasets
from experiments.ames_choices import BATHROOMS, PARTS_OF_SUMS, PORCHES, SCALES, Choices

NOMINAL = {
    "neighborhood": ("NAmes", "CollgCr", "OldTown", "Edwards"),
    "foundation": ("CBlock", "PConc", "BrkTil"),
    "garage_type": ("Attchd", "Detchd"),
}
COUNTS = ("lot_frontage", "year_built", "garage_yr_blt", "yr_sold", "total_bsmt_sf", "lot_area")
FEW = [
    Choices(identical, response=response, categories=categories)
    for identical in (0.8, 0.95)
    for response in ("none", "log", "sqrt")
    for categories in ("numeric", "dummy")
]


def made_up_houses(n, seed):
    """Draw houses with the columns of the real ones; prices depend on quality and area."""
    rng = np.random.default_rng(seed)
    houses = {name: rng.choice(levels, n) for name, levels in NOMINAL.items()}
    houses |= {name: rng.choice(scale.levels, n) for name, scale in SCALES.items()}
    numbers = (*BATHROOMS, *PORCHES, *PARTS_OF_SUMS, *COUNTS)
    houses |= {name: rng.integers(0, 5, n).astype(float) for name in numbers}
    houses["overall_qual"] = rng.integers(1, 11, n)
    houses["gr_liv_area"] = rng.integers(600, 3000, n)
    table = pd.DataFrame(houses).astype(dict.fromkeys([*NOMINAL, *SCALES], object))
    for name in ("lot_frontage", "bsmt_qual", "garage_type"):
        table.loc[rng.random(n) < 0.1, name] = np.nan
    worth = 15_000 * table["overall_qual"] + 50 * table["gr_liv_area"]
    return Rows(table, (worth * rng.lognormal(0, 0.1, n)).to_numpy(float))


@pytest.fixture
def small_study(monkeypatch):
    houses = ames_data.Houses(*(made_up_houses(n, seed) for seed, n in enumerate((120, 60, 60))))
    monkeypatch.setattr(ames_data, "load", lambda: houses)
    monkeypatch.setattr(ames, "all_choices", lambda: FEW)
    forest = ames.models(0)["random forest"].set_params(n_estimators=5)
    few = {"least squares": ames.models(0)["least squares"], "random forest": forest}
    monkeypatch.setattr(ames, "models", lambda seed: few)
    return houses


@pytest.mark.slow
def test_a_row_per_scenario_and_method_and_a_second_run_has_nothing_to_do(
    small_study, monkeypatch, tmp_path, capsys
):
    path, picture = tmp_path / "ames.csv", tmp_path / "ratios.png"
    one = ["ames", "--results", str(path), "--scenarios", "2 features"]
    assert experiments.main(one) == 0
    before = path.read_text()
    assert experiments.main([*one, "all features, 50% data", "--figure", str(picture)]) == 0
    assert path.read_text().startswith(before)
    rows = pd.read_csv(path)
    assert list(rows.columns) == [
        *("scenario", "method", "nciw", "quantile_loss", "width", "coverage"),
        *("lambda", "gamma1", "ratio"),
    ]
    assert rows["method"].tolist() == 2 * ["PCS", "CQR", "CLEAR"]
    assert rows["scenario"].tolist() == 3 * ["2 features"] + 3 * ["all features, 50% data"]
    assert rows["coverage"].between(0.6, 1).all()
    assert rows["ratio"].notna().tolist() == 2 * [False, False, True]
    assert picture.stat().st_size > 0
    assert "| 2 features | CLEAR | " in capsys.readouterr().out

    monkeypatch.setattr(ames_data, "load", lambda: pytest.fail("nothing is left to fit"))
    assert experiments.main([*one, "all features, 50% data"]) == 0
    assert "2 of 2 scenarios are there; 0 to go." in capsys.readouterr().out


@pytest.mark.slow
def test_scores_are_in_dollars_and_those_of_the_parts(small_study):
    finished = ames.run_scenario("2 features", small_study, seed=0)
    clear = finished.rows[2]
    _, _, test = (ames.SCENARIOS["2 features"].columns(rows) for rows in small_study)
    assert 10_000 < clear["width"] < np.ptp(test.y)
    assert clear["quantile_loss"] < 10_000
    assert "3 distinct versions of the data, 1 of 6 fits kept" in finished.summary


def test_versions_that_are_the_same_are_fitted_once(small_study):
    """With two numeric features, only the judgement call on the response makes a difference."""
    train = ames.SCENARIOS["2 features"].training_rows(small_study.train, 0)
    pcs = ames.study_model(0).epistemic.fit(train.X, train.y)
    assert len(pcs.duplicates_) == len(FEW) - 3
    assert len(pcs.leaderboard_) == 3 * len(ames.models(0))


def test_scenarios_take_columns_and_rows_away():
    rows = made_up_houses(50, 0)
    two = ames.SCENARIOS["2 features"].training_rows(rows, 0)
    assert list(two.X) == ["overall_qual", "gr_liv_area"]
    assert len(two) == 50
    fifth = ames.SCENARIOS["all features, 20% data"].training_rows(rows, 0)
    assert fifth.X.shape == (10, rows.X.shape[1])
    assert set(fifth.y) <= set(rows.y)
    assert not np.array_equal(fifth.y, ames.Scenario(share=0.2).training_rows(rows, 1).y)


def test_the_ratio_is_that_of_the_mean_widths():
    assert ames.ratio(np.array([[1.0, 3.0]]), np.array([[0.0, 1.0]])) == 4
    assert ames.ratio(np.ones((2, 2)), np.zeros((2, 2))) == math.inf


def test_tables_stand_beside_the_papers():
    rows = pd.DataFrame([dict.fromkeys(ames.COLUMNS, 0.5)])
    rows = rows.assign(scenario="all features", method="CLEAR", ratio=math.inf)
    assert "| all features | CLEAR | 0.500 / 0.103 | 0 / 1,923 |" in ames_report.scores(rows)
    assert "| all features | 0.5 / 14.4 | 0.50 / 0.13 | inf / 7.72 |" in ames_report.factors(rows)


def test_missing_files_and_unknown_scenarios_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    assert experiments.main(["ames", "--results", str(tmp_path / "rows.csv")]) == 2
    assert "There is no ames.csv in" in capsys.readouterr().err
    assert experiments.main(["ames", "--scenarios", "3 features"]) == 2
    assert "There is no scenario '3 features'; choose from '2 feat" in capsys.readouterr().err


def test_a_split_of_other_houses_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    (tmp_path / "ames.csv").write_text("Order,PID,Gr Liv Area,SalePrice\n1,2,900,100000\n")
    (tmp_path / "ames_split.csv").write_text("Order,PID,split\n1,3,train\n")
    with pytest.raises(datasets.DatasetError, match=r"1 rows that are not in ames\.csv"):
        ames_data.load()


def test_the_real_houses():
    try:
        houses = ames_data.load()
    except datasets.DatasetError as error:
        pytest.skip(f"The Ames tables are not here: {error}")
    assert [len(rows) for rows in houses] == [1126, 636, 635]
    assert houses.train.X.shape[1] == 77
    way = Choices(0.95, 20, "mode", False, "log", 0.0, "dummy")
    fitted = way.preprocessing().fit(houses.train.X, houses.train.y)
    for rows in houses:
        numbers = fitted.transform(rows.X)
        assert np.isfinite(numbers).all()
        assert numbers.shape[1] == 91


def test_what_rows_and_features_do_to_the_parts(monkeypatch, tmp_path, capsys):
    """The prices depend on two columns; with one of them alone, the other adds to the noise."""
    houses = ames_data.Houses(*(made_up_houses(n, seed) for seed, n in enumerate((200, 100, 100))))
    monkeypatch.setattr(ames_data, "load", lambda: houses)
    features = {"one": ("gr_liv_area",), "two": ("gr_liv_area", "overall_qual")}
    monkeypatch.setattr(ames_advice, "FEATURES", features)
    monkeypatch.setattr(ames_advice, "SEEDS", {1.0: (0,)})
    path, picture = tmp_path / "advice.csv", tmp_path / "advice.png"
    call = ["ames-advice", "--results", str(path), "--figure", str(picture)]
    assert experiments.main(call) == 0
    rows = pd.read_csv(path).set_index("features")
    assert rows.loc["two", "aleatoric"] < rows.loc["one", "aleatoric"]
    assert rows.loc["two", "quantile_loss"] < rows.loc["one", "quantile_loss"] / 2
    assert rows["coverage"].between(0.75, 1).all()
    assert picture.stat().st_size > 0
    assert "| two | 1,126 |" in capsys.readouterr().out
    assert experiments.main(call) == 0
    assert "0 fits to go." in capsys.readouterr().out


def test_a_column_without_values_in_the_drawn_rows_is_left_out(monkeypatch):
    train, held_out, test = (made_up_houses(60, seed) for seed in range(3))
    train.X["pool_qc"] = np.nan
    held_out.X["pool_qc"] = test.X["pool_qc"] = "Gd"
    monkeypatch.setattr(ames_advice, "FEATURES", {"two": ("gr_liv_area", "pool_qc")})
    row = ames_advice.run_one(ames_data.Houses(train, held_out, test), "two", 1.0, 0)
    assert row["aleatoric"] > 0
