"""The base of all estimators of tables: rows that are checked, and an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.conformal import CalibrationWarning
from clearbands.rows.checks import check_labels, check_share, check_target
from clearbands.rows.frames import check_no_infinity, check_table
from clearbands.rows.levels import check_levels
from clearbands.rows.messages import warn
from clearbands.rows.split import Rows
from clearbands.rows.typed import Table, TableLike
from clearbands.rows.weighting import check_row_weight
from clearbands.tables.categories import CategoryCodes
from clearbands.tables.encoder import TableEncoder, encode


def predictor_attribute(name: str) -> Any:
    """Return a property that reads an attribute of the predictor of a fitted model."""

    def read(model: BaseEstimator) -> Any:
        check_is_fitted(model, "predictor_")
        return attrgetter(name)(model.predictor_)

    return property(read)


class TableEstimator(BaseEstimator):
    """The base; a subclass fits `encoder_`, models on encoded rows, and `calibrator_`."""

    confidence_level: float | Sequence[float]
    calibration_size: float
    encoder: BaseEstimator | str | None
    n_jobs: int | None

    def _check_parameters(self) -> list[float]:
        levels = list(check_levels(self.confidence_level))
        if isinstance(self.encoder, str) and self.encoder != "auto":
            raise ValueError(
                f'encoder must be "auto", a transformer or None, got {self.encoder!r}.'
            )
        check_share(self.calibration_size, "calibration_size")
        return levels

    def _read_rows(
        self,
        X: TableLike,
        y: ArrayLike,
        X_cal: TableLike | None,
        y_cal: ArrayLike | None,
        groups: ArrayLike | None = None,
        labels: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
        sample_weight: ArrayLike | None = None,
    ) -> tuple[Rows, Rows | None]:
        """Check rows to train and the calibration set; without one, some of the rows may calibrate.

        `labels` are the groups and weights of the rows that may calibrate: those of X_cal, if
        given.
        """
        if (X_cal is None) != (y_cal is None):
            raise ValueError("X_cal and y_cal belong together: give both or neither.")
        rows = self._check_rows(X, y, groups, sample_weight=sample_weight, reset=True)
        if X_cal is None:
            return rows.with_labels(*labels).without_weightless(), None
        held_out = self._check_rows(X_cal, y_cal, reset=False)
        return rows.without_weightless(), held_out.with_labels(*labels)

    def _check_rows(
        self,
        X: TableLike,
        y: ArrayLike | None,
        groups: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        reset: bool,
    ) -> Rows:
        X = check_table(self, X, reset=reset)
        check_no_infinity(X)
        y = self._check_y(y, X)
        labels = None if groups is None else check_labels(groups, len(y))
        return Rows(X, y, labels, sample_weight=check_row_weight(sample_weight, len(y)))

    def _check_y(self, y: ArrayLike | None, X: Any) -> np.ndarray:
        """Check the targets (n,), which are numbers."""
        return check_target(y, X)

    def _encode(self, rows: Rows) -> Rows:
        return replace(rows, X=encode(self.encoder_, rows.X))

    def _table(self, X: TableLike) -> Any:
        """Check that X has the columns of `fit`."""
        check_is_fitted(self, "calibrator_")
        return check_table(self, X, reset=False)

    def encode(self, X: TableLike) -> Table:
        """Return X as the parts see it: numbers (n, columns), or X itself with encoder=None."""
        table = self._table(X)
        return encode(self.encoder_, table)

    def card(self, *, name: str = "model.clear", target: str = "") -> str:
        """Return a model card in Markdown, as model hubs show it.

        It says what the model predicts and from which rows, how it fared on rows that its members
        did not see, where it breaks, what is guaranteed and how to load it. `name` is the name of
        the model's file, and `target` the quantity that it predicts, by default as the command
        noted it.

        Examples
        --------
        >>> import numpy as np
        >>> from clearbands import fast
        >>> X = np.linspace(0, 1, 100)[:, None]
        >>> model = fast(random_state=0).fit(X, X[:, 0] + np.resize([-0.1, 0.1], 100))
        >>> print(model.card(target="price").splitlines()[9])
        # Prediction intervals for price
        """
        from clearbands.apps.card import make_card

        check_is_fitted(self, "calibrator_")
        return make_card(self, name=name, target=target)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.encoder is not None
        return tags


def was_fitted_elsewhere(part: BaseEstimator | None, *, has_calibration_set: bool) -> bool:
    """Whether the rows of `fit` calibrate models that may have seen them; if so, warn."""
    if has_calibration_set or not getattr(part, "fitted_elsewhere", False):
        return False
    warn(
        f"The models of {type(part).__name__} were fitted elsewhere. If they saw rows of X, "
        "intervals are too short: give X_cal and y_cal that they did not see.",
        CalibrationWarning,
    )
    return True


def learns_from_target(encoder: BaseEstimator | str | None) -> bool:
    """Whether the encoder, or a step of it, needs y."""
    if encoder is None or isinstance(encoder, str):
        return False
    steps = [encoder, *encoder.get_params(deep=True).values()]
    return any(get_tags(step).target_tags.required for step in steps if hasattr(step, "fit"))


def make_encoder(
    encoder: BaseEstimator | str | None, *, codes: bool = False, dates: str = "parts"
) -> BaseEstimator:
    """Return the encoder, not fitted, that the parameter stands for.

    With `codes`, "auto" leaves it to the models to learn what categories are worth: see
    `CategoryCodes`.
    """
    if encoder is None:
        return FunctionTransformer()  # X as it is
    if not isinstance(encoder, str):
        return clone(encoder)
    return TableEncoder(categorical=CategoryCodes() if codes else None, dates=dates)


def check_encoder_sees_no_target(encoder: BaseEstimator | str | None) -> None:
    """Raise an error if the encoder may not be fitted on rows that are judged later."""
    if learns_from_target(encoder):
        raise ValueError(
            "The encoder learns from y, so it has seen the targets of the rows that calibrate; "
            'choose calibration="joint" or "conformal", or an encoder that takes X alone.'
        )
