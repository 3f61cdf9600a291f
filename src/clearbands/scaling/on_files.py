"""A fit on a table that is larger than memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.models.center_model import models_with
from clearbands.models.seeds import MAX_SEED
from clearbands.prediction.familiarity import texts_of_rows
from clearbands.prediction.table_estimator import check_encoder_sees_no_target
from clearbands.rows.copies import check_copies
from clearbands.rows.frames import check_table, is_dask
from clearbands.rows.split import Rows
from clearbands.rows.targets import Targets
from clearbands.scaling.engines import choose_engine
from clearbands.scaling.refit import check_can_refit, refit
from clearbands.scaling.roles import Roles, read_roles
from clearbands.scaling.rows import FileColumns, Ranges
from clearbands.scaling.source import ParquetTable, check_holds_numbers, from_dask, open_table
from clearbands.scaling.work import TableSample, TableWork, WorkFolder, prepare
from clearbands.selection.compete import ChosenParts
from clearbands.selection.fit_parts import fit_on_all
from clearbands.selection.fit_result import FitResult, Span
from clearbands.selection.model_search import ModelSearch
from clearbands.selection.plan import Plan, encoded, rescaled
from clearbands.tables.names import nearest
from clearbands.uncertainty.aleatoric import ResampledPart
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble

if TYPE_CHECKING:
    import polars as pl


CHOICE = "choice.clear"
FEW_ROWS = 500  # if nothing competes, parts are first fitted on this many rows to set them up


class FittedOnFiles(NamedTuple):
    """The results of the fit that a regressor keeps."""

    chosen: ChosenParts  # `unseen` are rows of the sample, or None if rows are held out
    encoder: BaseEstimator
    targets: Targets
    sample: TableSample
    held_out: Rows | None  # as they stand in the table
    n_rows: int  # the number of training rows
    ranges: Ranges  # the ranges of the training rows
    texts: list[set[str] | None]  # all categories of each text column; None if there are too many


def fit_on_files(
    plan: Plan,
    X: Any,
    roles: Roles,
    fit_encoder: Callable[[pl.DataFrame], Any],
    fit_targets: Callable[[np.ndarray], Targets],
    *,
    features: Sequence[str] | None,
    held_out: float,
    work: str | Path | WorkFolder | None,
    engine: Any,
    rng: np.random.RandomState,
) -> FittedOnFiles:
    """Prepare the table in two passes, choose parts on few rows, and fit their members on all.

    `X` names files or is a Dask DataFrame. A share `held_out` of the rows trains nothing, but no
    more rows than the sample has.
    """
    check_can_refit(plan.epistemic)
    seed = int(rng.randint(MAX_SEED))
    chosen = choose_engine(engine, plan.n_jobs)
    with _folder(work) as folder:
        try:
            table = _open_table(X, Path(folder.path))
            n_held_out = min(ceil(held_out * table.n_rows), folder.sample_rows, table.n_rows - 1)
            columns = FileColumns(_features(table, roles, features), roles, n_held_out)
            ready = prepare(table, columns, fit_encoder, fit_targets, folder, chosen, seed)
            choice = _choose(plan, ready, rng)
            parts, unseen = refit(choice.parts, ready, plan.levels)  # type: ignore[arg-type]
        finally:
            chosen.close()
        n_texts = len(getattr(ready.encoder, "categorical_columns_", ()))
        texts = [ready.rows.texts(column) for column in range(n_texts)]
    return FittedOnFiles(
        choice._replace(parts=parts, unseen=unseen if ready.held_out is None else None),
        ready.encoder,
        ready.targets,
        ready.sample,
        ready.held_out,
        ready.n_rows,
        ready.ranges,
        texts,
    )


@dataclass(frozen=True)
class FileSearch(ModelSearch):
    """The rules of another search, restricted to centers that can be fitted on a table in files.

    Only the best center is fitted with all its members, as with many rows in memory, and centers
    are not mixed.
    """

    of: ModelSearch = field(default_factory=ModelSearch)

    @classmethod
    def from_search(cls, search: ModelSearch) -> FileSearch:
        rules = {rule.name: getattr(search, rule.name) for rule in fields(ModelSearch)}
        return cls(**{**rules, "mixed": 1}, of=search)

    def centers(self, n_rows: int, n_columns: int) -> Mapping[str, BaseEstimator]:
        pool = self.of.centers(n_rows, n_columns)
        return models_with("streams_files", pool, "A table in files")

    def parts(self) -> Mapping[str, BaseEstimator]:
        return {}

    def n_centers_for(self, n_rows: int, n_columns: int) -> int:
        return 1

    def noises(self) -> Mapping[str, ResampledPart]:
        return self.of.noises()


def _choose(plan: Plan, work: TableWork, rng: np.random.RandomState) -> ChosenParts:
    """Choose the parts by the first rows of the sample, or return what an earlier run chose."""
    search = FileSearch.from_search(plan.search or ModelSearch())
    plan = replace(plan, search=search)
    state = joblib.hash((replace(plan, n_jobs=None), rng.get_state()))
    store = work.store.subfolder("choice", recipe=state)
    trusted = _types_of_centers(plan, work)
    if store.is_complete(CHOICE):
        return ChosenParts(*store.read_part(CHOICE, trusted))._replace(search=search.of)
    sample = work.sample.encoded
    n_judges = FEW_ROWS if plan.is_given else search.judging_rows
    few = sample.take(np.arange(min(len(sample), n_judges)))
    choice = fit_on_all(plan, few, rng)._replace(unseen=None, search=search.of)
    store.write_part(CHOICE, tuple(choice[:-1]), trusted)
    return choice


def _types_of_centers(plan: Plan, work: TableWork) -> list[str]:
    """Return the names of the centers' classes. Users trust classes that they gave themselves."""
    rows = work.sample.encoded
    if isinstance(plan.epistemic, FoldedEnsemble):
        centers = [plan.epistemic.center_model()]
    else:
        assert plan.search is not None
        centers = list(plan.search.centers(len(rows), rows.X.shape[1]).values())
    return sorted({f"{type(each).__module__}.{type(each).__qualname__}" for each in centers})


