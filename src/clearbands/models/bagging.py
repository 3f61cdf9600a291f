"""Rows drawn once and kept, and a model refitted on each draw."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import ceil
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from clearbands.engine.progress import report
from clearbands.engine.threads import one_blas_thread
from clearbands.models.category_bag import fit_category_bag
from clearbands.rows.checks import check_count, check_predictions
from clearbands.rows.coded import code_columns
from clearbands.rows.hashing import hashed_folds, hashed_share
from clearbands.rows.time_order import TimeBlock
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import fit_weighted

MAX_SEED = np.iinfo(np.int32).max

Part = TypeVar("Part", bound=BaseEstimator)


class Bag(Protocol):
    """Members fitted on the bootstraps of one training set."""

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """(n, q, b): for every row and every quantile (one for a plain regressor) the members."""


@dataclass(frozen=True)
class Draws:
    """How often each member drew each training row: (b, n) small counts; 0 is unseen."""

    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def unseen(self) -> np.ndarray:
        """(b, n) booleans: which rows each member may judge, not having seen them."""
        return self.counts == 0

    def members(self, some: slice) -> Draws:
        """Of some members alone, who may leave rows without a judge."""
        return Draws(self.counts[some])

    @cached_property
    def unseen_per_row(self) -> float:
        """How many members did not see a row, on average; counted once, as every answer asks."""
        return float(self.unseen.sum(axis=0).mean())

    def __getstate__(self) -> dict[str, Any]:
        """Without what was counted: a model is the same file before and after its first answer."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Chain(Draws):
    """Members that each saw the past of one block of rows, in the order of time."""

    blocks: np.ndarray  # (b, n) booleans: the rows that each member judges

    @classmethod
    def of(cls, in_order: Sequence[TimeBlock], n_rows: int) -> Chain:
        counts = np.zeros((len(in_order), n_rows), np.uint8)
        blocks = np.zeros((len(in_order), n_rows), bool)
        for member, (past, block) in enumerate(in_order):
            counts[member, past], blocks[member, block] = 1, True
        return cls(counts, blocks)

    def members(self, some: slice) -> Chain:
        return Chain(self.counts[some], self.blocks[some])

    @property
    def unseen(self) -> np.ndarray:
        """The block alone: what lies in the gap before it, or after it, is not judged."""
        return self.blocks


class Bootstraps(Draws):
    """As many rows as there are, drawn with replacement: a member misses some 37 % of them."""

    @classmethod
    def draw(
        cls,
        n_rows: int,
        n_bootstraps: int,
        rng: np.random.RandomState,
        groups: np.ndarray | None = None,
    ) -> Bootstraps:
        """Rows of one label in `groups` are drawn together."""
        units = _units(n_rows, groups)
        n = int(units.max()) + 1
        counts = np.empty((n_bootstraps, n_rows), np.uint8)
        for bootstrap in counts:
            bootstrap[:] = np.bincount(rng.randint(n, size=n), minlength=n)[units]
        return cls(counts)


