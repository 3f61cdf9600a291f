"""What fitted classifiers say of a row, as logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.rows.draws import Draws
from clearbands.rows.messages import row_name
from clearbands.rows.typed import TableLike

FLOOR = 1e-6  # no member rules a class out: a forest of 100 trees cannot know


class ClassBag(Protocol):
    """Members that say how probable classes are."""

    def __len__(self) -> int: ...

    @property
    def members(self) -> Sequence[Any]:
        """One fitted classifier per member."""

    def predict_logits(self, X: TableLike) -> np.ndarray:
        """(n, members, classes): centred, not calibrated."""


@dataclass(frozen=True)
class ListedClassifiers:
    """Fitted classifiers, one by one; the logits are in the order of `classes`."""

    members: Sequence[Any]
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.members)

    def predict_logits(self, X: TableLike) -> np.ndarray:
        return np.stack([_logits(member, X, self.classes) for member in self.members], axis=1)


def unseen_logits(logits: np.ndarray, draws: Draws) -> np.ndarray:
    """(n, r, classes) of (n, members, classes): those of the members that did not see the row.

    Few members lie closer around their own mean than many do around theirs. What is calibrated on
    few and used with many is spread out to make up for it.
    """
    rows, columns = np.nonzero(draws.unseen.T)
    unseen = logits[rows, columns].reshape(len(logits), -1, logits.shape[2])
    few, many = unseen.shape[1], logits.shape[1]
    if few == 1:
        return unseen
    mean = unseen.mean(axis=1, keepdims=True)
    return mean + np.sqrt((1 - 1 / many) / (1 - 1 / few)) * (unseen - mean)


def classes_of(members: Sequence[Any]) -> np.ndarray:
    """The classes that all members know, or an error where they differ."""
    for i, member in enumerate(members):
        if not hasattr(member, "predict_proba") or not hasattr(member, "classes_"):
            raise TypeError(
                f"Member {i} must be a fitted classifier with predict_proba and classes_, got "
                f"{type(member).__name__}."
            )
    classes = np.unique(members[0].classes_)
    for i, member in enumerate(members):
        if not np.array_equal(np.unique(member.classes_), classes):
            raise ValueError(
                f"Member {i} knows the classes {_listed(member.classes_)}, member 0 knows "
                f"{_listed(classes)}: all members must be fitted on the same classes."
            )
    return classes


def _logits(member: BaseEstimator, X: TableLike, classes: np.ndarray) -> np.ndarray:
    predicted = np.asarray(member.predict_proba(X), float)
    name = type(member).__name__
    if predicted.ndim != 2 or predicted.shape[1] != len(member.classes_):
        raise ValueError(
            f"{name}.predict_proba gives shape {predicted.shape}; one probability per row and "
            f"class is needed, (n, {len(member.classes_)})."
        )
    total = predicted.sum(axis=1)
    if not (np.all(predicted >= 0) and np.allclose(total, 1, atol=1e-3)):
        row = int(np.argmax(~(np.all(predicted >= 0, axis=1) & np.isclose(total, 1, atol=1e-3))))
        raise ValueError(
            f"{name}.predict_proba gives {predicted[row].round(4).tolist()} in {row_name(row)}: "
            "probabilities must not be negative and must sum to 1."
        )
    probabilities = np.zeros((len(predicted), len(classes)))
    probabilities[:, np.searchsorted(classes, member.classes_)] = predicted
    logs = np.log(np.maximum(probabilities, FLOOR))
    return logs - logs.mean(axis=1, keepdims=True)


def _listed(classes: np.ndarray) -> str:
    first = ", ".join(map(str, classes[:5]))
    return f"{first}, ..." if len(classes) > 5 else first
