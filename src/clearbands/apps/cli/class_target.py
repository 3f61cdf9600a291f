"""Whether a target holds numbers or classes, and what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.apps.reading.choosing import holds_classes, take_classes, take_target

if TYPE_CHECKING:
    from clearbands.apps.reading.reading import Reading

MOST_SHOWN = 6  # classes in one line
FEW = 10  # whole numbers that may be classes


def take_y(reading: Reading, target: str, task: str | None) -> np.ndarray:
    """Numbers as floats, classes as texts or whole numbers; as asked, or else as they look."""
    classes = holds_classes(reading, target) if task is None else task == "classification"
    return take_classes(reading, target) if classes else take_target(reading, target)


def is_classes(y: np.ndarray) -> bool:
    """Of a target that `take_y` gave."""
    return y.dtype.kind != "f"


def words_about(target: str, y: np.ndarray, task: str | None) -> str:
    """What the target holds, and how to have it otherwise where that was guessed; "" if clear."""
    if not is_classes(y):
        return _words_about_numbers(target, y) if task is None else ""
    names, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{names[i]!s} ({counts[i]:,})" for i in order[:MOST_SHOWN])
    left = len(names) - MOST_SHOWN
    more = f" and {left:,} more" if left > 0 else ""
    is_text = y.dtype.kind == "U" and not set(names.tolist()) <= {"true", "false"}
    way_out = (
        "" if task is not None or is_text else "; --task regression predicts intervals instead"
    )
    noun = "class" if len(names) == 1 else "classes"
    return f"The target {target!r} holds {len(names):,} {noun}: {shown}{more}{way_out}."


def _words_about_numbers(target: str, y: np.ndarray) -> str:
    """Of a few whole numbers, which may be classes."""
    values = np.unique(y)
    if not 2 < len(values) <= FEW or 2 * len(values) > len(y) or (values != np.rint(values)).any():
        return ""
    return (
        f"The target {target!r} holds {len(values)} whole numbers, {values[0]:g} to {values[-1]:g}"
        ", and is predicted as a number; --task classification predicts classes instead."
    )


def is_classifier(model: Any) -> bool:
    """Whether a fitted model predicts classes."""
    return hasattr(model, "classes_")