class BlockBootstraps(Draws):
    """Stretches of neighbouring rows, drawn with replacement until there are as many rows.

    Rows that come in the order of time resemble their neighbours: drawn one by one they would make
    members that agree more than they know.
    """

    @classmethod
    def draw(
        cls, n_rows: int, n_bootstraps: int, rng: np.random.RandomState, length: int | None = None
    ) -> BlockBootstraps:
        """Stretches have `length` rows, by default the third root of their number, rounded up.

        >>> draws = BlockBootstraps.draw(8, 2, np.random.RandomState(0), length=4)
        >>> draws.counts.sum(axis=1).tolist()
        [8, 8]
        """
        if length is None:
            length = ceil(n_rows ** (1 / 3))
        elif length > max(1, n_rows // 2):
            raise ValueError(
                f"block_length is {length}, and {n_rows} rows train: blocks longer than half of "
                "the rows make members that are nearly the same. "
                f"Choose at most {max(1, n_rows // 2)}."
            )
        n_blocks = ceil(n_rows / length)
        counts = np.empty((n_bootstraps, n_rows), np.uint8)
        for bootstrap in counts:
            starts = rng.randint(n_rows - length + 1, size=n_blocks)
            rows = (starts[:, None] + np.arange(length)).ravel()[:n_rows]
            bootstrap[:] = np.bincount(rows, minlength=n_rows)
        return cls(counts)


class Folds(Draws):
    """Repeated folds: each member leaves out one fold, each row is left out once per repeat."""

    @classmethod
    def draw(
        cls,
        n_rows: int,
        n_folds: int,
        n_repeats: int,
        rng: np.random.RandomState,
        groups: np.ndarray | None = None,
    ) -> Folds:
        """Members come repeat by repeat. Rows of one label in `groups` stay in one fold.

        Fewer rows, or labels, than folds make as many folds as there are.
        """
        units = _units(n_rows, groups)
        n_units = int(units.max()) + 1
        if n_units < 2:
            what = "row" if groups is None else "label that keeps rows together"
            raise ValueError(
                f"There is only n_samples={n_units} {what}: at least 2 are needed, so that some "
                "rows can be left out while others train."
            )
        n_folds = min(n_folds, n_units)
        folds = (rng.permutation(np.arange(n_units) % n_folds)[units] for _ in range(n_repeats))
        seen = [fold != own for fold in folds for own in range(n_folds)]
        return cls(np.array(seen, np.uint8))


@dataclass(frozen=True)
class FoldPairs(Draws):
    """Every two of K folds are left out by one member: K - 1 members did not see a row.

    Member by member (0, 1), (0, 2), ..., (K - 2, K - 1): those that leave out a fold are in the
    order of the other fold.
    """

    fold: np.ndarray  # (n,): that a row is in

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @classmethod
    def draw(
        cls,
        n_rows: int,
        n_folds: int,
        rng: np.random.RandomState,
        groups: np.ndarray | None = None,
    ) -> FoldPairs:
        """Rows of one label in `groups` stay in one fold; few labels make fewer folds."""
        units = _units(n_rows, groups)
        n_units = int(units.max()) + 1
        if n_units < 3:
            what = "rows" if groups is None else "labels that keep rows together"
            raise ValueError(
                f"There are only n_samples={n_units} {what}: at least 3 are needed, so that two "
                "parts of them can be left out while others train."
            )
        n_folds = min(n_folds, n_units)
        fold = rng.permutation(np.arange(n_units) % n_folds)[units]
        first, second = np.triu_indices(n_folds, 1)
        seen = (fold != first[:, None]) & (fold != second[:, None])
        return cls(seen.astype(np.uint8), fold)

    def folds(self) -> Folds:
        """The folds one at a time."""
        return Folds((self.fold != np.arange(self.n_folds)[:, None]).astype(np.uint8))


@dataclass(frozen=True)
class HashedFolds:
    """Repeated folds, in which the fold of a row is a hash of its number: no table of counts.

    Members come repeat by repeat, as in `Folds`. With a `share` below 1 a member sees so many of
    the rows outside its fold: for tables that are more than it can hold.

    Rows have other numbers than their places in the table where they are drawn by labels that they
    share, or where some of them are held out (`by_place` is then False).

    >>> draws = HashedFolds(seed=0, n_rows=1000, n_folds=5, n_repeats=2)
    >>> len(draws), draws.unseen_per_row
    (10, 2.0)
    >>> bool((draws.unseen.sum(axis=0) == 2).all())
    True
    """

    seed: int
    n_rows: int
    n_folds: int
    n_repeats: int
    share: float = 1.0
    by_place: bool = True

    def __len__(self) -> int:
        return self.n_folds * self.n_repeats

    @property
    def unseen_per_row(self) -> float:
        return float(self.n_repeats)

    @property
    def counts(self) -> np.ndarray:
        """(b, n): of all rows; where there are very many, ask for some of them."""
        rows = self._places()
        return np.array([self.seen(member, rows) for member in range(len(self))], np.uint8)

    @property
    def unseen(self) -> np.ndarray:
        """(b, n) booleans: which rows each member left out with its fold."""
        return self.left_out(self._places())

    def _places(self) -> np.ndarray:
        if not self.by_place:
            raise ValueError(
                "This fit kept rows of one label together, or held rows out, so the place of a row "
                "does not tell which members saw it."
            )
        return np.arange(self.n_rows)

    def seen(self, member: int, rows: np.ndarray) -> np.ndarray:
        """(n,) booleans: which of the rows with these numbers a member sees."""
        repeat, own = divmod(member, self.n_folds)
        fold = hashed_folds(self.seed, repeat, rows, self.n_folds)
        stream = self.n_repeats + member
        return (fold != own) & hashed_share(self.seed, stream, rows, self.share)

    def left_out(self, rows: np.ndarray) -> np.ndarray:
        """(b, n) booleans: which of the rows with these numbers are in a member's own fold."""
        folds = [hashed_folds(self.seed, r, rows, self.n_folds) for r in range(self.n_repeats)]
        return np.array([fold == own for fold in folds for own in range(self.n_folds)])


def draw_bootstraps(
    kind: str,
    n_rows: int,
    n_bootstraps: int,
    rng: np.random.RandomState,
    groups: np.ndarray | None = None,
    *,
    block_length: int | None = None,
) -> Draws:
    """Bootstraps of single rows ("rows") or of stretches of neighbours ("blocks")."""
    if kind not in ("rows", "blocks"):
        raise ValueError(f'bootstrap must be "rows" or "blocks", got {kind!r}.')
    if block_length is not None:
        check_count(block_length, "block_length")
    if kind == "rows":
        return Bootstraps.draw(n_rows, n_bootstraps, rng, groups)
    if groups is not None:
        raise ValueError(
            'bootstrap="blocks" draws neighbouring rows, whatever labels keep them together: '
            'leave out groups, or choose bootstrap="rows".'
        )
    return BlockBootstraps.draw(n_rows, n_bootstraps, rng, block_length)


def _units(n_rows: int, groups: np.ndarray | None) -> np.ndarray:
    """(n,): the number of what each row is drawn with."""
    return np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]


