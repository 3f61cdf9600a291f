"""The models that competed, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearbands.apps.report.facts import Facts
from clearbands.apps.report.widths import Bar
from clearbands.rows.display import count, number
from clearbands.selection.leaderboard import Board, boards_of

MOST_LISTED = 8


@dataclass(frozen=True)
class BoardWords:
    """One competition on the page."""

    title: str
    said: str
    value: str
    also: str
    bars: Sequence[Bar]
    more: str


def boards(facts: Facts) -> list[BoardWords]:
    """All of them, the last decision first."""
    return [_words(board, facts) for board in boards_of(facts.model)]


def _words(board: Board, facts: Facts) -> BoardWords:
    titles = {"pairs": "Prediction and noise", "centers": "Prediction", "models": "Prediction"}
    said = {
        "pairs": "Every pair of a prediction and a model of its noise, by the loss of its "
        "calibrated bounds on rows that its members did not see. The best is kept, and those that "
        f"these rows do not tell from it; what is kept is averaged{_end_result(facts)}.",
        "centers": "Predictions alone, on rows of the fit that the models did not see, by the loss "
        "of intervals of one width around them, which is larger than with widths of their own. "
        "The best went on.",
        "models": f"On the {count(facts.model.n_validation_)} of the fit that chose between them. "
        "The best makes the prediction, refitted on many bootstraps; how much these differ is the "
        "epistemic part.",
    }
    value, also = facts.in_unit(board.value), board.also
    also = also if also == "R²" else facts.in_unit(also)
    worst = max(entry.value for entry in board.entries) or 1.0
    shown = board.entries[:MOST_LISTED]
    bars = [
        Bar(
            entry.name,
            (number(entry.value), _second(board, entry.also)),
            (round(100 * entry.value / worst, 1),),
            entry.kept,
        )
        for entry in shown
    ]
    left = len(board.entries) - len(shown)
    more = f"{count(left, 'other', 'others')} came after." if left else ""
    return BoardWords(titles[board.kind], said[board.kind], value, also, bars, more)


def _end_result(facts: Facts) -> str:
    """The loss of what came of it, which the curve of lambda shows."""
    path = facts.path
    if path is None or len(facts.model.levels_) > 1:
        return ""
    return f", and has a loss of {number(path.chosen.loss)} in the end"


def _second(board: Board, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}".replace("-", "−") if board.also == "R²" else number(value)
