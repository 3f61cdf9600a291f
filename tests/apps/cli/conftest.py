"""Files, and the models and outputs that commands made of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from clearbands import save
from clearbands.persistence.origin import record_origin
from tests.apps.cli.fit_in_files import fit
from tests.apps.cli.messy import messy
from tests.apps.cli.running import houses, run
from tests.scaling.files import table, write
from tests.served import documented_houses, linear_model


@pytest.fixture(scope="session")
def house_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    houses(160).write_csv(folder / "train.csv")
    test = houses(60, seed=1).with_row_index("id")
    test.write_csv(folder / "test.csv")
    test.write_parquet(folder / "test.parquet")
    return folder


@pytest.fixture(scope="session")
def house_fit(house_files):
    return run(
        "fit", house_files / "train.csv", "--target", "price", "--out", house_files / "model.cb",
        "--level", 0.9, "--level", 0.8,
    )  # fmt: skip


@pytest.fixture(scope="session")
def house_model(house_files, house_fit):
    assert house_fit.exit_code == 0, house_fit.stderr
    return house_files / "model.cb"


@pytest.fixture(scope="session")
def one_level_model(house_files):
    path = house_files / "one.cb"
    result = run(
        "fit", house_files / "train.csv", "--target", "price", "--out", path, "--preset", "b"
    )
    assert result.exit_code == 0, result.stderr
    return path


@pytest.fixture(scope="session")
def parquet_houses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write(folder, table(400).with_row_index("nr"))
    write(folder, table(300, seed=1).with_row_index("nr"), cuts=(10, 200))  # the folder "houses"
    result = fit(folder, folder / "houses.parquet", "--work", folder / "work")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return folder


@pytest.fixture(scope="session")
def price_files(tmp_path_factory):
    """Write prices near zero, with a few negative lower bounds, and eight rows with a copy."""
    folder = tmp_path_factory.mktemp("summary")
    rng = np.random.default_rng(0)
    size = rng.uniform(1, 500, 200)
    price = np.abs(size - 1 + rng.normal(0, 8, 200))
    frame = pl.DataFrame({"size": size, "price": price})
    frame.vstack(frame[:8]).write_csv(folder / "prices.csv")
    return folder


@pytest.fixture(scope="session")
def price_fit(price_files):
    out = price_files / "prices.clear"
    return run(
        "fit", price_files / "prices.csv", "--target", "price", "--out", out,
        "--preset", "fast", "--verbose",
    )  # fmt: skip


@pytest.fixture(scope="session")
def messy_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messy")
    messy(120).with_columns(pool=None).write_csv(folder / "houses.csv")  # new rows lack a column
    messy(40, seed=1).write_csv(folder / "new.csv")
    return folder


@pytest.fixture(scope="session")
def question_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    X, y = documented_houses()
    new = X[:40].with_columns(asking=pl.Series(y[:40] + 10))
    new.write_csv(folder / "new.csv")
    model = linear_model(X, y)
    model.origin_ = record_origin(X, y, target="price")
    save(model, folder / "houses.clear")
    return folder
