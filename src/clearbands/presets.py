"""ClearRegressor set up for the impatient, for the patient, and as in the paper's variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.models.pools import boosted_quantiles, mean_pool, quantile_pool
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.regressor import EPISTEMIC_SHARES, ClearRegressor
from clearbands.selection.model_search import THOROUGH
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.pcs_ensemble import PCSEnsemble
from clearbands.uncertainty.residual_quantiles import ResidualQuantiles
from clearbands.uncertainty.scaled_residuals import ScaledResiduals

BOOTSTRAPS = 100


def fast(**parameters: Any) -> ClearRegressor:
    """Few members and no competition, for those who cannot wait.

    The parameters are those of `ClearRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> point, intervals = fast(random_state=0).fit(X[:200], y[:200]).predict_interval(X[200:])
    >>> intervals.shape
    (242, 2, 1)
    """
    return ClearRegressor(
        **{
            "epistemic": FoldedEnsemble(SymmetricTrees(n_trees=200), 5, 2),
            "aleatoric": ScaledResiduals(n_repeats=1),
            "calibrator": ClearCalibrator(**EPISTEMIC_SHARES),
            "show_center": True,
            **parameters,
        }
    )


def thorough(**parameters: Any) -> ClearRegressor:
    """More members, and networks among those that compete, for those who can wait.

    The parameters are those of `ClearRegressor`. Training needs torch.

    Examples
    --------
    >>> thorough(confidence_level=0.95).contest.networks
    True
    """
    return ClearRegressor(**{"contest": THOROUGH, **parameters})


def variant_a(*, stock: bool = False, **parameters: Any) -> ClearRegressor:
    """Quantile forest, quantile boosting or expectile GAM, whichever predicts best.

    `stock` takes XGBoost and quantile-forest instead of the kernels of this package; the other
    parameters are those of `ClearRegressor`.

    >>> from clearbands import variant_a
    >>> model = variant_a(confidence_level=0.95, random_state=0)
    >>> sorted(model.epistemic.models)
    ['boosting', 'forest', 'gam']
    """
    return _paper(PCSEnsemble(quantile_pool(stock=stock)), None, parameters)


def variant_b(*, stock: bool = False, **parameters: Any) -> ClearRegressor:
    """Quantile boosting only.

    >>> from clearbands import variant_b
    >>> list(variant_b().epistemic.models)
    ['boosting']
    """
    return _paper(PCSEnsemble({"boosting": boosted_quantiles(stock=stock)}), None, parameters)


def variant_c(*, stock: bool = False, **parameters: Any) -> ClearRegressor:
    """The best of nine models of the mean; the aleatoric part is a quantile forest.

    >>> from clearbands import variant_c
    >>> len(variant_c().epistemic.models)
    9
    """
    forest = ForestQuantiles(backend="quantile-forest" if stock else "native")
    return _paper(PCSEnsemble(mean_pool()), forest, parameters)


def variant_deep(**parameters: Any) -> ClearRegressor:
    """Networks: a deep ensemble around the center, and simultaneous quantiles of the target.

    As the paper says the quantile networks learn y itself: `residuals="target"`. The ensemble is
    as wide as the standard deviation of its members, which is what the paper's numbers show. The
    parameters are those of `ClearRegressor`. Training needs torch.

    >>> from clearbands import variant_deep
    >>> variant_deep().epistemic.n_members
    5
    """
    from clearbands.uncertainty.deep_ensemble import DeepEnsemble
    from clearbands.uncertainty.simultaneous_quantiles import SimultaneousQuantiles

    return ClearRegressor(
        **{
            "epistemic": DeepEnsemble(spread="gaussian"),
            "aleatoric": SimultaneousQuantiles(),
            "residuals": "target",
            "calibration": "joint",
            **parameters,
        }
    )


def _paper(
    epistemic: PCSEnsemble, model: BaseEstimator, parameters: dict[str, Any]
) -> ClearRegressor:
    return ClearRegressor(
        **{
            "epistemic": epistemic.set_params(n_bootstraps=BOOTSTRAPS),
            "aleatoric": ResidualQuantiles(model, n_bootstraps=BOOTSTRAPS),
            "calibration": "joint",
            **parameters,
        }
    )


PRESETS: dict[str, Callable[..., ClearRegressor]] = {
    "default": ClearRegressor,
    "fast": fast,
    "thorough": thorough,
    "a": variant_a,
    "b": variant_b,
    "c": variant_c,
    "deep": variant_deep,
}
"""What `clearbands fit --preset` knows."""
