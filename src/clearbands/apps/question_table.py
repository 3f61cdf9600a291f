"""The questions to a model besides the answers of the fit: one table for command and service.

For each of them, the command has an option and the service a parameter in its address.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """The wording of a question, and the kind of its value."""

    words: str
    value: str  # the placeholder of its value in help
    may_repeat: bool = False
    of_classes: bool = False  # whether a model for classes answers it


QUESTIONS = {
    "level": Question(
        "A confidence level other than those of the fit; repeat it for several.",
        "LEVEL",
        may_repeat=True,
        of_classes=True,
    ),
    "side": Question(
        "lower or upper: only that bound is finite, and it holds at the level by itself. The parts "
        "of the width are still those of the interval with both bounds.",
        "SIDE",
    ),
    "tails": Question(
        "Instead of a level, the shares of targets below and above, such as 0.02:0.08. The parts "
        "of the width are those of the interval at 1 - both.",
        "BELOW:ABOVE",
    ),
    "quantile": Question(
        "The value that this share of the targets does not exceed, such as 0.1; repeat it for "
        "several.",
        "SHARE",
        may_repeat=True,
    ),
    "above": Question(
        "The chance that the target exceeds this value; repeat it for several.",
        "VALUE",
        may_repeat=True,
    ),
    "below": Question(
        "The chance that the target is below this value; repeat it for several.",
        "VALUE",
        may_repeat=True,
    ),
}
