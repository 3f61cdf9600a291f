"""A fit of a table in parquet files."""

from tests.apps.cli.running import run


def fit(folder, data, *options):
    names = ["--target", "price", "--id", "nr"]
    return run("fit", data, *names, "--preset", "fast", "--out", folder / "m.clear", *options)