@contextmanager
def _folder(work: str | Path | WorkFolder | None) -> Iterator[WorkFolder]:
    """Yield the folder that was given, or a temporary one."""
    if work is not None:
        yield work if isinstance(work, WorkFolder) else WorkFolder(work)
        return
    with tempfile.TemporaryDirectory(prefix="clearbands-") as path:
        yield WorkFolder(path)


def _open_table(X: Any, folder: Path) -> ParquetTable:
    if not is_dask(X):
        return open_table(X)
    folder.mkdir(parents=True, exist_ok=True)
    return from_dask(X, folder.resolve())


def _features(table: ParquetTable, roles: Roles, features: Sequence[str] | None) -> list[str]:
    """Return the features: the columns that were named, or all that have no other role."""
    for name in (*roles.named, *(features or ())):
        if name not in table.columns:
            raise ValueError(
                f"{table.files[0]} has no column {name!r}; {nearest(name, table.columns)}"
            )
    check_holds_numbers(table, "target", roles.target)
    for name in roles.weights:
        check_holds_numbers(table, "weight", name)
    if features is None:
        features = [name for name in table.columns if name not in roles.not_learned]
    if not features or roles.target in features:
        raise ValueError(
            f"The target {roles.target!r} cannot be learned from itself: name other columns."
        )
    return list(features)


def check_for_files(regressor: Any, time: Any, work: Any, *, has_calibration_set: bool) -> None:
    """Raise for settings that a table in files does not support.

    `has_calibration_set` tells whether X_cal or y_cal was given.
    """
    if regressor.split != "random" or time is not None:
        raise ValueError(
            "A table in files is split by hashes of its rows, not in the order of time: leave "
            'split="random" and time out, or read the table into memory.'
        )
    if regressor.time_budget is not None:
        raise ValueError(
            "time_budget is for rows in memory: a fit on files can be stopped at any time and goes "
            "on from its work folder. Leave time_budget out, or choose fast()."
        )
    if regressor.monotone is not None:
        raise ValueError("monotone is for rows in memory: leave it out for a table in files.")
    if has_calibration_set:
        raise ValueError(
            "A table in files calibrates on rows of its own: leave X_cal and y_cal out; "
            'calibration="conformal" holds rows out by itself.'
        )
    if regressor.encoder is None or regressor.residuals == "target":
        raise ValueError(
            "A table in files needs an encoder, and noise that is learned from residuals: "
            'leave encoder="auto" and residuals as they are.'
        )
    check_encoder_sees_no_target(regressor.encoder)
    if work is not None and not isinstance(regressor.random_state, int | np.integer):
        raise ValueError(
            "A fit can only go on from a work folder if it draws the same numbers again: give "
            f"random_state a whole number, got {regressor.random_state!r}."
        )


def fit_table_on_disk(
    regressor: Any,
    plan: Plan,
    X: Any,
    target: Any,
    rng: np.random.RandomState,
    *,
    has_calibration_set: bool,
    features: Sequence[str] | None,
    work: Any,
    engine: Any,
    time: Any,
    **labels: Any,
) -> FitResult:
    """Fit the encoder and the parts, and predict rows by members that did not see them.

    The table is in parquet files or a Dask DataFrame, and `labels` are names of columns. The
    sample is used as rows in memory are. The regressor remembers the names of the columns.
    """
    check_for_files(regressor, time, work, has_calibration_set=has_calibration_set)

    def fit_encoder(raw: pl.DataFrame) -> Any:
        encoder = clone(plan.encoder)
        return encoder.fit(check_table(regressor, raw, reset=True))

    on_files = fit_on_files(
        plan,
        X,
        read_roles(target, plan.calibration, **labels),
        fit_encoder,
        plan.fit_targets,
        features=features,
        held_out=0.0 if plan.calibration == "cross" else plan.calibration_size,
        work=work,
        engine=engine,
        rng=rng,
    )
    encoder, targets = on_files.encoder, on_files.targets
    raw, sample = on_files.sample[:2]
    _, *as_given = plan.divide_rows(sample, on_files.held_out, rng)
    others = [encoded(rescaled(rows, targets), encoder) for rows in as_given]
    return FitResult.of(
        plan,
        encoder,
        targets,
        on_files.chosen,
        replace(sample, texts=texts_of_rows(encoder, raw.X)),
        others,
        y=raw.y,
        n_train=on_files.n_rows,
        has_copies=check_copies(sample, others),
        span=Span(on_files.ranges.low, on_files.ranges.high, on_files.texts),
    )
