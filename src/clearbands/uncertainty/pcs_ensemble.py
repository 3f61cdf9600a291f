"""PCS: the best of many models, fitted again on many bootstraps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.engine.progress import report
from clearbands.models.bag_model import Bag
from clearbands.models.bagging import check_model, fit_bag
from clearbands.models.pools import default_pool
from clearbands.models.protocol import fit_weighted
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.seeds import seed_missing
from clearbands.rows.checks import check_count, check_predictions, check_share, check_target
from clearbands.rows.chunks import spread_rows
from clearbands.rows.draws import draw_bootstraps
from clearbands.rows.frames import check_numeric, check_table
from clearbands.rows.messages import Failures
from clearbands.rows.split import Rows, hold_out
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, mean_of
from clearbands.uncertainty.epistemic import ResampledEnsemble
from clearbands.uncertainty.prepared import Version, VersionBags

NONE_LEFT = "Every model of the pool failed"


class PoolModel(NamedTuple):
    """A model, and the version of the data that it is fitted on."""

    model_name: str
    model: BaseEstimator
    version: Version


class PCSEnsemble(ResampledEnsemble):
    """An ensemble of the best combinations of preprocessing and model, refitted on bootstraps.

    Parameters
    ----------
    models : dict or list of regressors, optional
        The models that compete, by default those of `default_pool()`. Of a quantile model only the
        median is used.
    preprocessings : dict or list of transformers, optional
        Versions of the data, each combined with every model. Versions that turn the training rows
        into the same numbers count as one, under the name of the first. A preprocessing that has
        `transform_target(y)` and `inverse_transform_target(predictions)` also chooses the scale on
        which the models learn y.
    top_k : int or float
        How many combinations are kept, by their root mean squared error on validation rows. A
        number below 1 is the share of the combinations that is kept, rounded up.
    n_bootstraps : int
        On how many bootstraps each of them is refitted.
    bootstrap : "rows" or "blocks"
        Whether rows are drawn one by one, or in stretches of neighbours. "blocks" is for rows in
        the order of time, which resemble their neighbours.
    block_length : int, optional
        How many rows a stretch has, such as those of a week, and at most half of all rows. The
        default is the third root of their number.
    confidence_level : float or list of float
        The levels, which say where among the members the widths end.
    validation_size : float
        The share of the rows that chooses between models when `fit` is given no validation rows.
        The bootstraps are then drawn from all rows.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Attributes
    ----------
    leaderboard_ : list of dict
        For each combination its model, its preprocessing, its rmse and r2 on the validation rows,
        and whether it was selected; the best comes first.
    winner_ : regressor
        The model that came first, unfitted.
    duplicates_ : dict
        For the name of each version that was left out, the name of the version that it equals.
    draws_ : Bootstraps or BlockBootstraps
        How often each bootstrap drew each training row.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import PCSEnsemble, LinearQuantiles
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> pool = {"line": LinearQuantiles()}
    >>> ensemble = PCSEnsemble(pool, n_bootstraps=10, random_state=0).fit(X, y)
    >>> center, widths = ensemble.predict_with_widths(X[:5])
    >>> center.shape, widths.shape  # below and above the center, one level
    ((5,), (5, 2, 1))
    """

    def __init__(
        self,
        models: Mapping[str, BaseEstimator] | Sequence[BaseEstimator] | None = None,
        preprocessings: Mapping[str, BaseEstimator] | Sequence[BaseEstimator] | None = None,
        top_k: int | float = 1,
        n_bootstraps: int = 100,
        *,
        bootstrap: str = "rows",
        block_length: int | None = None,
        confidence_level: float | Sequence[float] = 0.9,
        validation_size: float = 0.2,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.models = models
        self.preprocessings = preprocessings
        self.top_k = top_k
        self.n_bootstraps = n_bootstraps
        self.bootstrap = bootstrap
        self.block_length = block_length
        self.confidence_level = confidence_level
        self.validation_size = validation_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        validation_weight: ArrayLike | None = None,
        groups: np.ndarray | None = None,
    ) -> PCSEnsemble:
        """Train on X and y; `validation`, a pair (X, y), chooses between models.

        A row counts as many times as `sample_weight` (n,) says, and a row of `validation` as many
        times as `validation_weight` says. Rows of one label in `groups` are drawn together.
        """
        check_count(self.n_bootstraps, "n_bootstraps")
        _check_top_k(self.top_k)
        check_share(self.validation_size, "validation_size")
        X = self._check_X(X, reset=True)
        y = check_target(y, X)
        train = Rows(X, y, sample_weight=check_sample_weight(sample_weight, len(y)))
        rng = check_random_state(self.random_state)
        candidates, failures = self._candidates(rng), Failures()
        chooses: tuple[Rows, Rows | None] = train, None
        if validation is not None:
            chooses = train, self._check_rows(*validation, validation_weight)
        elif len(candidates) > max(self.top_k, 1):
            chooses = hold_out(train, self.validation_size, rng)
        self._compete(candidates, *chooses, failures)
        self.draws_ = draw_bootstraps(
            self.bootstrap,
            len(train),
            self.n_bootstraps,
            rng,
            groups,
            block_length=self.block_length,
        )
        self.bags_ = self._fit_bags(candidates, train, failures)
        return self

    def _check_X(self, X: TableLike, *, reset: bool) -> Any:
        # Preprocessings may take frames, text and missing values; models take numbers.
        check = check_numeric if self.preprocessings is None else check_table
        return check(self, X, reset=reset)

    def _check_rows(self, X: TableLike, y: ArrayLike, weight: ArrayLike | None) -> Rows:
        X = self._check_X(X, reset=False)
        y = check_target(y, X)
        return Rows(X, y, sample_weight=check_sample_weight(weight, len(y)))

    def _candidates(self, rng: np.random.RandomState) -> list[PoolModel]:
        models = _parts_by_name(default_pool() if self.models is None else self.models, "models")
        versions = [Version()]
        if self.preprocessings is not None:
            named = _parts_by_name(self.preprocessings, "preprocessings")
            versions = [Version(name, preprocessing) for name, preprocessing in named.items()]
        return [
            PoolModel(model_name, _prepare(model, rng), version)
            for version in versions
            for model_name, model in models.items()
        ]

    def _compete(
        self,
        candidates: list[PoolModel],
        train: Rows,
        judged_on: Rows | None,
        failures: Failures,
    ) -> None:
        """Fit every candidate once; if no rows judge them, all are kept."""
        entries: list[dict[str, Any]] = []
        self.duplicates_ = {}
        groups, seen = _by_version(candidates), dict[str, str]()
        for group in groups:
            with failures.leaving_out(_preprocessing_in_words(group), has_rivals=len(groups) > 1):
                version, rows = group[0].version.fitted(train)
                if len(groups) > 1:
                    first = seen.setdefault(joblib.hash((rows.X, rows.y)), version.name)
                    if first != version.name:
                        self.duplicates_[version.name] = first
                        continue
                if judged_on is None:
                    entries += [_entry(candidate) for candidate in group]
                    continue
                view = version.view(judged_on.X)
                for candidate in group:
                    with failures.leaving_out(_model_in_words(candidate)):
                        predicted = version.restore(_predict_once(candidate.model, rows, view))
                        entries.append(_scored_entry(candidate, judged_on, predicted))
                    n_done = len(entries) + len(failures)
                    report("choosing a model", n_done, len(candidates))
        if not entries:
            raise failures.none_left(NONE_LEFT)
        if judged_on is not None:
            entries.sort(key=lambda entry: entry["rmse"])
            for entry in entries[: _number_kept(self.top_k, len(entries))]:
                entry["selected"] = True
        self.leaderboard_ = entries

    def _fit_bags(
        self, candidates: list[PoolModel], train: Rows, failures: Failures
    ) -> list[VersionBags]:
        """Fit bags of the selected candidates; the next of the leaderboard replace failed ones."""
        by_names = {(c.model_name, c.version.name): c for c in candidates}
        left = {names: by_names[names] for names in map(_names, self.leaderboard_)}  # in its order
        n_wanted, bags_by_version = sum(entry["selected"] for entry in self.leaderboard_), []
        todo, reserves = [*left.values()][:n_wanted], [*left.values()][n_wanted:]
        has_rivals = len(left) > 1
        while todo:
            n_before = len(left)
            for group in _by_version(todo):
                bags: dict[str, Bag] = {}
                with failures.leaving_out(_preprocessing_in_words(group), has_rivals):
                    version, rows = group[0].version.fitted(train)
                    for candidate in group:
                        with failures.leaving_out(_model_in_words(candidate), has_rivals):
                            bags[candidate.model_name] = self._bag(candidate, version, rows, train)
                    if bags:
                        bags_by_version.append(VersionBags(version, [*bags.values()]))
                for candidate in group:
                    if candidate.model_name not in bags:
                        del left[candidate.model_name, candidate.version.name]
            n_failed = n_before - len(left)
            todo, reserves = reserves[:n_failed], reserves[n_failed:]
        if not left:
            raise failures.none_left(NONE_LEFT)
        self.leaderboard_ = [entry for entry in self.leaderboard_ if _names(entry) in left]
        for place, entry in enumerate(self.leaderboard_):
            entry["selected"] = place < n_wanted
        self.winner_ = next(iter(left.values())).model
        return bags_by_version

    def _bag(self, candidate: PoolModel, version: Version, rows: Rows, train: Rows) -> Bag:
        """Fit a bag, and check that its members predict finite values."""
        check_model(candidate.model)
        bag = fit_bag(
            candidate.model,
            rows.X,
            rows.y,
            self.draws_,
            weight=rows.sample_weight,
            n_jobs=self.n_jobs,
            stage="epistemic",
        )
        predicted = VersionBags(version, [bag]).predict_members(spread_rows(train.X))
        if not np.isfinite(predicted).all():
            raise ValueError("a member predicts NaN or infinity.")
        return bag

    def predict_members(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "bags_")
        X = self._check_X(X, reset=False)
        return np.concatenate([bags.predict_members(X) for bags in self.bags_], axis=1)


def _by_version(candidates: list[PoolModel]) -> list[list[PoolModel]]:
    """Group candidates by version, so that only one version of the data is in memory at a time."""
    groups: dict[str, list[PoolModel]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.version.name, []).append(candidate)
    return list(groups.values())


def _predict_once(model: BaseEstimator, rows: Rows, view: Any) -> np.ndarray:
    """Fit the model on the rows; return one finite prediction for every row of the view."""
    fitted = fit_weighted(clone(model), rows.X, rows.y, rows.sample_weight)
    return check_predictions(fitted.predict(view), _num_samples(view), "it")


def _names(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["model"], entry["preprocessing"]


def _model_in_words(candidate: PoolModel) -> str:
    version = candidate.version.name
    return f"The model {candidate.model_name!r}" + (f" on {version!r}" if version else "")


def _preprocessing_in_words(group: list[PoolModel]) -> str:
    return f"The preprocessing {group[0].version.name!r}"


def _scored_entry(candidate: PoolModel, rows: Rows, predicted: np.ndarray) -> dict[str, Any]:
    y, weight = rows.y, rows.sample_weight
    if np.isnan(predicted).any():
        raise ValueError("it predicts NaN on the scale of y.")
    with np.errstate(over="ignore"):
        mse = mean_of((y - predicted) ** 2, weight)
        variance = mean_of((y - mean_of(y, weight)) ** 2, weight)
    r2 = 1 - mse / variance if variance > 0 else None
    return _entry(candidate, rmse=mse**0.5, r2=r2, selected=False)


def _entry(
    candidate: PoolModel,
    rmse: float | None = None,
    r2: float | None = None,
    selected: bool = True,
) -> dict[str, Any]:
    return {
        "model": candidate.model_name,
        "preprocessing": candidate.version.name,
        "rmse": rmse,
        "r2": r2,
        "selected": selected,
    }


def _check_top_k(top_k: Any) -> None:
    if not (isinstance(top_k, float) and 0 < top_k < 1):
        check_count(top_k, "top_k, unless it is a share between 0 and 1,")


def _number_kept(top_k: int | float, n: int) -> int:
    return ceil(top_k * n) if top_k < 1 else int(top_k)


def _prepare(model: BaseEstimator, rng: np.random.RandomState) -> Any:
    model = seed_missing(clone(model), rng)
    return model.set_params(quantiles=(0.5,)) if isinstance(model, QuantileModel) else model


def _parts_by_name(
    parts: Mapping[str, BaseEstimator] | Sequence[BaseEstimator], what: str
) -> dict[str, Any]:
    """Return parts by name; without a dict, names are made from the names of classes."""
    if len(parts) == 0:
        raise ValueError(f"{what} is empty; give at least one, or None for the default.")
    if isinstance(parts, Mapping):
        return dict(parts)
    named: dict[str, Any] = {}
    for part in parts:
        kind = type(part).__name__
        same = sum(name.split(" ")[0] == kind for name in named)
        named[f"{kind} {same + 1}" if same else kind] = part
    return named
