"""Each judgement call changes the step that it names and nothing else."""

import numpy as np
import pandas as pd
import pytest

from experiments.ames_choices import (
    OPTIONS,
    Choices,
    Clean,
    DropIdentical,
    EncodeCategories,
    FillCategories,
    KeepCorrelated,
    KeepNeighborhoods,
    OnScale,
    Simplify,
    ToNumbers,
    all_choices,
)

HOUSES = pd.DataFrame(
    {
        "lot_frontage": [60.0, 80.0, np.nan, 70.0],
        "year_built": [1990, 2000, 1950, 1970],
        "garage_yr_blt": [1991.0, np.nan, 1950.0, 1970.0],
        "garage_cars": [2.0, 1.0, np.nan, 1.0],
        "pool_qc": [np.nan, "Gd", np.nan, np.nan],
        "neighborhood": ["NAmes", "Sawyer", "NAmes", "Mitchel"],
        "kitchen_qual": ["TA", "Gd", "TA", "Ex"],
        "bsmt_qual": ["Gd", np.nan, "TA", "Gd"],
        "garage_type": ["Attchd", "Attchd", np.nan, "Detchd"],
        "full_bath": [1, 2, 1, 2],
        "half_bath": [0, 1, 1, 0],
        "open_porch_sf": [0, 0, 30, 0],
        "screen_porch": [0, 12, 0, 0],
        "1st_flr_sf": [900, 800, 1000, 700],
        "gr_liv_area": [900, 1600, 1000, 1400],
    }
)
FILLED = FillCategories().fit_transform(Clean().fit_transform(HOUSES))


def assert_changed_only(before, after, columns):
    """Check that all other columns are still there and unchanged."""
    rest = [name for name in before if name not in columns]
    pd.testing.assert_frame_equal(after[rest], before[rest])


def test_there_are_432_ways_and_each_has_a_name():
    ways = all_choices()
    assert len(ways) == len({way.name for way in ways}) == 432


@pytest.mark.parametrize(
    ("call", "option"), [(call, option) for call, options in OPTIONS.items() for option in options]
)
def test_a_call_concerns_one_step(call, option):
    """Only the step that the call names differs in the composed preprocessing."""
    usual, changed = Choices(), Choices()._replace(**{call: option})
    steps = {
        name: (repr(step), repr(dict(changed.pipeline().steps)[name]))
        for name, step in usual.pipeline().steps
    }
    differing = {name for name, (before, after) in steps.items() if before != after}
    is_change = option != getattr(usual, call)
    assert differing == ({call} if is_change and call != "response" else set())
    assert changed.preprocessing().response == (option if call == "response" else "none")


def test_cleaning_fills_numbers_and_drops_columns_that_are_mostly_gaps():
    cleaned = Clean().fit_transform(HOUSES)
    assert "pool_qc" not in cleaned
    assert cleaned["lot_frontage"].tolist() == [60, 80, 70, 70]
    assert cleaned["garage_yr_blt"].tolist() == [1991, 2000, 1950, 1970]
    assert cleaned["garage_cars"].tolist() == [2, 1, 0, 1]
    changed = {"pool_qc", "lot_frontage", "garage_yr_blt", "garage_cars"}
    assert_changed_only(HOUSES.drop(columns="pool_qc"), cleaned, changed)


def test_what_is_filled_in_was_learned_from_training_rows():
    train, new = HOUSES.iloc[:2], HOUSES.iloc[2:]
    cleaned = Clean().fit(train).transform(new)
    assert cleaned["lot_frontage"].tolist() == [70, 70]  # the median of 60 and 80
    assert "pool_qc" in cleaned  # one of the two training rows has it
    filled = FillCategories("mode").fit(train).transform(new)
    assert filled["garage_type"].tolist() == ["Attchd", "Detchd"]
    assert filled["pool_qc"].tolist() == ["Gd", "Gd"]


@pytest.mark.parametrize(("missing", "filled"), [("other", "other"), ("mode", "Gd")])
def test_missing_categories(missing, filled):
    cleaned = Clean().fit_transform(HOUSES)
    result = FillCategories(missing).fit_transform(cleaned)
    assert result["bsmt_qual"].tolist() == ["Gd", filled, "TA", "Gd"]
    assert_changed_only(cleaned, result, {"bsmt_qual", "garage_type"})


def test_neighborhoods_beyond_the_commonest_are_other():
    step = KeepNeighborhoods(2).fit(FILLED)
    # Sawyer and Mitchel have one house each, so the alphabet decides.
    expected = ["NAmes", "other", "NAmes", "Mitchel"]
    assert step.transform(FILLED)["neighborhood"].tolist() == expected
    assert_changed_only(FILLED, step.transform(FILLED), {"neighborhood"})
    unseen = FILLED.assign(neighborhood="Veenker")
    assert set(step.transform(unseen)["neighborhood"]) == {"other"}


