"""Bags whose members each learn the effects of categories for themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from clearbands.engine.progress import ignore, listening, report
from clearbands.models.categories import CategoryEffects, CodedRows, learn_effects
from clearbands.models.seeds import MAX_SEED

Targets = Callable[[np.ndarray], np.ndarray]
"""A function that gets the counts (n,) of the rows for a member, 0 for rows that it must not see,
and returns the targets (n, s) on which the member learns effects."""

Fit = Callable[[Any, np.ndarray, np.ndarray], Any]
"""A function that fits a bag of one member. It gets a model, the rows as the member sees them, and
its counts (1, n)."""


@dataclass(frozen=True)
class CategoryBag:
    """Bags of one member each, and the effects of categories that each member learned.

    X holds codes of categories, as in the fit. A method works if the bags of the members have it.
    """

    effects: Sequence[CategoryEffects]
    parts: Sequence[Any]  # one bag per member

    def __len__(self) -> int:
        return len(self.parts)

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, q, b) of the members."""
        return np.concatenate(
            [part.predict_members(view) for part, view in self._views_of_members(X)], axis=-1
        )

    def predict_logits(self, X: np.ndarray) -> np.ndarray:
        """Return the logits (n, b, classes) of members that are classifiers."""
        return np.concatenate(
            [part.predict_logits(view) for part, view in self._views_of_members(X)], axis=1
        )

    def member(self, number: int) -> CategoryBag:
        """Return a bag of one member."""
        return CategoryBag(self.effects[number : number + 1], self.parts[number : number + 1])

    def first(self, n_trees: int) -> CategoryBag:
        """Return the same members with only their first trees."""
        return replace(self, parts=[part.first(n_trees) for part in self.parts])

    @property
    def bags(self) -> list[CategoryBag]:
        """The bags whose predictions the members add up."""
        summands = zip(*(part.bags for part in self.parts), strict=True)
        return [replace(self, parts=list(each)) for each in summands]

    def grow(self, n_trees: int, **options: Any) -> CategoryBag:
        """Grow members until they have `n_trees` trees, as `GrowingBag.grow` does."""
        return replace(self, parts=[part.grow(n_trees, **options) for part in self.parts])

    @property
    def smooth(self) -> CategoryBag:
        """The smooth models of members that fit trees to the residuals of such models."""
        return replace(self, parts=[part.smooth for part in self.parts])

    def _views_of_members(self, X: np.ndarray) -> Any:
        rows = CodedRows.of(X, self.effects[0].columns)
        return ((p, w.view_coded(rows)) for p, w in zip(self.parts, self.effects, strict=True))


def fit_category_bag(
    model: BaseEstimator,
    X: np.ndarray,
    targets: Targets,
    counts: np.ndarray,
    fit: Fit,
    *,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    n_jobs: int | None,
    stage: str,
) -> CategoryBag:
    """Fit one member for every row of `counts` (b, n), each on its own view of X.

    A row counts as often as the member sees it, each time as its `weight` (n,) says. Rows of one
    label in `groups` (n,) do not learn effects of categories from each other.
    """
    seeds = _seeds(model, len(counts))

    def fit_one(member: int, model: Any) -> tuple[CategoryEffects, Any]:
        count = counts[member] * (1.0 if weight is None else weight)
        rng = np.random.RandomState(seeds["effects"][member])
        effects, view = learn_effects(X, targets(count), count, rng, groups)
        own = _directed(clone(model), effects).set_params(
            **{name: int(drawn[member]) for name, drawn in seeds.items() if name != "effects"}
        )
        with listening(ignore):
            return effects, fit(own, np.ascontiguousarray(view), counts[member : member + 1])

    fitted = [fit_one(0, model)]
    report(stage, 1, len(counts))
    # Members that are fitted together share what a model chooses from all rows.
    if hasattr(model, "with_choices_of"):
        model = model.with_choices_of(fitted[0][1])
    jobs = (delayed(fit_one)(member, model) for member in range(1, len(counts)))
    for each in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
        fitted.append(each)
        report(stage, len(fitted), len(counts))
    effects, parts = zip(*fitted, strict=True)
    return CategoryBag(list(effects), list(parts))


def _seeds(model: BaseEstimator, n_members: int) -> dict[str, np.ndarray]:
    """Draw for every member a seed for each `random_state` of the model and one for its effects."""
    own_seeds = {
        name: value
        for name, value in sorted(model.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is not None
    }
    own = {
        name: check_random_state(value).randint(MAX_SEED, size=n_members)
        for name, value in own_seeds.items()
    }
    first = next(iter(own_seeds.values()), 0)
    return own | {"effects": check_random_state(first).randint(MAX_SEED, size=n_members)}


def _directed(model: Any, effects: CategoryEffects) -> Any:
    """Return the model with the monotone directions in the order of the columns of its view."""
    ways = model.get_params(deep=False).get("monotone")
    if ways is None:
        return model
    free = sum(table.shape[1] for table in effects.tables)
    plain = np.delete(np.asarray(ways), effects.columns).tolist()
    return model.set_params(monotone=(*plain, *[0] * free))
