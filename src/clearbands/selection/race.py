"""A race between centers: few members judge them all, and more judge those still in reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.engine.progress import report
from clearbands.models.bagging import Draws, fit_bag, predict_unseen, start_bag
from clearbands.models.pools import STAGES
from clearbands.models.quantile_model import QuantileModel
from clearbands.rows.messages import Failures
from clearbands.rows.split import Rows
from clearbands.rows.weighting import error_of_mean, mean_of
from clearbands.selection.centers import (
    JudgedCenter,
    constant_width_losses,
    mean_square,
    measure_center,
)

STAGE = "choosing a center"
IN_REACH = 2.0
"""Standard errors of the difference to the best, beyond which a candidate is out of the race."""


class RaceResult(NamedTuple):
    """Who is how good, best first."""

    finalists: list[JudgedCenter]  # that are still in reach
    beaten: list[JudgedCenter]  # some of them judged by fewer members


class Round(NamedTuple):
    """A part of the race."""

    n_members: int  # that have judged when it ends
    n_left: int  # how many candidates go on, at most


def race(
    candidates: Mapping[str, Any],
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    *,
    n_jobs: int | None,
    rounds: Sequence[Round],
) -> RaceResult:
    """Judge candidates on rows that their members did not see, round by round.

    A candidate that fails is left out with a warning.
    """
    failures = Failures()
    runners = [Runner(name, model, train, levels, n_jobs) for name, model in candidates.items()]
    beaten: list[JudgedCenter] = []
    n_before = 0
    for n_members, n_left in rounds:
        running = []
        for done, runner in enumerate(runners, start=1):
            with failures.leaving_out(f"The center {runner.name!r}"):
                runner.judge(draws, n_before, n_members, is_last=n_members == rounds[-1].n_members)
                running.append(runner)
            report(STAGE, done, len(runners))
        if not running:
            raise failures.none_left("No center could be fitted")
        n_before = n_members
        runners = in_reach(running, n_left)
        beaten = _ranked(runner for runner in running if runner not in runners) + beaten
    return RaceResult(_ranked(runners), beaten)


def _ranked(runners: Iterable[Runner]) -> list[JudgedCenter]:
    return sorted((runner.judged() for runner in runners), key=lambda each: each.standing.loss)


def in_reach(runners: Sequence[Runner], most: int) -> list[Runner]:
    """The best, and at most so many with it that are not clearly worse."""
    losses = {runner.name: runner.row_losses() for runner in runners}
    weight = runners[0].judged_weight
    ranked = sorted(runners, key=lambda runner: mean_of(losses[runner.name], weight))
    close = []
    for runner in ranked:
        behind = losses[runner.name] - losses[ranked[0].name]
        if mean_of(behind, weight) <= IN_REACH * error_of_mean(behind, weight):
            close.append(runner)
    return close[:most]


def stages_of(model: Any) -> list[int]:
    """The numbers of trees that are tried, up to that of the model."""
    most = getattr(model, "trees", model).n_trees
    return [*(n_trees for n_trees in STAGES if n_trees < most), most]


class Runner:
    """A candidate, and what its members say of rows that they did not see."""

    def __init__(
        self,
        name: str,
        model: BaseEstimator,
        train: Rows,
        levels: Sequence[float],
        n_jobs: int | None,
    ) -> None:
        self.name = name
        self.model: Any = clone(model)
        if isinstance(self.model, QuantileModel):
            self.model.set_params(quantiles=(0.5,))
        self._train, self._levels, self._n_jobs = train, levels, n_jobs
        self._stages: dict[int | None, np.ndarray] = {}
        """By the number of trees, None for models without stages: (n,), NaN where none judged."""
        self._is_coarse = False
        self._n_seen = 0.0  # rows that a member was fitted on, the most

    def judge(self, draws: Draws, n_before: int, n_members: int, *, is_last: bool) -> None:
        """Fit the members after the first `n_before`, and ask them about rows they did not see.

        A model that can be coarser is so in the first of several rounds, and starts anew when it
        has come through.
        """
        coarse = None
        if n_before == 0 and not is_last and hasattr(self.model, "coarser"):
            coarse = self.model.coarser()
        if self._is_coarse:
            self._stages, n_before = {}, 0
        self._is_coarse = coarse is not None
        self._fit_and_ask(coarse or self.model, draws.members(slice(n_before, n_members)))

    def _fit_and_ask(self, model: Any, draws: Draws) -> None:
        """Trees are grown in stages; the first members say how many are worth growing."""
        X, y, weight = self._train.X, self._train.y, self._train.sample_weight
        options: dict[str, Any] = {"n_jobs": self._n_jobs, "stage": "judging a center"}
        labels: dict[str, Any] = {"weight": weight, "groups": self._train.groups}
        seen = draws.counts if weight is None else draws.counts * weight
        self._n_seen = max(self._n_seen, float(seen.sum(axis=1, dtype=float).max()))
        if not hasattr(model, "start_bag"):
            bag = fit_bag(model, X, y, draws, **labels, **options)
            self._note(None, predict_unseen(bag, X, draws)[:, 0, 0], draws)
            return
        known = [n_trees for n_trees in self._stages if n_trees]
        growing = start_bag(model, X, y, draws, **labels, **options)
        before, has_smooth = np.zeros(len(y)), hasattr(growing, "smooth")
        if has_smooth:
            before = predict_unseen(growing.smooth, X, draws)[:, 0, 0]
            self._note(0, before, draws)
        for n_trees in known or stages_of(model):
            bag = growing.grow(n_trees, **options)
            trees = bag.bags[1] if has_smooth else bag
            self._note(n_trees, before + predict_unseen(trees, X, draws)[:, 0, 0], draws)
            if not known and n_trees != self._n_trees:
                break

    def judged(self) -> JudgedCenter:
        """With the number of trees that errs least."""
        n_trees = self._n_trees
        name, model = self.name, self.model
        if n_trees == 0:
            model = model.smooth_model()
        elif n_trees is not None:
            joint = "and" if hasattr(model, "smooth_model") else "with"
            name, model = f"{name} {joint} {n_trees} trees", model.shortened(n_trees, self._n_seen)
        rows = self._judged_rows
        y, predicted = self._train.y[rows], self._stages[n_trees][rows]
        return measure_center(name, model, y, predicted, self.judged_weight, self._levels)

    def row_losses(self) -> np.ndarray:
        """Of the rows judged so far, by intervals of one width everywhere."""
        error = self._errors(self._n_trees)
        return constant_width_losses(error, self._levels, self.judged_weight)

    @property
    def judged_weight(self) -> np.ndarray | None:
        """Of the rows that some member did not see: in the order of time the first rows are not."""
        weight = self._train.sample_weight
        return None if weight is None else weight[self._judged_rows]

    @property
    def _judged_rows(self) -> np.ndarray:
        return np.flatnonzero(~np.isnan(next(iter(self._stages.values()))))

    @property
    def _n_trees(self) -> int | None:
        return min(self._stages, key=self._error)

    def _errors(self, n_trees: int | None) -> np.ndarray:
        rows = self._judged_rows
        return self._train.y[rows] - self._stages[n_trees][rows]

    def _error(self, n_trees: int | None) -> float:
        error, weight = self._errors(n_trees), self.judged_weight
        by_median = getattr(self.model, "loss", "squared") == "absolute"
        return mean_of(np.abs(error), weight) if by_median else mean_square(error, weight)

    def _note(self, n_trees: int | None, predicted: np.ndarray, draws: Draws) -> None:
        rows = draws.unseen.any(axis=0)
        if not np.isfinite(predicted[rows]).all():
            raise ValueError("it predicts values that are not finite, or not one per row.")
        stage = self._stages.setdefault(n_trees, np.full(len(predicted), np.nan))
        stage[rows] = predicted[rows]
