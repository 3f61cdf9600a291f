"""One page about a classifier on rows it has not seen: whether its sets hold, and why rows are
uncertain."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.apps.report import Report, seen, template, versions
from clearbands.apps.report.class_facts import ClassFacts, gather_classes
from clearbands.apps.report.coverage import Tile, Track, Whisker, whisker
from clearbands.calibration.guarantee import Guarantee
from clearbands.prediction import glossary
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows import display
from clearbands.rows.display import count, level, number, percent
from clearbands.rows.typed import TableLike

if TYPE_CHECKING:
    from clearbands.classifier import ClearClassifier

MOST_CLASSES = 20  # in the table of confusions
MOST_ROWS = 8
MOST_VALUES = 4
CONTENTS = {
    "probabilities": "How good the probabilities are",
    "confusion": "Which classes are taken for which",
    "why": "Why rows are uncertain",
    "coverage": "Where sets hold",
    "models": "The models that competed",
    "rows": "Rows to look at",
    "promise": "What is guaranteed and what is not",
    "reproduce": "How to reproduce it",
}


def make_class_report(
    model: ClearClassifier,
    X: TableLike,
    y: ArrayLike,
    *,
    target: str = "the target",
    by: ArrayLike | None = None,
    origin: Mapping[str, str] | None = None,
    n_seen: int = 0,
) -> Report:
    """See `ClearClassifier.report`. `origin` says where model and rows came from, and `n_seen` how
    many of the rows were in the fit."""
    page = template("classes.html")
    facts = gather_classes(model, X, y, target=target, by=by)
    told = _page(facts, dict(origin or {}))
    warning = seen.warning(n_seen, facts.coverage.n)
    verdict = seen.verdict("sets") if warning else told["verdict"]
    return Report(page.render(**told | {"warning": warning, "verdict": verdict}))


def _page(facts: ClassFacts, origin: dict[str, str]) -> dict[str, Any]:
    """Everything the template needs."""
    confusion = facts.confusion() if len(facts.names) <= MOST_CLASSES else None
    left_out = {"confusion": confusion is None, "models": not facts.model.leaderboard_}
    return {
        "facts": facts,
        "words": display,
        "glossary": glossary,
        "contents": {k: v for k, v in CONTENTS.items() if not left_out.get(k, False)},
        "verdict": _verdict(facts),
        "answer": _answer(facts),
        "tile": _tile(facts),
        "confusion": confusion,
        "sureness": facts.sureness(),
        "layers": _layers(facts),
        "coverage": _whiskers(facts),
        "losses": _losses(facts),
        "columns": facts.columns[:MOST_VALUES],
        "most_epistemic": _rows(facts, facts.entropies.epistemic, facts.leans_epistemic),
        "most_aleatoric": _rows(facts, facts.entropies.aleatoric, ~facts.leans_epistemic),
        "held": _held(facts),
        "not_held": _not_held(facts),
        "origin": origin,
        "versions": versions(),
        "made": dt.date.today().isoformat(),
    }


def _verdict(facts: ClassFacts) -> str:
    if facts.is_short:
        return "The sets promise more than they hold on these rows."
    if facts.is_generous:
        return "The sets hold more often than they promise on these rows."
    return "The sets keep their promise on these rows."


def _answer(facts: ClassFacts) -> list[str]:
    cell, scores = facts.coverage, facts.scores
    said = [
        f"{cell.n_covered:,} of {cell.n:,} true classes are in their {level(facts.level)} sets, "
        f"which hold {number(scores['set_size'])} of {len(facts.names)} classes on average.",
        f"The likeliest class is right in {percent(scores['accuracy'], 1)} of the rows.",
    ]
    if facts.is_short:
        said.append("Calibrate the model again on rows like these before you rely on them.")
    if facts.is_generous and scores["set_size"] == 1:
        said.append("No set can be smaller than one class.")
    return [*said, _what_dominates(facts)]


def _what_dominates(facts: ClassFacts) -> str:
    share = facts.epistemic_share
    if not facts.entropies.total.any():
        return "Every row is said to be certain."
    if share > 0.5:
        return (
            f"{percent(share)} of the uncertainty is {EPISTEMIC.plain} of the model: "
            f"{EPISTEMIC.remedy}, above all like those listed below, would help most."
        )
    return (
        f"{percent(1 - share)} of the uncertainty is {ALEATORIC.plain}: more rows alone would not "
        f"make the classes much surer, {ALEATORIC.remedy} might."
    )


def _tile(facts: ClassFacts) -> Tile:
    return Tile.of(facts.coverage.coverage, facts.level, facts.chance)


def _whiskers(facts: ClassFacts) -> dict[str, list[Whisker]]:
    parts = facts.cells()
    track = Track.around([cell for cells in parts.values() for cell in cells], facts.level)
    return {
        name: [whisker(cell, cell.label, facts.level, track) for cell in cells]
        for name, cells in parts.items()
    }


@dataclass(frozen=True)
class Layer:
    """Mean entropies of some rows, as parts of a bar."""

    label: str
    n: int
    aleatoric: float  # percent of the longest bar
    epistemic: float
    bits: str
    share: str


def _layers(facts: ClassFacts) -> list[Layer]:
    """By true class."""
    parts = facts.entropies
    rows_of = {name: facts.y == k for k, name in enumerate(facts.names) if (facts.y == k).any()}
    longest = max(parts.total[rows].mean() for rows in rows_of.values()) or 1.0
    found = []
    for name, rows in rows_of.items():
        total, noise = parts.total[rows].mean(), parts.aleatoric[rows].mean()
        found.append(
            Layer(
                name,
                int(rows.sum()),
                round(100 * noise / longest, 2),
                round(100 * (total - noise) / longest, 2),
                number(total),
                percent((total - noise) / total) if total > 0 else "–",
            )
        )
    return found


@dataclass(frozen=True)
class Loss:
    """A model that competed."""

    name: str
    loss: str
    length: float
    kept: bool


def _losses(facts: ClassFacts) -> list[Loss]:
    board = facts.model.leaderboard_
    worst = max(board.values(), default=1.0) or 1.0
    return [
        Loss(name, number(loss), round(100 * loss / worst, 1), name in facts.model.models_)
        for name, loss in board.items()
    ]


@dataclass(frozen=True)
class RowWords:
    """One row of a short list."""

    number: str
    values: list[str]
    likeliest: str
    probability: str
    others: str  # of the set
    truth: str
    is_outside: bool
    bits: str


def _rows(facts: ClassFacts, bits: np.ndarray, among: np.ndarray) -> list[RowWords]:
    """Those among some with the most bits of one kind, and at least some."""
    bits = np.where(among, bits, 0.0)
    order = np.argsort(-bits, kind="stable")[:MOST_ROWS]
    return [_row(facts, int(row), bits[row]) for row in order if bits[row] > 0]


def _row(facts: ClassFacts, row: int, bits: float) -> RowWords:
    top = facts.likeliest[row]
    others = np.flatnonzero(facts.sets[row])
    return RowWords(
        f"{row + 1:,}",
        [c.in_words(c.values[row]) for c in facts.columns[:MOST_VALUES]],
        facts.names[top],
        percent(facts.probabilities[row, top]),
        ", ".join(facts.names[k] for k in others if k != top) or "–",
        facts.names[facts.y[row]],
        not facts.inside[row],
        number(bits),
    )


def _held(facts: ClassFacts) -> list[str]:
    asked, rows = level(facts.level), count(facts.model.n_calibration_, "calibration row")
    ending = "" if facts.model.members is None else ", if no member was trained on these"
    if facts.model.guarantee_ == Guarantee.COPIES:
        return [
            "Nothing: rows that calibrated seem to be copies of rows that trained. Fit the model "
            "again without the copies."
        ]
    if facts.model.calibration_ == "conformal":
        return [
            f"The true class of a new row that is drawn like the {rows} is in its set with a "
            f"probability of at least {asked}, averaged over calibration sets and rows{ending}. "
            "This holds for any number of rows and any quality of the members: c1 and c2 were "
            "chosen on other rows."
        ]
    by_whom = (
        "every row was judged by members that did not see it"
        if facts.model.calibration_ == "cross"
        else "the same rows chose c1, c2 and the threshold of the sets"
    )
    return [
        f"The true class of a new row that is drawn like the {rows} is in its set with a "
        f"probability close to {asked}: {by_whom}{ending}. Nothing is guaranteed in finite "
        'samples; calibration="conformal" gives that guarantee.'
    ]


def _not_held(facts: ClassFacts) -> list[str]:
    return [
        f"{level(facts.level)} for every class, group or single row: the promise is an average "
        "over rows. A rare class may be covered less often.",
        "Anything for rows that come from elsewhere than the calibration rows, or for classes "
        "that no training row had.",
        f"The split into {ALEATORIC.plain} and {EPISTEMIC.plain}: only the probabilities are "
        "calibrated. Their parts are estimates, and c2 weighs disagreement by what predicts best.",
        "Any of the numbers above, if rows of this report took part in the fit.",
    ]
