"""Tables of the simulations: coverage and width by distance and under shift."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from experiments.simulation_data import LEVEL
from experiments.table import Table, number

NEAR = 3.0  # in one dimension there are training rows up to this distance
CASES = ("homo", "hetero1", "hetero2", "multivariate")
"""The cases of the paper's four figures; the last pools all dimensions above one."""
ORDER = ("CLEAR", "PCS", "ALEATORIC-R", "Naive")


def select(rows: pd.DataFrame, case: str) -> pd.DataFrame:
    if case == "multivariate":
        return rows[(rows["noise"] == "homo") & (rows["d"] > 1)]
    return rows[(rows["noise"] == case) & (rows["d"] == 1)]


def means(rows: pd.DataFrame, where: str, column: str) -> pd.DataFrame:
    """Return means over the runs, by radius or scale (rows) and method (columns)."""
    table = rows.groupby([where, "method"])[column].mean().unstack("method")
    return table[[method for method in ORDER if method in table]]


def distance_tables(rows: pd.DataFrame) -> Iterator[Table]:
    cases = split(rows)
    yield near_and_far(cases)
    for case, chosen in cases.items():
        yield by_place(chosen, "radius", f"{title(case, chosen)}, by distance", case)


def shift_tables(rows: pd.DataFrame) -> Iterator[Table]:
    for case, chosen in split(rows).items():
        label = f"{title(case, chosen)}, test X drawn wider by a factor"
        yield by_place(chosen, "scale", label, f"{case}-shift")


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each case that has any."""
    return {case: chosen for case in CASES if not (chosen := select(rows, case)).empty}


def near_and_far(cases: dict[str, pd.DataFrame]) -> Table:
    """Return the lowest and highest mean coverage within NEAR and beyond, and the mean widths."""
    cells = []
    for case, rows in cases.items():
        coverage, width = means(rows, "radius", "coverage"), means(rows, "radius", "width")
        near = coverage.index <= NEAR
        for method in coverage:
            inside, outside = coverage.loc[near, method], coverage.loc[~near, method]
            cells.append(
                [
                    case,
                    str(method),
                    extreme(inside, inside.idxmin()),
                    extreme(inside, inside.idxmax()),
                    number(width.loc[near, method].mean()),
                    extreme(outside, outside.idxmin()),
                    extreme(outside, outside.idxmax()),
                    number(width.loc[~near, method].mean()),
                ]
            )
    header = ["case", "method", "lowest", "highest", "width"]
    header += [f"{name} beyond {NEAR:g}" for name in header[2:]]
    what = f"Coverage at {100 * LEVEL:g} %, mean over runs"
    label = f"{what}: lowest and highest up to distance {NEAR:g}, and beyond"
    return Table("near-and-far", label, header, cells)


def extreme(coverage: pd.Series, place: float) -> str:
    return f"{coverage[place]:.3f} at {place:g}"


def by_place(rows: pd.DataFrame, where: str, label: str, name: str) -> Table:
    coverage, width = means(rows, where, "coverage"), means(rows, where, "width")
    cells = [
        [f"{place:g}"]
        + [f"{coverage.loc[place, m]:.3f} ({number(width.loc[place, m])})" for m in coverage]
        for place in coverage.index
    ]
    return Table(name, f"Coverage (width): {label}", [where, *coverage.columns], cells)


def title(case: str, rows: pd.DataFrame) -> str:
    """Return the title of a case with the number of runs of each dimension."""
    runs = rows.groupby("d")["seed"].nunique()
    counted = ", ".join(f"{n} runs of d = {d}" for d, n in runs.items())
    return f"{case}, {counted}"
