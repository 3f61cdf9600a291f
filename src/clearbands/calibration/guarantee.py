"""The guarantee of the coverage, in words: each way to calibrate has one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

NOT_WITHIN = "not within groups of few rows, which share those of others"


class Guarantee(StrEnum):
    """The kinds of guarantees. A member equals its text, so `guarantee_` compares with either.

    >>> Guarantee.CONFORMAL == "finite-sample marginal coverage"
    True
    >>> str(Guarantee.of("joint"))
    'asymptotic coverage'
    """

    CROSS = "coverage close to the level, without a finite-sample guarantee"
    JOINT = "asymptotic coverage"
    CONFORMAL = "finite-sample marginal coverage"
    WEIGHTED = "finite-sample coverage of rows that are distributed as the weights say"
    GROUPS = "finite-sample coverage within every group"
    WEIGHTED_GROUPS = (
        "finite-sample coverage, in every group, of rows that are distributed as the weights say"
    )
    OVERLAPPING = (
        "finite-sample coverage in groups that may overlap, and along functions of the rows"
    )
    TIME = "coverage close to the level while new rows are like the last ones, without a guarantee"
    ADAPTIVE = "long-run coverage of updated rows, whatever they are: rolling_.bound says how close"
    UNKNOWN = "no guarantee: models that were fitted elsewhere may have seen these rows"
    COPIES = "no guarantee: rows that calibrate seem to be copies of rows that train"

    @classmethod
    def of(cls, calibration: str, weight: np.ndarray | None = None) -> Guarantee:
        """Return the guarantee of `ClearRegressor(calibration=...)`, with rows of these weights.

        >>> Guarantee.of("conformal", np.array([1.0, 3.0])).name
        'WEIGHTED'
        """
        guarantee = cls[calibration.upper()]
        is_weighted = weight is not None and np.ptp(weight) > 0
        return cls.WEIGHTED if is_weighted and guarantee is cls.CONFORMAL else guarantee

    @classmethod
    def within(cls, groups: np.ndarray, weight: np.ndarray | None = None) -> Guarantee:
        """Return the guarantee within groups, with labels (n,), where other rows chose lambda.

        A group whose rows all weigh the same is calibrated as without weights. Groups that may
        overlap come as one field each.

        >>> Guarantee.within(np.array(["a", "b", "b"]), np.array([1.0, 3.0, 3.0])).name
        'GROUPS'
        """
        if groups.dtype.names:
            return cls.OVERLAPPING
        if weight is None or all(np.ptp(weight[groups == own]) == 0 for own in np.unique(groups)):
            return cls.GROUPS
        return cls.WEIGHTED_GROUPS

    @classmethod
    def in_text(cls, text: str) -> Guarantee:
        """Return the guarantee whose text starts a `guarantee_`, whatever follows it there."""
        return next(guarantee for guarantee in cls if text.startswith(guarantee.value))

    def with_exceptions(self, sharing: Sequence[str]) -> str:
        """Return the text, and the groups where it does not hold, since they share rows of others.

        >>> Guarantee.JOINT.with_exceptions(["Aix", "Bex"])
        'asymptotic coverage; not within groups of few rows, which share those of others: Aix, Bex'
        """
        if not sharing or self in (Guarantee.UNKNOWN, Guarantee.COPIES):
            return self.value
        return f"{self.value}; {NOT_WITHIN}: {first_five(sharing)}"

    @property
    def in_words(self) -> str:
        """The meaning of the guarantee, in sentences.

        >>> Guarantee.UNKNOWN.in_words[:20]
        'Nothing is promised:'
        """
        return IN_WORDS[self.name.lower()]

    @property
    def is_finite_sample(self) -> bool:
        """Whether the guarantee holds for any number of rows and any quality of the models."""
        return self in (
            Guarantee.CONFORMAL,
            Guarantee.WEIGHTED,
            Guarantee.GROUPS,
            Guarantee.WEIGHTED_GROUPS,
            Guarantee.OVERLAPPING,
        )


def first_five(groups: Sequence[str]) -> str:
    """Return the first five names, as text."""
    return ", ".join(groups[:5]) + (", ..." if len(groups) > 5 else "")


IN_WORDS = {
    "joint": (
        "Coverage approaches the confidence level as the calibration rows become many. The same "
        "rows chose the factors and calibrated, so nothing is promised for few of them."
    ),
    "cross": (
        "All rows trained, and each was calibrated by members that had not seen it. Coverage "
        "approaches the confidence level as the rows become many; nothing is promised for few."
    ),
    "conformal": (
        "For a row exchangeable with the calibration rows the interval, or the set of classes, "
        "holds the true value with "
        "at least the probability of the confidence level, whatever the number of rows, on "
        "average over rows and calibration sets. Nothing is promised for one given row."
    ),
    "weighted": (
        "For a row that is distributed as the calibration weights say the interval holds the true "
        "value with at least the probability of the confidence level, on average over rows and "
        "calibration sets. Nothing is promised for one given row."
    ),
    "groups": (
        "For a row exchangeable with the calibration rows of its group the interval holds the true "
        "value with at least the probability of the confidence level, on average over rows and "
        "calibration sets. Nothing is promised for one given row."
    ),
    "weighted_groups": (
        "For a row that is distributed as the weights of the calibration rows of its group say the "
        "interval holds the true value with at least the probability of the confidence level, on "
        "average over rows and calibration sets. Nothing is promised for one given row."
    ),
    "overlapping": (
        "For a row exchangeable with the calibration rows the interval holds the true value with "
        "at least the probability of the confidence level, among all rows and within each group, "
        "on average over rows and calibration sets. Nothing is promised for one given row."
    ),
    "unknown": (
        "Nothing is promised: models that were fitted elsewhere may have seen the rows that "
        "calibrated them."
    ),
    "copies": (
        "Nothing is promised: rows that calibrated the model seem to be copies of rows that "
        "trained it."
    ),
    "time": (
        "Every calibration row was judged by what was known before it. Coverage is close to the "
        "confidence level while new rows are like the last ones; nothing is promised when they "
        "change."
    ),
    "adaptive": (
        "Calibration goes on with every row whose true value is sent, and the level adapts: in the "
        "long run the share of such rows inside their intervals is the confidence level, whatever "
        "the rows are. Nothing is promised for one given row."
    ),
}
"""The meaning of each member of `Guarantee`."""
