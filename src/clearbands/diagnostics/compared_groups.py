"""The groups that a diagnosed model needs, those that are compared, and the bounds without them."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.conditional import ConditionalCalibrator
from clearbands.rows.frames import is_frame
from clearbands.rows.group_columns import are_columns, read_group_columns
from clearbands.rows.typed import TableLike


def needed_groups(model: Any, by: ArrayLike | None) -> ArrayLike | None:
    """Return the groups that were given if the model needs them to predict, otherwise None."""
    needs = has_groups(model) and model.calibration_group_column_ is None
    if needs and isinstance(model.calibrator_, ConditionalCalibrator) and not are_columns(by):
        raise ValueError(
            "The model was calibrated by columns of groups whose names it does not know: fit it "
            "with a list of names of columns of X, calibration_groups=[...], or give the columns "
            "as by."
        )
    return by if needs else None


def compared_groups(model: Any, X: TableLike, by: ArrayLike | None) -> ArrayLike | None:
    """Return the labels between which coverage is compared: those given, or those of the model."""
    column = model.calibration_group_column_ if has_groups(model) else None
    if by is not None or column is None or not is_frame(X):
        return by
    if not isinstance(column, str):
        chosen = nw.from_native(X, eager_only=True).select(column)
        return read_group_columns(chosen.to_native(), len(chosen))
    return nw.from_native(X, eager_only=True).get_column(column).to_list()


def has_groups(model: Any) -> bool:
    """Whether the model was calibrated by group."""
    return bool(getattr(model, "has_calibration_groups_", False))


def pooled_bounds(model: Any, X: TableLike, level: float) -> np.ndarray | None:
    """Return the bounds (n, 2) as if all groups were calibrated together; None without groups."""
    if not has_groups(model):
        return None
    return (
        model.without_calibration_groups().predict_uncertainty(X, confidence_level=level).interval
    )
