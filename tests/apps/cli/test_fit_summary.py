"""The summary at the end of fit, and its warning of rows that occur twice."""

from clearbands import load


def test_it_says_how_good_the_model_is(price_files, price_fit):
    assert price_fit.exit_code == 0, price_fit.stderr
    unseen, words = load(price_files / "prices.clear").unseen_, " ".join(price_fit.stdout.split())
    assert f"coverage at 90 % {100 * unseen.coverage[0]:.1f} % of 208 rows" in words
    assert "predicting the mean of all" in words
    assert unseen.rmse < unseen.rmse_of_mean
    assert "gamma1" in words


def test_negative_bounds_of_positive_targets_come_with_the_option_that_ends_them(
    price_files, price_fit
):
    unseen = load(price_files / "prices.clear").unseen_
    assert unseen.lowest_target >= 0 > unseen.lowest_bound
    words = " ".join(price_fit.stderr.split())
    assert "o target is negative, but" in words
    assert "--support 0:" in words
    assert "support=(0, None)" not in words
