"""Models and rows in files, for commands and for the pages that they serve."""

from __future__ import annotations

import pytest

import clearbands


@pytest.fixture(scope="session")
def service_files(tmp_path_factory):
    from tests.served import COLUMNS, houses, small_model

    folder = tmp_path_factory.mktemp("service")
    clearbands.save(small_model(), folder / "model.cb")
    houses(60, seed=1).select(COLUMNS).write_csv(folder / "rows.csv")
    return folder


@pytest.fixture(scope="session")
def explore_files(tmp_path_factory):
    from tests.served import houses, small_model

    folder = tmp_path_factory.mktemp("explore")
    clearbands.save(small_model(), folder / "model.cb")
    clearbands.save(small_model(1), folder / "other.cb")
    houses(60, seed=1).write_csv(folder / "rows.csv")
    return folder
