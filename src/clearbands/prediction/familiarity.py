"""Rows that are unlike those that a model has learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples

from clearbands.calibration.conformal import capped_rank, order_statistic
from clearbands.rows.bands import Components
from clearbands.rows.coded import plain_columns
from clearbands.rows.split import Rows
from clearbands.rows.typed import TableLike

ORDINARY = 0.95  # the share of ordinary rows that are not flagged
MARGIN = 0.05  # in ranges of a column: so far outside is as unusual as the widest 5 % of widths
UNKNOWN = 10.0  # a category that was never seen counts as ten such widths

MOST_ROWS = 5_000  # the most rows that show what is ordinary
NO_FAMILIARITY = (
    "This model does not know what its training rows looked like: it got members that were "
    "fitted elsewhere, or was fitted with encoder=None on a table. Fit it again, with an encoder."
)


@dataclass(frozen=True)
class Familiarity:
    """How strange a row is, from its epistemic width, its numbers and its categories.

    The strangeness is the largest of three: the epistemic width, the distance from the range of a
    column, and the number of categories that were never seen. The threshold is the largest that
    `ORDINARY` rows have when they are compared with the other rows.
    """

    low: np.ndarray  # (columns,) of the encoded training rows, without columns of codes
    high: np.ndarray
    known: list[list[str]]  # the categories of each text column
    width: float  # the epistemic width above which a row is unusual
    threshold: float
    telling: np.ndarray | None = None
    """Booleans (text columns,): where a category that was never seen is unusual; None: in all.

    In a column of names or numbers of things, ordinary rows have new ones, too.
    """

    @classmethod
    def of(
        cls,
        train: Rows,
        widths: np.ndarray,
        *,
        rows: np.ndarray | None = None,
        held_out: Rows | None = None,
    ) -> Familiarity:
        """Learn what is ordinary among encoded training rows.

        `widths` (m,) are the epistemic widths of ordinary rows: of those held out, or of the
        training rows with the numbers `rows`, each of which is compared with the range and the
        categories of the others.
        """
        numbers, texts = plain_columns(train.X), texts_in(train)
        low, high = numbers.min(axis=0), numbers.max(axis=0)
        known = [sorted(set(column.tolist())) for column in texts.T]
        n = len(widths)
        width = order_statistic(widths, capped_rank(n, ORDINARY))
        familiar = cls(low, high, known, width, 0.0)
        if held_out is None:
            outside, new = _outside_of_others(numbers)[rows], are_alone(texts)[rows]
        else:
            outside, new = familiar._outside(held_out.X), familiar.unknown(texts_in(held_out))
        familiar = replace(familiar, telling=_informative_columns(new))
        scores = familiar._combine(widths, outside, familiar._count(new))
        return replace(familiar, threshold=order_statistic(scores, capped_rank(n, ORDINARY)))

    def widened(
        self, low: np.ndarray, high: np.ndarray, texts: Sequence[set[str] | None]
    ) -> Familiarity:
        """Return the same for a table of more rows, with these ranges and categories.

        A column whose categories are None keeps those that are known.
        """
        known = [
            own if more is None else sorted({*own, *more})
            for own, more in zip(self.known, texts, strict=True)
        ]
        return replace(self, low=low, high=high, known=known)

    def scores(self, X: np.ndarray, texts: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """Return how strange new rows are (n,); above `threshold` they are unfamiliar."""
        return self._combine(widths, self._outside(X), self._count(self.unknown(texts)))

    def _combine(self, widths: np.ndarray, outside: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        wide = widths / self.width if self.width > 0 else np.zeros(len(widths))
        return np.max([wide, outside / MARGIN, UNKNOWN * unknown], axis=0)

    def _outside(self, X: np.ndarray) -> np.ndarray:
        """Return the largest distance (n,) from the range of a column, in units of the range."""
        return _excess(X[:, : len(self.low)], self.low, self.high)

    def _count(self, unknown: np.ndarray) -> np.ndarray:
        """Return how many categories of each row (n,) are unusual because they were never seen."""
        telling = getattr(self, "telling", None)
        return (unknown if telling is None else unknown[:, telling]).sum(axis=1).astype(float)

    def unknown(self, texts: np.ndarray) -> np.ndarray:
        """Return which categories were never seen, as booleans (n, t)."""
        is_unknown = np.zeros(texts.shape, bool)
        for j, known in enumerate(self.known):
            names = set(known)
            is_unknown[:, j] = [text not in names for text in texts[:, j].tolist()]
        return is_unknown


def unfamiliar_rows(
    familiar: Familiarity | None, encoded: Any, texts: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Return whether each new row (n,) is unfamiliar; raise an error if the model cannot tell."""
    if familiar is None:
        raise ValueError(NO_FAMILIARITY)
    return familiar.scores(encoded, texts, widths) > familiar.threshold


