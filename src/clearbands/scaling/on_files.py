"""A fit on a table that is larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.prediction.familiarity import texts_of_rows
from clearbands.prediction.interval_regressor import check_encoder_sees_no_target, without_codes
from clearbands.rows.copies import check_copies
from clearbands.rows.labels import Told
from clearbands.rows.shares import Shares
from clearbands.scaling.roles import Roles
from clearbands.selection.evidence import Encoded, judge
from clearbands.selection.fit_result import FitResult, Span
from clearbands.selection.plan import Parameters, Plan, rescaled

if TYPE_CHECKING:
    import polars as pl


def check_for_files(given: Parameters, told: Told, work: Any, *, has_set: bool) -> None:
    """Raise for what a table in files cannot have; `has_set` says if X_cal or y_cal was given."""
    if given.split != "random" or told.time is not None:
        raise ValueError(
            "A table in files is split by hashes of its rows, not in the order of time: leave "
            'split="random" and time out, or read the table into memory.'
        )
    if given.time_budget is not None:
        raise ValueError(
            "time_budget is for rows in memory: a fit on files can be stopped at any time and goes "
            "on from its work folder. Leave time_budget out, or choose fast()."
        )
    if given.monotone is not None:
        raise ValueError("A table in files knows no monotone columns: leave monotone out.")
    if has_set:
        raise ValueError(
            "A table in files calibrates on rows of its own: leave X_cal and y_cal out; "
            'calibration="conformal" holds rows out by itself.'
        )
    if given.encoder is None or given.residuals == "target":
        raise ValueError(
            "A table in files needs an encoder, and noise that is learned from residuals: "
            'leave encoder="auto" and residuals as they are.'
        )
    check_encoder_sees_no_target(given.encoder)
    if work is not None and not isinstance(given.random_state, int | np.integer):
        raise ValueError(
            "A fit can only go on from a work folder if it draws the same numbers again: give "
            f"random_state a whole number, got {given.random_state!r}."
        )


def check_nothing_for_files(features: Any, work: Any, engine: Any) -> None:
    """Raise for what rows in memory have no use for."""
    if not (features is work is engine is None):
        raise ValueError(
            "features, work and engine are for a table in parquet files or of Dask: X is in "
            "memory already."
        )


@dataclass(frozen=True)
class OnFiles:
    """A table in parquet files or of Dask, and who reads it how."""

    table: Any
    roles: Roles
    features: Sequence[str] | None
    work: Any
    engine: Any
    door: Callable[[pl.DataFrame], Any]  # remembers the columns

    def learn(self, plan: Plan, rng: np.random.RandomState) -> FitResult:
        """Fit encoder and parts, and have rows judged by what did not see them.

        Everything that follows from a sample is done as with rows in memory.
        """
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.scaling.fit import fit_on_files

        found = fit_on_files(
            plan.recipe,
            self.table,
            self.roles,
            lambda raw: without_codes(plan.encoder).fit(self.door(raw)),
            plan.fit_targets,
            features=self.features,
            held_out=0.0 if plan.calibration == "cross" else plan.calibration_size,
            work=self.work,
            engine=self.engine,
            rng=rng,
        )
        encoder, targets, raw, sample = found.encoder, found.targets, *found.sample[:2]
        given = plan.share_out(sample, found.held_out, rng)
        train = Encoded(sample, texts_of_rows(encoder, raw.X))
        others = [Encoded.by(encoder, rescaled(rows, targets)) for rows in given.held_out]
        shares = Shares(train, tuple(others))
        has_copies = check_copies(sample, [share.rows for share in others])
        evidence = judge(found.chosen, shares, targets.inner)
        span = Span(found.ranges.low, found.ranges.high, found.texts)
        return FitResult(
            encoder,
            targets,
            plan.recipe,
            found.chosen,
            evidence,
            raw.y,
            found.n_rows,
            has_copies,
            span,
        )