def few_left_out(counts: np.ndarray) -> np.ndarray | None:
    """The numbers of the rows that a member lacks, where they are few and it has all others once.

    What it sums up is then what all rows add up to without these, which is soon found. None where
    a member drew other rows.
    """
    is_out = counts == 0
    if np.all(is_out | (counts == 1)) and 2 * np.count_nonzero(is_out) < len(counts):
        return np.flatnonzero(is_out)
    return None


def check_model(model: Any) -> None:
    """Raise for parameters that make no sense, of a model that bags are about to be fitted of."""
    if hasattr(model, "check_parameters"):
        model.check_parameters()


def fit_bag(
    model: BaseEstimator,
    X: TableLike,
    y: np.ndarray,
    draws: Draws,
    *,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> Bag:
    """Refit `model` on the rows of every draw; models that can do it in one go do.

    Parameters are checked before, by `check_model`.

    A row counts as its `weight` (n,) says each time it is drawn, by default once. Where columns of
    X are codes of categories (`clearbands.rows.coded`), every member learns from its own rows what
    they are worth; rows of one label in `groups` (n,) then tell each other nothing of theirs.
    """
    if code_columns(X):
        return _fit_on_categories(fit_bag, model, X, y, draws, weight, groups, n_jobs, stage)
    if not hasattr(model, "fit_bag"):
        return fit_clones(model, X, y, draws.counts, weight=weight, n_jobs=n_jobs, stage=stage)
    weights = {} if weight is None else {"weight": weight}  # models of others may know none
    return model.fit_bag(X, y, draws.counts, n_jobs=n_jobs, stage=stage, **weights)


def start_bag(
    model: Any,
    X: TableLike,
    y: np.ndarray,
    draws: Draws,
    *,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> Any:
    """As `fit_bag`, of a model whose members are grown some trees at a time."""
    if code_columns(X):
        return _fit_on_categories(start_bag, model, X, y, draws, weight, groups, n_jobs, stage)
    return model.start_bag(X, y, draws.counts, weight=weight, n_jobs=n_jobs, stage=stage)


def _fit_on_categories(
    fit_members: Callable[..., Any],
    model: BaseEstimator,
    X: Any,
    y: np.ndarray,
    draws: Draws,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    n_jobs: int | None,
    stage: str,
) -> Bag:
    """Members that see what categories are worth: of y, and of its size to models of its spread."""

    def targets(count: np.ndarray) -> np.ndarray:
        if len(getattr(model, "quantiles", ())) < 2:
            return y[:, None]
        return np.column_stack([y, np.abs(y - np.average(y, weights=count))])

    def fit(own: Any, view: np.ndarray, counts: np.ndarray) -> Bag:
        return fit_members(own, view, y, Draws(counts), weight=weight, n_jobs=1, stage=stage)

    options: dict[str, Any] = {"weight": weight, "n_jobs": n_jobs, "stage": stage}
    return fit_category_bag(model, X, targets, draws.counts, fit, groups=groups, **options)


def fit_clones(
    model: BaseEstimator,
    X: TableLike,
    y: np.ndarray,
    counts: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> ListedBag:
    """One clone of `model` per bootstrap, fitted on repeated rows."""
    clones = (clone(model) for _ in counts)
    return fit_models(clones, X, y, counts, weight=weight, n_jobs=n_jobs, stage=stage)


def fit_models(
    models: Iterable[BaseEstimator],
    X: TableLike,
    y: np.ndarray,
    counts: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    n_jobs: int | None,
    stage: str,
) -> ListedBag:
    """One model for each bootstrap, fitted on repeated rows."""
    jobs = (
        delayed(_fit_on_rows)(model, X, y, drawn, weight)
        for model, drawn in zip(models, counts, strict=True)
    )
    members = []
    with warnings.catch_warnings():
        # Said by a thread of joblib's when an idle process leaves. Where warnings are errors the
        # thread would end, and jobs would wait for it without end.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs")
        for member in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            members.append(member)
            report(stage, len(members), len(counts))
    return ListedBag(members)


def _fit_on_rows(
    model: BaseEstimator, X: TableLike, y: np.ndarray, drawn: np.ndarray, weight: np.ndarray | None
) -> Any:
    rows = np.repeat(np.arange(len(drawn)), drawn)
    # `n_jobs` says how many members train at once; threads of their own would only compete.
    with one_blas_thread():
        own = None if weight is None else weight[rows]
        return fit_weighted(model, _safe_indexing(X, rows), y[rows], own)


def repeated(model: BaseEstimator, times: float) -> Any:
    """The model with so many times as many trees if it is a mean of trees, else as it is.

    Where several members judge a row, each of them needs only its share of them.
    """
    return model.repeated(times) if hasattr(model, "repeated") else model


def finer(model: BaseEstimator, n_columns: int) -> Any:
    """The model for those who need it once: with more steps or landmarks where it has such."""
    return model.finer(n_columns) if hasattr(model, "finer") else model


def coarser(model: BaseEstimator) -> Any:
    """The model for those who only want to know how good it is, where it can be cheaper."""
    return model.coarser() if hasattr(model, "coarser") else model


@dataclass(frozen=True)
class ListedBag:
    """A list of fitted models, one for each bootstrap."""

    members: Sequence[BaseEstimator]

    def predict_members(self, X: TableLike) -> np.ndarray:
        return np.stack([_predict_columns(member, X) for member in self.members], axis=-1)


@dataclass(frozen=True)
class JoinedBag:
    """Bags one after the other."""

    bags: Sequence[Bag]

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([bag.predict_members(X) for bag in self.bags], axis=-1)


def predict_unseen(bag: Bag, X: np.ndarray, draws: Draws) -> np.ndarray:
    """(n, q, r): what the members predict for the training rows that they did not see.

    X are the rows of the fit in their order. A row that fewer than r members left out has NaN
    behind them.
    """
    if hasattr(bag, "predict_unseen"):
        return bag.predict_unseen(X, ~draws.unseen)[:, None]
    if not hasattr(bag, "member"):
        return compact_unseen(bag.predict_members(X), draws)
    unseen = draws.unseen
    place = np.cumsum(unseen, axis=0) - 1
    members: np.ndarray | None = None
    for number, own in enumerate(unseen):
        rows = np.flatnonzero(own)
        predicted = bag.member(number).predict_members(X[rows])[:, :, 0]
        if members is None:
            members = np.full((len(X), predicted.shape[1], int(place.max()) + 1), np.nan)
        members[rows, :, place[number, rows]] = predicted
    assert members is not None
    return members


def compact_unseen(members: np.ndarray, draws: Draws) -> np.ndarray:
    """(n, ..., r) of members (n, ..., b): the unseen ones in front, NaN behind them."""
    unseen = np.tile(draws.unseen, (members.shape[-1] // len(draws), 1)).T
    order = np.argsort(~unseen, axis=1, kind="stable")[:, : int(unseen.sum(axis=1).max())]
    shape = (len(members), *(1,) * (members.ndim - 2), order.shape[1])
    order, is_unseen = order.reshape(shape), np.take_along_axis(unseen, order, 1).reshape(shape)
    return np.where(is_unseen, np.take_along_axis(members, order, axis=-1), np.nan)


def _predict_columns(member: BaseEstimator, X: TableLike) -> np.ndarray:
    if hasattr(member, "predict_quantiles"):
        return member.predict_quantiles(X)
    if hasattr(member, "default_quantiles"):  # a forest of quantile-forest says several
        return member.predict(X).reshape(_num_samples(X), -1)
    return check_predictions(member.predict(X), _num_samples(X), type(member).__name__)[:, None]


def seed_missing(model: Part, rng: np.random.RandomState) -> Part:
    """Give every `random_state` of `model` that was left open a seed; the others stay."""
    open_seeds = [
        name
        for name, value in sorted(model.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return model.set_params(**{name: int(rng.randint(MAX_SEED)) for name in open_seeds})


def set_up(
    part: Part, levels: Sequence[float], n_jobs: int | None, rng: np.random.RandomState
) -> Part:
    """A clone of the part at these levels; what it leaves open of jobs and seeds is filled in."""
    part = clone(part).set_params(confidence_level=list(levels))
    if part.get_params(deep=False).get("n_jobs", 0) is None:
        part.set_params(n_jobs=n_jobs)
    return seed_missing(part, rng)


def member_seeds(random_state: Seed, n_members: int) -> np.ndarray:
    """One seed per member, drawn before the work is shared out."""
    return check_random_state(random_state).randint(MAX_SEED, size=n_members).astype(np.int64)