def ordinary_rows(n: int) -> np.ndarray:
    """Return the numbers of the training rows, among n, that show what is ordinary."""
    return np.arange(0, n, max(1, n // MOST_ROWS))


def widths_as_if_new(seen: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """Return epistemic widths (n,) of training rows by all members, as wide as if they were new.

    Members agree more on rows that they have seen; the widths by members that did not see a row
    show how much more. But these members are few, and their widths scatter more than those of all
    members for a new row. So only the mean of these widths is used, over the wider half of the
    rows, which is nearer to the threshold.
    """
    wider = seen >= np.median(seen)
    known, new = float(seen[wider].mean()), float(unseen[wider].mean())
    return seen * (new / known) if known > 0 else unseen


def epistemic_width(components: Components) -> np.ndarray:
    """Return the epistemic width (n,) below and above together, at the first level."""
    return components.epistemic[:, :, 0].sum(axis=1)


def texts_of_rows(encoder: BaseEstimator, X: TableLike) -> np.ndarray:
    """Return the text columns (n, t) of rows that are not encoded yet."""
    if not hasattr(encoder, "text_block"):
        return np.empty((_num_samples(X), 0), object)
    return encoder.text_block(X)


def _excess(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    beyond = np.maximum(np.maximum(low - X, X - high), 0)
    span = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(beyond == 0, 0.0, beyond / np.where(span > 0, span, 0.0))
    return np.minimum(share, UNKNOWN * MARGIN).max(axis=1, initial=0.0)  # for constant columns, too


def _outside_of_others(X: np.ndarray) -> np.ndarray:
    """Return how far each row (n,) lies outside the range of the others."""
    if len(X) < 2:
        return np.zeros(len(X))
    ordered = np.sort(X, axis=0)
    low = np.where(X == ordered[0], ordered[1], ordered[0])
    high = np.where(X == ordered[-1], ordered[-2], ordered[-1])
    return _excess(X, low, high)


def are_alone(texts: np.ndarray) -> np.ndarray:
    """Return which categories no other row has, as booleans (n, t)."""
    is_alone = np.zeros(texts.shape, bool)
    for j, column in enumerate(texts.T):
        _, place, counts = np.unique(column.astype(str), return_inverse=True, return_counts=True)
        is_alone[:, j] = counts[place] == 1
    return is_alone


def _informative_columns(new: np.ndarray) -> np.ndarray:
    """Return where ordinary rows (n, t) hardly have new categories, as booleans (t,).

    Columns are taken in turn, the most familiar first, as long as at most half as many rows as may
    be flagged have a new category in any of them.
    """
    telling = np.zeros(new.shape[1], bool)
    any_new = np.zeros(len(new), bool)
    for j in np.argsort(new.mean(axis=0), kind="stable") if len(new) else ():
        if np.mean(any_new | new[:, j]) > (1 - ORDINARY) / 2:
            break
        any_new, telling[j] = any_new | new[:, j], True
    return telling


def texts_in(rows: Rows) -> np.ndarray:
    """Return the text columns (n, t) of encoded rows."""
    assert rows.texts is not None
    return rows.texts