def test_simplifying_counts_bathrooms_and_forgets_parts_of_sums():
    simple = Simplify().fit_transform(FILLED)
    assert simple["bathrooms"].tolist() == [1, 2.5, 1.5, 2]
    assert simple["porch"].tolist() == [0, 1, 1, 0]
    gone = {"full_bath", "half_bath", "open_porch_sf", "screen_porch", "1st_flr_sf"}
    assert gone.isdisjoint(simple)
    assert_changed_only(
        FILLED.drop(columns=list(gone)), simple, {"bathrooms", "porch", "garage_type"}
    )


def test_simplifying_keeps_two_levels_of_nominal_columns_only():
    simple = Simplify().fit_transform(FILLED)
    # Attchd is the commonest; Detchd comes before "other" in the alphabet.
    assert simple["garage_type"].tolist() == ["Attchd", "Attchd", "other", "Detchd"]
    six = pd.DataFrame(
        {"roof_style": list("aabbc"), "kitchen_qual": ["Ex", "Gd", "TA", "Fa", "Po"]}
    )
    simple = Simplify().fit_transform(six)
    assert simple["roof_style"].tolist() == ["a", "a", "b", "b", "other"]
    assert_changed_only(six, simple, {"roof_style"})


@pytest.mark.parametrize(
    ("categories", "kitchen", "basement"),
    [
        ("numeric", {"kitchen_qual": [3, 4, 3, 5]}, {"bsmt_qual": [4, 0, 3, 4]}),
        ("simplified dummy", {"kitchen_qual": [0, 1, 0, 1]}, {"bsmt_qual": [1, 0, 0, 1]}),
        (
            "dummy",
            {"kitchen_qual=Ex": [0, 0, 0, 1], "kitchen_qual=Gd": [0, 1, 0, 0]},
            {"bsmt_qual=TA": [0, 0, 1, 0], "bsmt_qual=other": [0, 1, 0, 0]},
        ),
    ],
)
def test_categories_to_numbers(categories, kitchen, basement):
    encoded = EncodeCategories(categories).fit_transform(FILLED)
    for name, values in (kitchen | basement).items():
        assert encoded[name].tolist() == values
    nominal = {"garage_type=Detchd": [0, 0, 0, 1], "garage_type=other": [0, 0, 1, 0]}
    assert {name: encoded[name].tolist() for name in nominal} == nominal
    text = ["kitchen_qual", "bsmt_qual", "garage_type"]
    assert_changed_only(FILLED.drop(columns=text), encoded, {*kitchen, *basement, *nominal})


def test_columns_with_one_value_in_most_training_rows_go():
    train = pd.DataFrame({"a": [0, 0, 0, 1], "b": [0, 0, 1, 1], "neighborhood": list("xxxy")})
    assert list(DropIdentical(0.75).fit_transform(train)) == ["a", "b", "neighborhood"]
    assert list(DropIdentical(0.74).fit_transform(train)) == ["b"]
    same = train.assign(b=0)  # b is constant in new rows only
    assert list(DropIdentical(0.74).fit(train).transform(same)) == ["b"]


def test_weakly_correlated_numbers_go():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    X = pd.DataFrame({"falling": -y, "weak": [1.0, -1, -1, 1.1], "neighborhood": list("xxyy")})
    assert abs(np.corrcoef(X["weak"], y)[0, 1]) < 0.5
    assert list(KeepCorrelated(0.5).fit_transform(X, y)) == ["falling", "neighborhood"]
    assert list(KeepCorrelated(0.0).fit_transform(X, y)) == list(X)


def test_the_last_step_is_numbers_alone():
    X = pd.DataFrame({"a": [1, 2], "neighborhood": ["other", "x"], "b": [0.5, 0.5]})
    numbers = ToNumbers().fit(X)
    np.testing.assert_array_equal(numbers.transform(X), [[1, 0.5, 0], [2, 0.5, 1]])


@pytest.mark.parametrize("response", OPTIONS["response"])
def test_the_response_comes_back_to_dollars(response):
    prices = np.array([12_789.0, 755_000.0])
    scale = OnScale(ToNumbers(), response)
    np.testing.assert_allclose(
        scale.inverse_transform_target(scale.transform_target(prices)), prices
    )
    assert np.all(np.diff(scale.inverse_transform_target(np.array([-2.0, 0.0, 2.0]))) > 0)


def test_the_correlation_is_that_with_the_response_as_chosen():
    """Prices double from house to house, which is a line on the logarithmic scale only."""
    X = pd.DataFrame({"step": np.arange(12.0), "size": np.ones(12)})
    prices = 2.0 ** np.arange(12)
    strict = KeepCorrelated(0.95)
    assert OnScale(strict, "none").fit(X, prices).preprocessing_.kept_ == []
    assert OnScale(strict, "log").fit(X, prices).preprocessing_.kept_ == ["step"]


def test_columns_that_are_not_there_are_no_obstacle():
    X = HOUSES[["gr_liv_area", "year_built"]]
    for way in (Choices(), Choices(0.95, 20, "mode", False, "log", 0.0, "dummy")):
        numbers = way.preprocessing().fit_transform(X, np.arange(1.0, 5))
        np.testing.assert_array_equal(numbers, X.to_numpy(float))
