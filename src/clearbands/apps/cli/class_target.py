"""Whether a target holds numbers or classes, and what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.apps.reading.choosing import holds_classes, take_classes, take_target

if TYPE_CHECKING:
    from clearbands.apps.reading.reading import Reading

MOST_SHOWN = 6  # classes in one line


def take_y(reading: Reading, target: str, as_classes: bool | None) -> np.ndarray:
    """Numbers as floats, classes as texts or whole numbers; as asked, or else as they look."""
    is_classes = holds_classes(reading, target) if as_classes is None else as_classes
    return take_classes(reading, target) if is_classes else take_target(reading, target)


def is_classes(y: np.ndarray) -> bool:
    """Of a target that `take_y` gave."""
    return y.dtype.kind != "f"


def words_about(target: str, y: np.ndarray) -> str:
    """How many classes there are, and how often each occurs."""
    names, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{names[i]!s} ({counts[i]:,})" for i in order[:MOST_SHOWN])
    left = len(names) - MOST_SHOWN
    more = f" and {left:,} more" if left > 0 else ""
    way_out = "" if y.dtype.kind == "U" else "; --numbers predicts intervals instead"
    noun = "class" if len(names) == 1 else "classes"
    return f"The target {target!r} holds {len(names):,} {noun}: {shown}{more}{way_out}."


def is_classifier(model: Any) -> bool:
    """Whether a fitted model predicts classes."""
    return hasattr(model, "classes_")
