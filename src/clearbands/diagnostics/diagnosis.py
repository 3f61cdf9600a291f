"""The results of diagnosing a model on new rows, in numbers and in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from clearbands.diagnostics.coverage import FALSE_ALARMS, Cell, Range, covered_rows
from clearbands.diagnostics.cross_fitted import ROWS_NEEDED, ExcessRisk, Slab, TwoSampleTest
from clearbands.diagnostics.dependence import Correlation, Dependence
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows.display import Preview, number, percent
from clearbands.tables.native import FrameKind, make_frame

MOST_SENTENCES = 10
MOST_SHOWN = 24


class Line(NamedTuple):
    """One number of a diagnosis."""

    diagnostic: str
    where: str
    n: int
    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """The results of `diagnose`. None stands for results that the model or the rows do not allow.

    All p-values, those of the cells, of HSIC and of exchangeability, are corrected together by
    Holm's rule. At most 5 % of models whose coverage holds everywhere have one below 0.05.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import diagnose
    >>> class Unit:  # 0, give or take 1, and all of it promised
    ...     levels_ = np.array([0.9])
    ...     def predict_interval(self, X):
    ...         return np.zeros(len(X)), np.tile([[-1.0], [1.0]], (len(X), 1, 1))
    >>> found = diagnose(Unit(), np.arange(20.0)[:, None], np.tile([0.5, -9.0], 10))
    >>> found.findings
    ['under-covers by 40 points over 20 rows']
    >>> found.coverage.coverage, found.coverage.p_value < 0.001, found.chance
    (0.5, True, Range(low=0.75, high=1.0))
    """

    confidence_level: float
    n_calibration: int | None  # the number of rows that calibrated the model
    expected: Range | None  # the range of the coverage of all new rows, given that number
    chance: Range  # the range of the coverage of as many new rows as these
    coverage: Cell
    by_group: tuple[Cell, ...]  # a cell for each of the groups that were given
    by_feature: tuple[Cell, ...]  # cells for thirds of numbers and categories of text
    by_width: tuple[Cell, ...]
    by_ratio: tuple[Cell, ...]  # cells by epistemic over aleatoric width
    coverage_gap: float | None  # the mean gap over the groups that were given
    worst_slab: Slab | None
    excess_risk: ExcessRisk | None
    width_error: Correlation
    hsic: Dependence
    lambda_: float | None
    lambda_edge: str | None
    exchangeability: TwoSampleTest | None
    by_group_together: tuple[Cell, ...] = ()
    """For a model that was calibrated by group, the cells as if all groups had been calibrated
    together. They are for comparison and have no part in the findings."""
    n_below_zero: int = 0  # the number of lower bounds below 0, if no true value is negative
    kind: FrameKind = field(default=FrameKind(), compare=False)  # the kind of table of the rows

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells in which coverage was measured; that of all rows comes first."""
        slab = (self.worst_slab.cell,) if self.worst_slab else ()
        learned = self.excess_risk.cells if self.excess_risk else ()
        named = self.by_group + self.by_feature + self.by_width + self.by_ratio
        return (self.coverage, *named, *slab, *learned)

    @property
    def off(self) -> list[Cell]:
        """The cells to name: that of all rows first, then the others by how far they are off.

        If the coverage of all rows is off, parts are named only if they differ from it.
        """
        cells = [cell for cell in self.cells if cell.is_off]
        if self.coverage.is_off:
            overall = self.coverage.coverage
            cells = [c for c in cells if c is self.coverage or not c.low <= overall <= c.high]
        far = self.confidence_level
        return sorted(cells, key=lambda c: (c is not self.coverage, -abs(c.coverage - far)))

    @property
    def findings(self) -> list[str]:
        """What is wrong, in plain words, with coverage first; empty if nothing is wrong."""
        return self.findings_in_words()

    def findings_in_words(self, quotes: tuple[str, str] = ("`", "`")) -> list[str]:
        """Return the findings with names of features in these quotation marks."""
        off = self.off
        sentences = [sentence(cell, self.confidence_level, quotes) for cell in off[:MOST_SENTENCES]]
        if len(off) > MOST_SENTENCES:
            sentences.append(
                f"{len(off) - MOST_SENTENCES} more parts are off; to_frame() has them."
            )
        if self.hsic.p_value < FALSE_ALARMS:
            sentences.append("Coverage depends on the width of the interval (HSIC).")
        if self.exchangeability and self.exchangeability.p_value < FALSE_ALARMS:
            sentences.append(
                "New rows differ from the calibration rows: a classifier tells them apart with an "
                f"AUC of {self.exchangeability.auc:.2f}, so the coverage is not guaranteed."
            )
        if self.n_below_zero:
            many = f"{self.n_below_zero:,} lower bounds are"
            bounds = "one lower bound is" if self.n_below_zero == 1 else many
            sentences.append(
                f"None of the {self.coverage.n:,} true values is negative, but {bounds}: if the "
                "target cannot be negative, say so with support=(0, inf), or --support 0: of the "
                "command."
            )
        return sentences

    @property
    def notes(self) -> list[str]:
        """Remarks that help to read the numbers; none of them is a fault."""
        notes = []
        if self.expected is not None:
            low, high = (percent(share, 1) for share in self.chance)
            notes.append(
                f"With {self.n_calibration:,} calibration rows and {self.coverage.n:,} new ones, "
                f"coverage between {low} and {high} is to be expected in 19 of 20 cases; these "
                f"rows show {percent(self.coverage.coverage, 1)}."
            )
        if self.lambda_ is not None and self.lambda_edge:
            notes.append(lambda_words(self.lambda_, self.lambda_edge))
        if self.excess_risk is None:
            notes.append(
                f"Two of the checks, worst_slab and excess_risk, need at least {ROWS_NEEDED} rows; "
                f"there are {self.coverage.n}."
            )
        return notes

    def to_frame(self) -> Any:
        """Return a table with a row for each number: its rows, interval and p-value.

        The table is of the same library as the rows that were diagnosed. For an array it is of
        pandas, or of polars if pandas is not installed.
        """
        lines = list(self._lines())
        columns = {name: [line[i] for line in lines] for i, name in enumerate(Line._fields)}
        return make_frame(columns, self.kind._replace(index=None))

    def __repr__(self) -> str:
        return self._preview().text()

    def _repr_html_(self) -> str:
        return self._preview().html()

    def _preview(self) -> Preview:
        """Return a table whose title counts the findings, with the numbers that are off first."""
        n_findings = len(self.findings)
        summary = (
            f"{n_findings} finding{'s' if n_findings > 1 else ''}"
            if n_findings
            else "nothing is off"
        )
        lines = sorted(self._lines(), key=lambda line: not line.p_value < FALSE_ALARMS)
        first = lines[:MOST_SHOWN]
        columns = {
            name: [_cell_words(line[i]) for line in first] for i, name in enumerate(Line._fields)
        }
        left = len(lines) - len(first)
        title = (
            f"Diagnosis of {self.coverage.n:,} rows at {100 * self.confidence_level:g} %: {summary}"
        )
        return Preview(title, columns, f"{left:,} more in to_frame()" if left else "")

    def _lines(self) -> Iterator[Line]:
        n = self.coverage.n
        for cell in self.cells:
            name = "coverage" if cell.by == "all" else f"coverage by {cell.by}"
            p_value = math.nan if cell.p_value is None else cell.p_value
            yield Line(name, cell.where, cell.n, cell.coverage, cell.low, cell.high, p_value)
        for cell in self.by_group_together:
            name = "coverage, groups together"
            yield Line(name, cell.where, cell.n, cell.coverage, cell.low, cell.high)
        if self.coverage_gap is not None:
            yield Line("coverage gap", "groups", n, self.coverage_gap)
        if self.excess_risk is not None:
            risk = self.excess_risk
            yield Line("excess risk", "all rows", n, risk.total, risk.low, risk.high)
            yield Line("excess risk, over", "all rows", n, risk.over)
            yield Line("excess risk, under", "all rows", n, risk.under)
        width = self.width_error
        yield Line("width and error", "all rows", n, width.value, width.low, width.high)
        yield Line("HSIC", "all rows", n, self.hsic.value, p_value=self.hsic.p_value)
        if self.exchangeability is not None:
            test = self.exchangeability
            yield Line(
                "exchangeability", "all rows", n, test.auc, test.low, test.high, test.p_value
            )
        if self.lambda_ is not None:
            yield Line("lambda", "model", n, self.lambda_)


