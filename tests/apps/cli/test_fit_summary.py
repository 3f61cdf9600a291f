"""What fit says at its end, and of rows that stand in a table twice."""

import numpy as np
import polars as pl
import pytest

from clearbands import load
from tests.apps.cli.test_app import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Prices near zero, of which a few lower bounds are negative, and eight rows with a copy."""
    folder = tmp_path_factory.mktemp("summary")
    rng = np.random.default_rng(0)
    size = rng.uniform(1, 500, 200)
    price = np.abs(size - 1 + rng.normal(0, 8, 200))
    frame = pl.DataFrame({"size": size, "price": price})
    frame.vstack(frame[:8]).write_csv(folder / "prices.csv")
    return folder


@pytest.fixture(scope="module")
def said(folder):
    out = folder / "prices.clear"
    args = ["fit", folder / "prices.csv", "--target", "price", "--out", out, "--preset", "fast"]
    return run(*args, "--verbose")


def test_it_says_how_good_the_model_is(folder, said):
    assert said.exit_code == 0, said.stderr
    unseen, words = load(folder / "prices.clear").unseen_, " ".join(said.stdout.split())
    assert f"coverage at 90 % {100 * unseen.coverage[0]:.1f} % of 208 rows" in words
    assert "always saying the mean" in words
    assert unseen.rmse < unseen.rmse_of_mean
    assert "gamma1" in words


def test_negative_bounds_of_positive_targets_come_with_the_option_that_ends_them(folder, said):
    unseen = load(folder / "prices.clear").unseen_
    assert unseen.lowest_target >= 0 > unseen.lowest_bound
    words = " ".join(said.stderr.split())
    assert "o target is negative, but" in words
    assert "--support 0:" in words
    assert "support=(0, None)" not in words


def test_a_few_copies_are_told_of_and_groups_offered(folder, said):
    words = "16 of 208 rows have a copy among the others"
    for stderr in (said.stderr, run("inspect", folder / "prices.csv", "--target", "price").stderr):
        assert words in stderr
        assert "--groups COLUMN" in stderr
    kept = pl.read_csv(folder / "prices.csv").with_row_index("house")
    kept.write_csv(folder / "kept.csv")
    args = ["fit", folder / "kept.csv", "--target", "price", "--out", folder / "kept.clear"]
    assert words not in run(*args, "--groups", "house", "--preset", "fast").stderr


def test_a_column_in_the_order_of_the_target_is_told_of(folder):
    frame = pl.read_csv(folder / "prices.csv")
    noise = np.random.default_rng(0).normal(size=(2, frame.height))
    frame.with_columns(
        log=pl.col("price").log1p(),
        almost=pl.col("price") + pl.Series(noise[0]),
        near=pl.col("price") + 20 * pl.Series(noise[1]),
    ).write_csv(folder / "leaks.csv")
    args = ["fit", folder / "leaks.csv", "--target", "price", "--out", folder / "leaks.clear"]
    for done in (
        run("inspect", folder / "leaks.csv", "--target", "price"),
        run(*args, "--preset", "fast"),
    ):
        words = " ".join(done.stderr.split())
        for name in ("log", "almost"):
            assert f"Column '{name}' puts the rows in the order of the target" in words
            assert f"--drop {name}" in words
        assert "Column 'near'" not in words
        assert "Column 'size'" not in words
