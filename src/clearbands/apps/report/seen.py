"""Rows of a page that took part in the fit: said above all else."""

from __future__ import annotations

from clearbands.persistence.origin import are_many
from clearbands.rows.display import count

KEEP_SOME = "Make the report on rows that were kept from the fit; fit --report keeps some."
COME_LATER = "Give rows that came after those of the fit."


def warning(n_seen: int, n: int, advice: str = KEEP_SOME) -> str:
    """What stands on top where a model has seen n_seen of n rows; "" where these are few."""
    if not are_many(n_seen, n):
        return ""
    which = f"All {count(n)}" if n_seen == n else f"{n_seen:,} of the {count(n)}"
    return (
        f"{which} of this page took part in the fit. What a model has seen it knows better than "
        f"new rows: the numbers below say little about what is to come. {advice}"
    )


def verdict(what: str) -> str:
    """The answer in one sentence, about the intervals or the sets.

    >>> verdict("intervals")
    'These rows cannot tell whether the intervals hold: the model has seen them.'
    """
    return f"These rows cannot tell whether the {what} hold: the model has seen them."
