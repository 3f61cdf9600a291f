"""Pictures of intervals: numbers in, Axes out; nothing is fitted here."""

from clearbands.plots.bands import band_along, band_by_rank
from clearbands.plots.choices import lambda_path, model_comparison
from clearbands.plots.coverage import calibration_curve, coverage_and_width
from clearbands.plots.forecast import forecast
from clearbands.plots.importance import importance
from clearbands.plots.ratios import ratio_map
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
