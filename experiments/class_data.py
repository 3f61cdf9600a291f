"""Tables with a class to predict: three from scikit-learn, two from the folder of data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn import datasets as bundled

from experiments import datasets

BUNDLED = {
    "wine": bundled.load_wine,
    "breast_cancer": bundled.load_breast_cancer,
    "digits": bundled.load_digits,
}
TARGETS = {"cells": "class", "lending_club": "Class"}
LEFT_OUT = {"cells": ["case"]}  # this column says which rows another study tested on
SETS = (*BUNDLED, *TARGETS)
MAX_ROWS = 2000  # so many rows are drawn from larger tables, anew for each seed


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the features and the class of each row."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y
    path = datasets.folder() / "classes" / f"{name}.parquet"
    if name not in TARGETS or not path.is_file():
        raise datasets.DatasetError(f"There is no table of classes {name!r} in {path.parent}.")
    table = pd.read_parquet(path).drop(columns=LEFT_OUT.get(name, []))
    return table.drop(columns=TARGETS[name]), table[TARGETS[name]].to_numpy(str)


def split_rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of rows that train (60 %), calibrate (20 %) and test (20 %)."""
    order = np.random.default_rng(seed).permutation(n)[:MAX_ROWS]
    first, second = round(0.6 * len(order)), round(0.8 * len(order))
    return order[:first], order[first:second], order[second:]
