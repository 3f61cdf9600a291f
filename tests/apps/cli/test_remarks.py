"""What fit remarks about rows and columns."""

import numpy as np
import polars as pl

from tests.apps.cli.running import run


def test_a_few_copies_are_told_of_and_groups_offered(price_files, price_fit):
    words = "16 of 208 rows have a copy among the others"
    for stderr in (
        price_fit.stderr,
        run("inspect", price_files / "prices.csv", "--target", "price").stderr,
    ):
        assert words in stderr
        assert "--groups COLUMN" in stderr
    kept = pl.read_csv(price_files / "prices.csv").with_row_index("house")
    kept.write_csv(price_files / "kept.csv")
    args = [
        "fit",
        price_files / "kept.csv",
        "--target",
        "price",
        "--out",
        price_files / "kept.clear",
    ]
    assert words not in run(*args, "--groups", "house", "--preset", "fast").stderr


def test_a_column_in_the_order_of_the_target_is_told_of(price_files):
    frame = pl.read_csv(price_files / "prices.csv")
    noise = np.random.default_rng(0).normal(size=(2, frame.height))
    frame.with_columns(
        log=pl.col("price").log1p(),
        almost=pl.col("price") + pl.Series(noise[0]),
        near=pl.col("price") + 20 * pl.Series(noise[1]),
    ).write_csv(price_files / "leaks.csv")
    args = [
        "fit",
        price_files / "leaks.csv",
        "--target",
        "price",
        "--out",
        price_files / "leaks.clear",
    ]
    for done in (
        run("inspect", price_files / "leaks.csv", "--target", "price"),
        run(*args, "--preset", "fast"),
    ):
        words = " ".join(done.stderr.split())
        for name in ("log", "almost"):
            assert f"Column '{name}' sorts the rows as the target does" in words
            assert f"--drop {name}" in words
        assert "Column 'near'" not in words
        assert "Column 'size'" not in words
