"""Pictures of intervals. Every function draws given numbers and returns Axes; none fits a model."""

from clearbands.plots.choices import forecast, lambda_path, model_comparison
from clearbands.plots.intervals import band_along, band_by_rank, ratio_map
from clearbands.plots.scores import calibration_curve, coverage_and_width, importance
from clearbands.plots.style import ALEATORIC, EPISTEMIC, GRID, INK, MUTED, OUTSIDE

__all__ = [
    "ALEATORIC",
    "EPISTEMIC",
    "GRID",
    "INK",
    "MUTED",
    "OUTSIDE",
    "band_along",
    "band_by_rank",
    "calibration_curve",
    "coverage_and_width",
    "forecast",
    "importance",
    "lambda_path",
    "model_comparison",
    "ratio_map",
]