def corrected(diagnosis: Diagnosis) -> Diagnosis:
    """Return the diagnosis with a p-value in every cell, all of them corrected by Holm's rule.

    The p-value of a cell, before the correction, is exact and two-sided. Its hypothesis is that
    the number of covered rows follows `covered_rows`.
    """
    level, n_calibration = diagnosis.confidence_level, diagnosis.n_calibration
    own = [_p_value(cell, level, n_calibration) for cell in diagnosis.cells]
    own.append(diagnosis.hsic.p_value)
    own += [diagnosis.exchangeability.p_value] if diagnosis.exchangeability else []
    left = iter(holm(np.array(own)).tolist())

    def judged(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        return tuple(replace(cell, p_value=next(left)) for cell in cells)

    slab, risk, test = diagnosis.worst_slab, diagnosis.excess_risk, diagnosis.exchangeability
    return replace(  # in the order of `cells`
        diagnosis,
        coverage=judged((diagnosis.coverage,))[0],
        by_group=judged(diagnosis.by_group),
        by_feature=judged(diagnosis.by_feature),
        by_width=judged(diagnosis.by_width),
        by_ratio=judged(diagnosis.by_ratio),
        worst_slab=slab and replace(slab, cell=judged((slab.cell,))[0]),
        excess_risk=risk and replace(risk, cells=judged(risk.cells)),
        hsic=replace(diagnosis.hsic, p_value=next(left)),
        exchangeability=test and replace(test, p_value=next(left)),
    )


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values (m,) corrected by Holm's rule, which holds for any dependence of the tests.

    With a probability of at most t, the p-value of any true hypothesis is below t.
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def lambda_words(lambda_: float, edge: str) -> str:
    """Say what it means that lambda lies at an end of the search.

    Examples
    --------
    >>> lambda_words(100.0, "highest")
    'lambda is 100, the highest value searched: the data did not settle the ratio of the two parts.'
    """
    if lambda_ == 0:
        return (
            f"lambda is 0: the intervals are {ALEATORIC.plain} alone, and {EPISTEMIC.plain} has no "
            "part in them. They do not widen where rows are rare: there a narrow interval is no "
            "sign of knowledge."
        )
    if math.isinf(lambda_):
        return (
            f"lambda is infinite: the intervals are {EPISTEMIC.plain} alone, and {ALEATORIC.plain} "
            "has no part in them. That the two shares are 100 % and 0 % does not mean that the "
            "target is free of noise."
        )
    return (
        f"lambda is {lambda_:g}, the {edge} value searched: the data did not settle the ratio of "
        "the two parts."
    )


def sentence(cell: Cell, level: float, quotes: tuple[str, str] = ("`", "`")) -> str:
    """Say how far the coverage of a cell is off, and in which rows."""
    gap = 100 * (cell.coverage - level)
    verb = "over-covers" if gap > 0 else "under-covers"
    size = f"{abs(gap):.0f}" if abs(gap) >= 1 else f"{abs(gap):.1f}"
    unit = "point" if size == "1" else "points"
    where = "over" if cell.by == "all" else f"in {cell.in_words(quotes)},"
    return f"{verb} by {size} {unit} {where} {cell.n} rows"


def _p_value(cell: Cell, level: float, n_calibration: int | None) -> float:
    chance = covered_rows(cell.n, level, n_calibration)
    tail = min(chance.cdf(cell.n_covered), chance.sf(cell.n_covered - 1))
    return float(np.clip(2 * tail, 0, 1))


def _cell_words(value: str | int | float) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else number(value)
    return str(value)
