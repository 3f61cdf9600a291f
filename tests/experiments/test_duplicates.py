"""Copies of a row stay on one side of a split, where that is asked for."""

import numpy as np
import pandas as pd

from experiments import __main__, conditional, datasets, duplicates


def test_copies_are_on_one_side():
    X = np.random.default_rng(0).integers(0, 40, (200, 1)).astype(float)
    copies = duplicates.copies_of(X)
    assert ((copies[:, None] == copies) == (X == X[:, 0])).all()
    split = duplicates.split_rows(copies, 777, "together")
    parts = [set(copies[rows]) for rows in (split.train, split.validation, split.test)]
    assert sum(map(len, parts)) == len(set.union(*parts))
    numbers = np.concatenate([split.train, split.validation, split.test])
    assert sorted(numbers) == list(range(200))
    at_random = duplicates.split_rows(copies, 777, "at random")
    assert set(copies[at_random.test]) & set(copies[at_random.train])


def test_rows_and_table(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 60, (150, 1)).astype(float)
    pd.DataFrame({"a": X[:, 0], "target": rng.normal(size=150)}).to_parquet(
        tmp_path / "concrete.parquet"
    )
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    wide = {"crepes": lambda case: np.tile([-2.0, 2.0], (len(case.split.test), 1))}
    monkeypatch.setattr(conditional, "ways", lambda: wide)
    monkeypatch.setattr(duplicates, "METHODS", ("crepes",))
    path = tmp_path / "rows.csv"
    command = ["duplicates", "--datasets", "concrete", "--seeds", "777", "--results", str(path)]
    assert __main__.main(command) == 0
    rows = pd.read_csv(path)
    assert rows.set_index("split")["copied"]["together"] == 0
    assert rows.set_index("split")["copied"]["at random"] > 0.5
    assert "| crepes | 1 |" in capsys.readouterr().out
