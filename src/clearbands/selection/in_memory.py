"""A fit on rows in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clearbands.models.monotone import encoded_directions
from clearbands.rows.copies import check_copies
from clearbands.rows.split import Rows, all_targets
from clearbands.selection.evidence import Encoded, judge
from clearbands.selection.fit_result import FitResult
from clearbands.selection.known import check_known
from clearbands.selection.plan import Plan, rescaled


@dataclass(frozen=True)
class InMemory:
    """Rows that were given to train, and a calibration set if there is one."""

    rows: Rows
    held_out: Rows | None

    def learn(self, plan: Plan, rng: np.random.RandomState) -> FitResult:
        """Fit encoder and parts, and have rows judged by what did not see them."""
        given = plan.share_out(self.rows, self.held_out, rng)
        y = all_targets(given)
        targets = plan.fit_targets(given.train.y)
        for rows in (self.rows, self.held_out):
            if rows is not None:
                targets.check(rows.y)  # as they were given, so that a row has its own number
        shares = given.each(lambda rows: rescaled(rows, targets))
        encoder = plan.encoder.fit(shares.train.X, shares.train.y)
        direction = encoded_directions(plan.monotone, encoder, shares.train.X)
        recipe = replace(plan.recipe, direction=direction)
        ready = shares.each(lambda rows: Encoded.by(encoder, rows))
        train, others = ready.train.rows, [share.rows for share in ready.held_out]
        has_copies = check_copies(train, others, given=self.held_out is not None)
        chosen = recipe.fit(train, others[0] if others else None, rng)
        evidence = judge(chosen, ready, targets.inner)
        if others and not has_copies:
            center = evidence.judged.components.center
            has_copies = check_known(train, others[-1], center, chosen.unseen_center)
        return FitResult(encoder, targets, recipe, chosen, evidence, y, len(train), has_copies)
