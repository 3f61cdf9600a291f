"""What ClearRegressor and the baselines have in common: rows, encoder, parts, intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from clearbands.aleatoric import quantile_counterpart
from clearbands.bagging import seed_missing
from clearbands.bands import make_interval
from clearbands.encoding import TableEncoder
from clearbands.levels import check_levels
from clearbands.split import Rows, hold_out
from clearbands.tables import check_any, check_share, check_target


class Components(NamedTuple):
    """What the calibrator sees of some rows."""

    center: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n, 2, k)
    epistemic: np.ndarray  # (n, 2, k)


class IntervalRegressor(RegressorMixin, BaseEstimator, ABC):
    """Subclasses fit parts on encoded training rows, and a `calibrator_` on held-out rows."""

    confidence_level: float | Sequence[float]
    calibration_size: float
    encoder: Any
    n_jobs: int | None

    @abstractmethod
    def _components(self, X: Any) -> Components:
        """Center and widths of encoded rows."""

    def predict_interval(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the bounds (n, 2, k): lower and upper at each of the k levels."""
        components = self._components(self._check_and_encode(X))
        widths = np.add(*self.calibrator_.scale(components.aleatoric, components.epistemic))
        return components.center, make_interval(components.center, widths)

    def _check_parameters(self) -> list[float]:
        levels = list(check_levels(self.confidence_level))
        if isinstance(self.encoder, str) and self.encoder != "auto":
            raise ValueError(
                f'encoder must be "auto", a transformer or None, got {self.encoder!r}.'
            )
        check_share(self.calibration_size, "calibration_size")
        return levels

    def _hold_out(
        self, X: Any, y: Any, X_cal: Any, y_cal: Any, rng: np.random.RandomState
    ) -> tuple[Rows, Rows]:
        """Training and held-out rows; with a calibration set given, all of X trains."""
        if (X_cal is None) != (y_cal is None):
            raise ValueError("X_cal and y_cal belong together: give both or neither.")
        train = _check_rows(self, X, y, reset=True)
        if X_cal is None:
            return hold_out(train, self.calibration_size, rng)
        return train, _check_rows(self, X_cal, y_cal, reset=False)

    def _make_encoder(self) -> Any:
        if self.encoder is None:
            return _AsItIs()
        return TableEncoder() if isinstance(self.encoder, str) else clone(self.encoder)

    def _encode(self, rows: Rows) -> Rows:
        return Rows(self.encoder_.transform(rows.X), rows.y)

    def _check_and_encode(self, X: Any) -> Any:
        check_is_fitted(self, "calibrator_")
        return self.encoder_.transform(check_any(self, X, reset=False))

    def _part(self, given: Any, default: Any, levels: list[float], rng: Any) -> Any:
        """A clone of the part at our levels; what it leaves open of seed and jobs is ours."""
        part = clone(default if given is None else given).set_params(confidence_level=levels)
        if part.get_params(deep=False).get("n_jobs", 0) is None:
            part.set_params(n_jobs=self.n_jobs)
        return seed_missing(part, rng)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.encoder is not None
        return tags


def match_quantile_model(aleatoric: Any, epistemic: Any) -> Any:
    """Where the aleatoric part leaves its model open, it takes the type that won the center."""
    is_open = aleatoric.get_params(deep=False).get("model", 0) is None
    if is_open and hasattr(epistemic, "winner_"):
        aleatoric.set_params(model=quantile_counterpart(epistemic.winner_))
    return aleatoric


class _AsItIs(BaseEstimator):
    """The encoder that leaves X to the parts."""

    def fit(self, X: Any, y: Any = None) -> _AsItIs:
        return self

    def transform(self, X: Any) -> Any:
        return X


def _check_rows(estimator: Any, X: Any, y: Any, *, reset: bool) -> Rows:
    X = check_any(estimator, X, reset=reset)
    return Rows(X, check_target(y, X))
