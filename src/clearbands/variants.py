"""The paper's variants, each a ClearRegressor set up as there."""

from __future__ import annotations

from typing import Any

from clearbands.aleatoric import ResidualQuantiles
from clearbands.epistemic.pcs import PCSEnsemble
from clearbands.pools import boosted_quantiles, mean_pool, quantile_pool
from clearbands.quantile_models.forest import ForestQuantiles
from clearbands.regressor import ClearRegressor

BOOTSTRAPS = 100


def variant_a(*, stock: bool = False, **parameters: Any) -> ClearRegressor:
    """Quantile forest, quantile boosting or expectile GAM, whichever predicts best.

    `stock` takes XGBoost and quantile-forest instead of the kernels of this package; the other
    parameters are those of `ClearRegressor`.
    """
    return _paper(PCSEnsemble(quantile_pool(stock=stock)), None, parameters)


def variant_b(*, stock: bool = False, **parameters: Any) -> ClearRegressor:
    """Quantile boosting only."""
    return _paper(PCSEnsemble({"boosting": boosted_quantiles(stock=stock)}), None, parameters)


def variant_c(*, stock: bool = False, **parameters: Any) -> ClearRegressor:
    """The best of nine models of the mean; the aleatoric part is a quantile forest."""
    forest = ForestQuantiles(backend="quantile-forest" if stock else "native")
    return _paper(PCSEnsemble(mean_pool()), forest, parameters)


def variant_deep(**parameters: Any) -> ClearRegressor:
    """Networks: a deep ensemble around the center, and simultaneous quantiles of the target.

    As the paper says the quantile networks learn y itself: `residuals="target"`. The ensemble is
    as wide as the standard deviation of its members, which is what the paper's numbers show. The
    parameters are those of `ClearRegressor`. Training needs torch.
    """
    from clearbands.epistemic.deep import DeepEnsemble
    from clearbands.simultaneous import SimultaneousQuantiles

    return ClearRegressor(
        **{
            "epistemic": DeepEnsemble(spread="gaussian"),
            "aleatoric": SimultaneousQuantiles(),
            "residuals": "target",
            **parameters,
        }
    )


def _paper(epistemic: PCSEnsemble, model: Any, parameters: dict[str, Any]) -> ClearRegressor:
    return ClearRegressor(
        epistemic=epistemic.set_params(n_bootstraps=BOOTSTRAPS),
        aleatoric=ResidualQuantiles(model, n_bootstraps=BOOTSTRAPS),
        **parameters,
    )
