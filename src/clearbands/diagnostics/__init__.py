"""Checks of coverage and widths on rows that no step of the fit has seen.

`y` is (n,), `intervals` is (n, 2) with lower and upper bounds, and X is any table.
`clearbands.diagnose` applies all checks to a model; here is each by itself.
"""

from clearbands.calibration.conformal import beta_parameters
from clearbands.diagnostics.coverage import (
    Cell,
    Range,
    binomial_interval,
    chance_range,
    coverage,
    coverage_by_feature,
    coverage_by_group,
    coverage_by_ratio,
    coverage_by_width,
    coverage_gap,
    coverage_range,
    lambda_edge,
    lowest_coverage,
)
from clearbands.diagnostics.cross_fitted import (
    ExcessRisk,
    Slab,
    TwoSampleTest,
    excess_risk,
    exchangeability,
    worst_slab,
)
from clearbands.diagnostics.dependence import Correlation, Dependence, hsic, width_error_correlation
from clearbands.diagnostics.importance import Importance, feature_importance

__all__ = [
    "Cell",
    "Correlation",
    "Dependence",
    "ExcessRisk",
    "Importance",
    "Range",
    "Slab",
    "TwoSampleTest",
    "beta_parameters",
    "binomial_interval",
    "chance_range",
    "coverage",
    "coverage_by_feature",
    "coverage_by_group",
    "coverage_by_ratio",
    "coverage_by_width",
    "coverage_gap",
    "coverage_range",
    "excess_risk",
    "exchangeability",
    "feature_importance",
    "hsic",
    "lambda_edge",
    "lowest_coverage",
    "width_error_correlation",
    "worst_slab",
]
