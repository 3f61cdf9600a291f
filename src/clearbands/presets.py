"""Regressors with other settings than the default: faster, more thorough, or as in the paper."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar, Unpack

from sklearn.base import BaseEstimator

from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.models.monotone import Monotone
from clearbands.models.pools import boosted_quantiles, mean_pool, quantile_pool
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.regressor import EPISTEMIC_SHARES, ClearRegressor
from clearbands.rows.settings import Calibration, Residuals, Split
from clearbands.rows.typed import Seed
from clearbands.selection.model_search import THOROUGH, ModelSearch
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.pcs_ensemble import PCSEnsemble
from clearbands.uncertainty.residual_quantiles import ResidualQuantiles
from clearbands.uncertainty.scaled_residuals import ScaledResiduals

BOOTSTRAPS = 100

Preset = TypeVar("Preset", bound=Callable[..., ClearRegressor])


class Parameters(TypedDict, total=False):
    """The parameters of `ClearRegressor`, for type checkers; its docstring explains them."""

    epistemic: EpistemicPart | None
    aleatoric: AleatoricPart | None
    calibrator: BaseEstimator | None
    confidence_level: float | Sequence[float]
    calibration: Calibration | None
    calibration_size: float
    split: Split
    gap: int
    residuals: Residuals | None
    show_center: bool | None
    search: ModelSearch | None
    time_budget: float | None
    support: tuple[float | None, float | None] | None
    target_transform: BaseEstimator | str | None
    whole_numbers: bool
    monotone: Monotone
    encoder: BaseEstimator | str | None
    n_jobs: int | None
    random_state: Seed
    verbose: int


def _with_parameters(preset: Preset) -> Preset:
    """Add the parameters of `ClearRegressor` to the signature of a preset, for help and editors."""
    own = inspect.signature(preset)
    named = [each for each in own.parameters.values() if each.kind is each.KEYWORD_ONLY]
    model = inspect.signature(ClearRegressor).parameters.values()
    taken = [each.replace(kind=each.KEYWORD_ONLY) for each in model]
    preset.__signature__ = own.replace(parameters=[*named, *taken])  # type: ignore[attr-defined]
    return preset


@_with_parameters
def fast(**parameters: Unpack[Parameters]) -> ClearRegressor:
    """A `ClearRegressor` with few members and without a competition: the quickest to fit.

    The parameters are those of `ClearRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> point, intervals = fast(random_state=0).fit(X[:200], y[:200]).predict_interval(X[200:])
    >>> intervals.shape
    (242, 2, 1)
    """
    defaults: Parameters = {
        "epistemic": FoldedEnsemble(SymmetricTrees(n_trees=200), 5, 2),
        "aleatoric": ScaledResiduals(n_repeats=1),
        "calibrator": ClearCalibrator(**EPISTEMIC_SHARES),
        "show_center": True,
    }
    return _model(defaults, parameters)


@_with_parameters
def thorough(**parameters: Unpack[Parameters]) -> ClearRegressor:
    """A `ClearRegressor` with more members, and networks among the models that compete.

    On seven data sets it took ten times as long as the default, and its quantile loss was 4 %
    lower (docs/defaults.md). The parameters are those of `ClearRegressor`. Training needs torch.

    Examples
    --------
    >>> thorough(confidence_level=0.95).search.networks
    True
    """
    return _model({"search": THOROUGH}, parameters)


@_with_parameters
def variant_a(*, stock: bool = False, **parameters: Unpack[Parameters]) -> ClearRegressor:
    """The paper's variant (a): a quantile forest, quantile boosting and an expectile GAM compete.

    With `stock=True`, XGBoost and quantile-forest replace the kernels of this package. The other
    parameters are those of `ClearRegressor`.

    >>> from clearbands import variant_a
    >>> model = variant_a(confidence_level=0.95, random_state=0)
    >>> sorted(model.epistemic.models)
    ['boosting', 'forest', 'gam']
    """
    return _paper(PCSEnsemble(quantile_pool(stock=stock)), None, parameters)


@_with_parameters
def variant_b(*, stock: bool = False, **parameters: Unpack[Parameters]) -> ClearRegressor:
    """The paper's variant (b): quantile boosting alone.

    >>> from clearbands import variant_b
    >>> list(variant_b().epistemic.models)
    ['boosting']
    """
    return _paper(PCSEnsemble({"boosting": boosted_quantiles(stock=stock)}), None, parameters)


@_with_parameters
def variant_c(*, stock: bool = False, **parameters: Unpack[Parameters]) -> ClearRegressor:
    """The paper's variant (c): nine models of the mean compete; a quantile forest gives the noise.

    >>> from clearbands import variant_c
    >>> len(variant_c().epistemic.models)
    9
    """
    forest = ForestQuantiles(backend="quantile-forest" if stock else "native")
    return _paper(PCSEnsemble(mean_pool()), forest, parameters)


@_with_parameters
def variant_deep(**parameters: Unpack[Parameters]) -> ClearRegressor:
    """The paper's networks: a deep ensemble, and simultaneous quantiles of the target.

    As the paper says, the quantile networks learn y itself: `residuals="target"`. The widths of the
    ensemble come from the standard deviation of its members, because the paper's numbers show that
    theirs did. The parameters are those of `ClearRegressor`. Training needs torch.

    >>> from clearbands import variant_deep
    >>> variant_deep().epistemic.n_members
    5
    """
    from clearbands.uncertainty.deep_ensemble import DeepEnsemble
    from clearbands.uncertainty.simultaneous_quantiles import SimultaneousQuantiles

    defaults: Parameters = {
        "epistemic": DeepEnsemble(spread="gaussian"),
        "aleatoric": SimultaneousQuantiles(),
        "residuals": "target",
        "calibration": "joint",
    }
    return _model(defaults, parameters)


def _paper(epistemic: PCSEnsemble, model: BaseEstimator, parameters: Parameters) -> ClearRegressor:
    defaults: Parameters = {
        "epistemic": epistemic.set_params(n_bootstraps=BOOTSTRAPS),
        "aleatoric": ResidualQuantiles(model, n_bootstraps=BOOTSTRAPS),
        "calibration": "joint",
    }
    return _model(defaults, parameters)


def _model(defaults: Parameters, parameters: Parameters) -> ClearRegressor:
    merged: Parameters = {**defaults, **parameters}
    return ClearRegressor(**merged)


PRESETS: dict[str, Callable[..., ClearRegressor]] = {
    "default": ClearRegressor,
    "fast": fast,
    "thorough": thorough,
    "a": variant_a,
    "b": variant_b,
    "c": variant_c,
    "deep": variant_deep,
}
"""The presets by the names that `clearbands fit --preset` takes."""
