"""What holds for the coverage, in words: each way to calibrate has one sentence."""

from __future__ import annotations

from enum import StrEnum


class Guarantee(StrEnum):
    """A member is its own text: `guarantee_ == "finite-sample marginal coverage"` compares.

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
    TIME = "coverage close to the level while new rows are like the last ones, without a guarantee"
    ADAPTIVE = "long-run coverage of updated rows, whatever they are: rolling_.bound says how close"
    UNKNOWN = "no guarantee: models that were fitted elsewhere may have seen these rows"
    COPIES = "no guarantee: rows that calibrate seem to be copies of rows that train"

    @classmethod
    def of(cls, calibration: str) -> Guarantee:
        """Of the ways that `ClearRegressor(calibration=...)` knows."""
        return cls[calibration.upper()]

    @property
    def is_finite_sample(self) -> bool:
        """Whether it holds for any number of rows and any quality of the models."""
        return self in (Guarantee.CONFORMAL, Guarantee.WEIGHTED, Guarantee.GROUPS)
