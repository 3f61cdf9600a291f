"""The Ames houses and the rows of the case study: `ames.csv` and `ames_split.csv`."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from clearbands.rows.split import Rows
from experiments.datasets import DatasetError, folder

TARGET = "saleprice"
NOT_FEATURES = ("order", "pid", "ms_subclass", "sale_condition")  # keys, a code, and a constant
SIZES = {"train": 1126, "val": 636, "test": 635}


class Houses(NamedTuple):
    """The three sets of houses, each with features as they stand in the file, and prices."""

    train: Rows
    validation: Rows
    test: Rows


def load() -> Houses:
    """Read the three sets of the case study, with rows in the order of `ames_split.csv`."""
    houses, split = read("ames.csv"), read("ames_split.csv")
    rows = split.merge(houses, on=["order", "pid"], how="left", validate="one_to_one")
    sizes = rows["split"].value_counts().to_dict()
    if sizes != SIZES or rows[TARGET].isna().any():
        raise DatasetError(
            f"ames_split.csv must give rows of ames.csv to the sets {SIZES}, got {sizes} and "
            f"{int(rows[TARGET].isna().sum())} rows that are not in ames.csv."
        )
    return Houses(*(as_rows(rows[rows["split"] == name]) for name in SIZES))


def read(name: str) -> pd.DataFrame:
    path = folder() / name
    if not path.is_file():
        raise DatasetError(
            f"There is no {name} in {path.parent}. The case study needs ames.csv (De Cock's Ames "
            "houses, 2,930 rows under their own names) and ames_split.csv (Order, PID, split) in "
            "the folder that CLEARBANDS_DATA names."
        )
    table = pd.read_csv(path).rename(columns=snake_case)
    text = table.select_dtypes(exclude="number").columns
    return table.astype(dict.fromkeys(text, object))  # pandas is twice as fast with plain objects


def snake_case(name: str) -> str:
    """Convert a name such as "Year Remod/Add" to "year_remod_add"."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def as_rows(houses: pd.DataFrame) -> Rows:
    features = houses.drop(columns=["split", TARGET, *NOT_FEATURES]).reset_index(drop=True)
    return Rows(features, houses[TARGET].to_numpy(np.float64))
